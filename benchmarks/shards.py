"""Shards beside the same pictures in a folder, and files of codes beside an array of codes.

Pictures are drawn photos of 500 pixels, or the first of `SOFTHASH_BENCH_PICTURES`, a folder of
JPEGs; the model is the one that comes along, on the processor. `SOFTHASH_BENCH_ITEMS` codes
(1,000,000) of random bits become an index.
"""

import os
import tarfile
import tempfile
from functools import partial
from pathlib import Path

import numpy as np

from benchmarks._timing import Row, best_times, row
from benchmarks.decode import draw
from softhash.cli._code_files import index_code_files
from softhash.cli._codes import index_codes
from softhash.data.image_set import ImageSet
from softhash.data.shards.code_file import About, write_codes
from softhash.data.shards.names import Shard
from softhash.data.shards.stream import ShardPictures
from softhash.model.default_model import default_model
from softhash.model.hasher import Hasher
from softhash.model.shard_encoding import describe_codes_of, encode_shard

PICTURES = 2000
ITEMS = int(os.environ.get("SOFTHASH_BENCH_ITEMS", "1_000_000"))
BITS, FILES = 256, 100


def rows() -> list[Row]:
    """Measure and return the lines of the table."""
    with tempfile.TemporaryDirectory() as name:
        return [*_encoding(Path(name)), *_indexing(Path(name))]


def _encoding(folder: Path) -> list[Row]:
    images, shard = _pictures(folder), Shard(folder / "a.tar", "a")
    with tarfile.open(shard.path, "w") as archive:
        for name in images.file_names:
            archive.add(images.root / name, name)
    hasher = Hasher.load(default_model(print))
    about = describe_codes_of(hasher, "cpu")
    whole = {
        "folder": partial(hasher.encode_readable, images, device="cpu"),
        "tar": partial(encode_shard, hasher, shard, folder, about, device="cpu"),
    }
    times = best_times(whole, rounds=3)
    decoding = {
        "folder": partial(_decode_folder, images, hasher.size or 224),
        "tar": partial(_decode_tar, shard, hasher.size or 224),
    }
    decoded = best_times(decoding, rounds=5)
    n = len(images) / 1000
    return [
        row("shards", "encode, tar / folder", times["folder"] / n, times["tar"] / n, "ms", 0.95),
        row("shards", "decode alone", decoded["folder"] / n, decoded["tar"] / n, "ms", 0.95),
    ]


def _pictures(folder: Path) -> ImageSet:
    given = os.environ.get("SOFTHASH_BENCH_PICTURES")
    if not given:
        return draw(folder, 500, 375, PICTURES)
    names = tuple(sorted(path.name for path in Path(given).glob("*.jpg"))[:PICTURES])
    return ImageSet(Path(given), names, np.zeros((len(names), 0), np.uint8), ())


def _decode_folder(images: ImageSet, size: int) -> None:
    from softhash.data.loading import load

    for _ in load(images, size, batch_size=8):
        pass


def _decode_tar(shard: Shard, size: int) -> None:
    pictures = ShardPictures(shard.path)
    for batch in pictures.batches(size, 8):
        pictures.take_names(batch.positions)


def _indexing(folder: Path) -> list[Row]:
    """Make an index of codes in an array, and of the same codes in files, in turn."""
    codes = np.random.default_rng(0).integers(0, 256, (ITEMS, BITS // 8), dtype=np.uint8)
    names = [f"photos/{i:09d}.jpg" for i in range(ITEMS)]
    np.save(folder / "codes.npy", codes)
    (folder / "names.txt").write_text("".join(f"{name}\n" for name in names))
    each = -(-ITEMS // FILES)
    paths = [folder / f"codes-{i:03}.parquet" for i in range(FILES)]
    for path, start in zip(paths, range(0, ITEMS, each), strict=True):
        part = slice(start, start + each)
        with write_codes(path, BITS) as writer:
            writer.add(names[part], codes[part], [""] * len(names[part]))
            writer.finish(About(BITS, "a" * 64))
    places = iter(range(100))

    def of_array() -> None:
        location = str(folder / f"{next(places)}.index")
        given = folder / "codes.npy", folder / "names.txt", BITS
        index_codes(location, *given, None, None, engine="auto", as_json=False)

    def of_files() -> None:
        location = str(folder / f"{next(places)}.index")
        options = {"bits": None, "with_shard": False, "engine": "auto", "as_json": False}
        index_code_files(location, paths, None, None, **options)

    times = best_times({"array": of_array, "files": of_files}, rounds=2)
    each = 1e6 / ITEMS
    case = f"index of {ITEMS:,} codes, 256 bits"
    return [row("shards", case, times["array"] * each, times["files"] * each, "µs", None)]


if __name__ == "__main__":
    from benchmarks.__main__ import show

    show(rows())
