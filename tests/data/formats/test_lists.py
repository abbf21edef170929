"""Lists of paths and zeros and ones."""

import layouts
import pytest

from softhash.data.image_set import ImageSet
from softhash.errors import InputError


def test_lists_reads_the_parts_and_merges_what_is_in_several(tmp_path):
    images = ImageSet.read(layouts.lists(tmp_path))
    assert images.file_names == tuple(f"images/{i}.jpg" for i in range(4))
    assert images.labels.tolist() == [[1, 0, 1], [0, 1, 0], [0, 0, 1], [0, 0, 0]]
    assert images.classes == ("0", "1", "2")
    assert images.notes == ()
    assert {name: part.tolist() for name, part in images.partition.items()} == {
        "train": [0, 1],
        "test": [2],
        "database": [0, 3],
    }


def test_lists_takes_class_names_and_paths_with_spaces(tmp_path):
    layouts.put(layouts.lists(tmp_path) / "classes.txt", "sky\nsea\nsun\n")
    layouts.jpeg(tmp_path / "my 1 0 photo 1.jpg")
    layouts.put(tmp_path / "test.txt", "my 1 0 photo 1.jpg\t0  0 1\n")
    images = ImageSet.read(tmp_path)
    assert images.classes == ("sky", "sea", "sun")
    assert images.file_names[2] == "my 1 0 photo 1.jpg"


def test_lists_may_be_one_file(tmp_path):
    images = ImageSet.read(layouts.lists(tmp_path) / "database.txt")
    assert list(images.partition) == ["database"]
    assert len(images) == 2


def test_lists_in_which_rows_differ_are_merged_and_said(tmp_path):
    layouts.put(layouts.lists(tmp_path) / "database.txt", "images/0.jpg 0 1 0\n")
    images = ImageSet.read(tmp_path)
    assert images.labels[0].tolist() == [1, 1, 1]
    assert images.notes == ("1 files have rows that differ; labels merged: images/0.jpg",)


@pytest.mark.parametrize(
    "line", ["images/0.jpg 1 0", "images/0.jpg 1 0 2", "1 0 1", "images/0.jpg"]
)
def test_lists_refuses_other_lines(tmp_path, line):
    layouts.put(layouts.lists(tmp_path) / "test.txt", f"images/2.jpg 0 0 1\n{line}\n")
    with pytest.raises(InputError, match=r"test\.txt line 2 should be a path and 3 zeros and ones"):
        ImageSet.read(tmp_path)


def test_lists_must_agree_on_the_number_of_columns(tmp_path):
    layouts.put(layouts.lists(tmp_path) / "test.txt", "images/2.jpg 0 0 1 1\n")
    with pytest.raises(InputError, match="line 1 should be a path and 3"):
        ImageSet.read(tmp_path)
    layouts.put(tmp_path / "test.txt", "\n")
    with pytest.raises(InputError, match="has no lines"):
        ImageSet.read(tmp_path)
