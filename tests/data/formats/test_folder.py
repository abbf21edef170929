"""Plain folders of pictures."""

import os

import layouts
import pytest

from softhash.data.image_set import ImageSet
from softhash.errors import InputError


def test_folder_reads_visible_pictures_in_the_order_of_their_names(tmp_path):
    images = ImageSet.read(layouts.folder(tmp_path))
    assert images.file_names == ("a/y.png", "a/z.jpeg", "b.JPG")
    assert images.labels.shape == (3, 0)
    assert images.without_labels.all()


def test_folder_leaves_out_links_out_of_it_and_odd_names(tmp_path):
    root = layouts.folder(tmp_path / "set")
    layouts.jpeg(tmp_path / "out.jpg")
    (root / "link.jpg").symlink_to(tmp_path / "out.jpg")
    (root / "loop").symlink_to(root)
    (root / "broken.jpg").symlink_to(root / "none")
    layouts.jpeg(root / "back\\slash.jpg")
    (root / os.fsdecode(b"\xff.jpg")).touch()
    images = ImageSet.read(root)
    assert len(images) == 3
    assert len(images.notes) == 1
    assert images.notes[0].startswith("3 files left out")


def test_folder_without_pictures_is_an_error(tmp_path):
    layouts.put(tmp_path / "a.txt", "text")
    with pytest.raises(InputError, match="has no pictures in it"):
        ImageSet.read(tmp_path, format="folder")


def test_folder_passes_over_links_in_a_circle(tmp_path):
    root = layouts.folder(tmp_path)
    (root / "loop.jpg").symlink_to(root / "loop.jpg")
    assert len(ImageSet.read(root)) == 3


def test_folder_counts_what_it_does_not_read_by_kind(tmp_path):
    root = layouts.folder(tmp_path)
    for name in ("a/1.MOV", "a/2.mp4", "3.CR2", "4.psd", "notes.txt", "b.JPG.xmp"):
        layouts.put(root / name, "x")
    assert ImageSet.read(root).skipped == {"video": 2, "raw": 1, "other": 1}
