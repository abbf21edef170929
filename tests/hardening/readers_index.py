"""Readers of indexes."""

from contextlib import suppress
from pathlib import Path

import numpy as np

from softhash.errors import NoFeaturesError

from .reader import Reader
from .samples import write_crashed_index, write_index, write_model, write_pictures


def _make(folder: Path) -> Path:
    import shutil

    from softhash.index import HammingIndex
    from softhash.index.features import fill_features, keep_features

    pictures, model = write_pictures(folder / "pictures"), write_model(folder / "model")
    with HammingIndex.open(write_index(folder / "index", model, pictures), writable=True) as index:
        keep_features(index)
        assert fill_features(index, workers=1)
    shutil.rmtree(folder / "model")
    shutil.rmtree(pictures)
    return folder / "index"


def _make_crashed(folder: Path) -> None:
    import shutil

    index = _make(folder)
    write_crashed_index(folder / "crashed", index)
    shutil.rmtree(index)
    (folder / "crashed").rename(index)


def _read(folder: Path) -> None:
    from softhash.index import HammingIndex

    with HammingIndex.open(folder / "index") as index:
        _ask(index)
    with HammingIndex.open(folder / "index", writable=True) as index:
        _ask(index)
        index.add_codes(np.zeros((1, 3), np.uint8), [_entry("new.png")])
        index.remove(1)


def _ask(index: object) -> None:
    index.search(id=2, k=50)
    with suppress(NoFeaturesError):  # a spoiled record is none
        index.search(id=2, k=50, rescore="features")
    index.search(code=b"\x01\x02\x30"[: (index.bits + 7) // 8], labels=["sea"], k=50)
    index.search(words="sea", k=50)
    index.search(id=2, more=["sky"], less=["sea"], k=50, given_only=True)
    index.search(after="2001", camera="nikon", folder="pictures", where="sea | sky")
    index.store.likely_counts(0.1)
    index.store.items(limit=100)
    list(index.store.scan())
    index.store.labels()
    index.store.find_content("0" * 64)
    index.store.verify()
    repr(index), index.root


def _entry(name: str) -> object:
    from softhash.index.items import Entry

    return Entry(name, ("new", "sea"))


READERS = [
    Reader("index.json", _make, {"index/index.json": "json"}, _read, keeps=False),
    Reader("index items", _make, {"index/items.sqlite": "sqlite"}, _read, keeps=False, weight=2),
    Reader(
        "index arrays", _make, {"index/*.bin": "bytes", "index/confirmed": "text"}, _read,
        keeps=False,
    ),
    Reader("index log", _make_crashed, {"index/items.sqlite-wal": "bytes"}, _read, keeps=False),
]  # fmt: skip
