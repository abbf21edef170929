import numpy as np
from PIL import Image

from softhash.data.image_set import ImageSet
from softhash.data.inspection import inspect


def test_inspect_counts_labels_and_finds_copies_and_broken_files(tmp_path):
    for i in range(4):
        Image.new("RGB", (20, 10), (i * 60, 0, 0)).save(tmp_path / f"{i}.png")
    (tmp_path / "3.png").write_bytes((tmp_path / "0.png").read_bytes())
    (tmp_path / "1.png").write_bytes(b"")
    labels = np.array([[1, 1], [0, 1], [0, 0], [1, 1]], np.uint8)
    names = tuple(f"{i}.png" for i in range(4))
    calls = []
    found = inspect(
        ImageSet(tmp_path, names, labels, ("a", "b")),
        progress=lambda done, total: calls.append((done, total)),
    )
    assert found.labels_per_image.tolist() == [1, 1, 2]
    assert found.images_per_class == {"a": 2, "b": 3}
    assert found.copies == ((0, 3),)
    assert [(one.file_name, "empty" in one.reason) for one in found.broken] == [("1.png", True)]
    assert found.unlabelled == ["2.png"]
    assert calls[-1] == (4, 4)


def test_inspect_of_a_folder_without_labels_has_no_classes(tmp_path):
    Image.new("RGB", (5, 5)).save(tmp_path / "a.png")
    found = inspect(ImageSet.read(tmp_path)).as_dict()
    assert (found["format"], found["classes"], found["labels_per_image"]) == ("folder", 0, [1])
