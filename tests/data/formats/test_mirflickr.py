"""MIRFlickr-25k."""

import layouts
import pytest

from softhash.data.image_set import ImageSet
from softhash.errors import InputError, UsageError


@pytest.mark.parametrize("concepts", [38, 24])
def test_mirflickr_reads_all_pictures_in_the_order_of_their_numbers(tmp_path, concepts):
    images = ImageSet.read(layouts.mir(tmp_path), concepts=concepts)
    assert images.file_names == ("im1.jpg", "im2.jpg", "im10.jpg")
    assert len(images.classes) == concepts
    found = [{images.classes[i] for i in row.nonzero()[0]} for row in images.labels]
    assert found[1:] == [set(), {"sky"}]
    assert found[0] - {"tree_r1"} == {"sky", "tree"}
    assert ("tree_r1" in found[0]) == (concepts == 38)


def test_mirflickr_finds_pictures_and_annotations_in_their_original_folders(tmp_path):
    layouts.mir(tmp_path)
    (tmp_path / "annotations").rename(tmp_path / "mirflickr25k_annotations_v080")
    (tmp_path / "mirflickr").mkdir()
    for path in tmp_path.glob("*.jpg"):
        path.rename(tmp_path / "mirflickr" / path.name)
    assert ImageSet.read(tmp_path).file_names[0] == "mirflickr/im1.jpg"


def test_mirflickr_names_missing_pictures(tmp_path):
    layouts.put(layouts.mir(tmp_path) / "annotations/dog.txt", "2\n25000\n")
    assert ImageSet.read(tmp_path).missing == ("im25000.jpg",)


@pytest.mark.parametrize("line", ["sky", "-1", "1.5", "1 2"])
def test_mirflickr_refuses_lines_that_are_no_number(tmp_path, line):
    layouts.put(layouts.mir(tmp_path) / "annotations/dog.txt", f"2\n{line}\n")
    with pytest.raises(InputError, match=r"dog\.txt line 2 is .*should be a picture's number"):
        ImageSet.read(tmp_path)


def test_mirflickr_names_what_it_lacks(tmp_path):
    layouts.mir(tmp_path)
    (tmp_path / "annotations/dog.txt").unlink()
    with pytest.raises(InputError, match=r"lacks 1 files: dog\.txt"):
        ImageSet.read(tmp_path)
    for path in tmp_path.glob("*.jpg"):
        path.unlink()
    layouts.put(tmp_path / "annotations/dog.txt", "")
    with pytest.raises(InputError, match=r"no im1\.jpg"):
        ImageSet.read(tmp_path)
    with pytest.raises(UsageError, match="unknown concepts '25'"):
        ImageSet.read(tmp_path, concepts=25)
