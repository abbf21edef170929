"""Copies are found by content, whatever the files are called, and nothing else is."""

from pathlib import Path

import numpy as np
from hypothesis import given
from hypothesis import strategies as st

from softhash.data.duplicates import TAIL, count_on_disk, identical_copies
from softhash.data.image_set import ImageSet


def put(root: Path, contents: list[bytes | None]) -> ImageSet:
    names = tuple(f"{i}.jpg" for i in range(len(contents)))
    for name, content in zip(names, contents, strict=True):
        if content is not None:
            (root / name).write_bytes(content)
    return ImageSet(root, names, np.ones((len(names), 1)), ("sky",))


def test_identical_copies_compares_whole_files(tmp_path):
    end = b"e" * TAIL
    images = put(
        tmp_path, [b"a" + end, b"b" + end, b"x", b"b" + end, b"y", b"", b"", None, b"x", b"b" + end]
    )
    (tmp_path / "1.jpg").chmod(0o600)
    assert identical_copies(images) == [[1, 3, 9], [2, 8]]
    assert count_on_disk(images) == 7


def test_identical_copies_leaves_out_what_cannot_be_read(tmp_path, monkeypatch):
    images = put(tmp_path, [b"same", b"same", b"same"])
    path_open = Path.open

    def refuse(path: Path, *arguments: object) -> object:
        if path.name == "1.jpg":
            raise PermissionError(13, "Permission denied")
        return path_open(path, *arguments)

    monkeypatch.setattr(Path, "open", refuse)
    assert identical_copies(images) == [[0, 2]]


@given(st.lists(st.sampled_from([None, b"", b"a", b"b", b"aa", b"ab" * TAIL, b"bb" * TAIL])))
def test_identical_copies_finds_what_comparing_all_pairs_finds(tmp_path_factory, contents):
    images = put(tmp_path_factory.mktemp("copies"), contents)
    groups = [[i for i, other in enumerate(contents) if other == one] for one in contents if one]
    expected = sorted({tuple(group) for group in groups if len(group) > 1})
    assert [tuple(group) for group in identical_copies(images)] == expected
