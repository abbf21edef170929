"""Readers of collections, annotations, arrays and pictures."""

import json
import struct
import zlib
from collections.abc import Callable
from contextlib import suppress
from pathlib import Path

import numpy as np
from PIL import Image

from softhash.errors import InputError, UsageError

from .reader import Reader, load_module
from .samples import encoded, picture, write_pictures

LAYOUTS = {  # what is spoiled of each: all of it where a layout has few files
    "table": {"*.csv": "csv"},
    "jsonl": {"*.jsonl": "jsonl"},
    "voc": {"**/Annotations/*.xml": "text", "**/Main/train*.txt": "text"},
    "coco": {"annotations/*.json": "json"},
    "mir": {"annotations/sky.txt": "text", "annotations/tree*.txt": "text"},
    "nus": {"ImageList/*.txt": "text", "Groundtruth/**/Labels_sky.txt": "text"},
    "iapr": {"*.mat": "bytes", "*.txt": "text"},
    "saiapr": {"**/*.txt": "text"},
    "lists": {"*.txt": "text"},
    "labelstudio": {"*.json": "json"},
}


def _layouts() -> list[Reader]:
    module = load_module("data/formats/layouts.py")
    module.mat = _mat
    names = {"mir": "mirflickr", "nus": "nuswide", "iapr": "iaprtc12", "jsonl": "table"}
    return [
        Reader(f"format {name}", getattr(module, name), files, _reads(names.get(name, name)))
        for name, files in LAYOUTS.items()
    ]


def _reads(format: str) -> Callable[[Path], object]:
    def read(folder: Path) -> None:
        from softhash.data.formats import detect
        from softhash.data.image_set import ImageSet

        detect(folder)
        images = ImageSet.read(folder, format)
        for position in range(len(images)):
            images.label_names(position)
        repr(images)
        with suppress(UsageError):  # there are too few pictures for most protocols
            images.split("given" if images.partition else "random")

    return read


def _mat(matrix: np.ndarray) -> bytes:
    """Write a cell of two matrices as MATLAB 5 does, compressed."""

    def element(kind: int, data: bytes) -> bytes:
        return struct.pack("<II", kind, len(data)) + data + bytes(-len(data) % 8)

    def array(kind: int, shape: tuple[int, int], name: bytes, content: bytes) -> bytes:
        head = element(6, struct.pack("<II", kind, 0)) + element(5, struct.pack("<ii", *shape))
        return element(14, head + element(1, name) + content)

    values = element(9, np.asarray(matrix, "<f8").tobytes("F"))
    inner = array(6, matrix.shape, b"", values)
    cell = zlib.compress(array(1, (1, 2), b"I_z", inner + inner))
    return b"MATLAB 5.0".ljust(124) + b"\x00\x01IM" + struct.pack("<II", 15, len(cell)) + cell


def _pictures() -> list[Reader]:
    drawn = picture(1)
    exif = Image.Exif()
    exif[0x0112], exif[0x010E] = 6, "a picture"
    grey16 = Image.fromarray(np.arange(256, dtype=np.uint16).reshape(16, 16) * 200)
    files = {
        "jpeg": encoded(drawn, "JPEG", exif=exif),
        "progressive": encoded(drawn, "JPEG", progressive=True, quality=60),
        "cmyk": encoded(drawn.convert("CMYK"), "JPEG"),
        "png": encoded(drawn, "PNG", exif=exif),
        "png palette": encoded(drawn.quantize(9), "PNG", transparency=1),
        "png 16": encoded(grey16, "PNG"),
        "gif": encoded(drawn, "GIF", save_all=True, append_images=[picture(2)]),
        "webp": encoded(drawn, "WEBP", quality=50, exif=exif),
        "bmp": encoded(drawn, "BMP"),
        "tiff": encoded(drawn, "TIFF", compression="tiff_lzw", exif=exif),
        "tiff float": encoded(grey16.convert("F"), "TIFF"),
        "avif": encoded(drawn, "AVIF", speed=10, exif=exif.tobytes()),
    }
    return [
        Reader(f"picture {name}", _puts("picture", data), {"picture": "bytes"}, _read_picture)
        for name, data in files.items()
    ]


def _puts(name: str, data: bytes) -> Callable[[Path], object]:
    return lambda folder: (folder / name).write_bytes(data)


def _read_picture(folder: Path) -> None:
    from softhash.data.decoding import open_image

    path = folder / "picture"
    assert open_image(path, size=16).size == (16, 16)
    assert open_image(path.read_bytes(), max_pixels=1 << 20).mode == "RGB"


def _make_tagged(folder: Path) -> None:
    module = load_module("data/photographs.py")
    xmp, iptc = module.xmp(subject=["sea"], TagsList=["a/b"]), module.iptc("sky", "Küste")
    place = {"latitude": ((48.0, 51.0, 30.0), "N"), "longitude": ((2.0, 17.0, 40.0), "W")}
    exif = module.exif(taken="2024:05:17 14:03:22", make="Canon", model="EOS", **place)
    (folder / "a.jpg").write_bytes(module.photograph(xmp=xmp, iptc=iptc, exif=exif))
    (folder / "b.tif").write_bytes(module.photograph("TIFF", xmp=xmp, iptc=iptc))
    (folder / "c.webp").write_bytes(module.photograph("WEBP", xmp=xmp, exif=exif))
    (folder / "d.png").write_bytes(module.photograph("PNG"))
    (folder / "d.xmp").write_bytes(xmp)


def _read_tagged(folder: Path) -> None:
    from softhash.data.image_set import ImageSet
    from softhash.data.photo_facts import read_facts

    images = ImageSet.read(folder, "folder", labels_from=("tags", "folders"))
    for position in range(len(images)):
        assert len(read_facts(images.path(position)).camera) <= 80


def _make_arrays(folder: Path) -> None:
    draw = np.random.default_rng(0)
    np.save(folder / "codes.npy", draw.integers(0, 256, (9, 2), dtype=np.uint8))
    np.save(folder / "signs.npy", draw.choice([-1.0, 1.0], (9, 16)))
    np.save(folder / "labels.npy", draw.integers(0, 2, (9, 5)))
    np.save(folder / "features.npy", draw.normal(0, 1, (9, 5)).astype(np.float32))
    np.savez(folder / "several.npz", a=np.zeros((2, 2)))


def _read_arrays(folder: Path) -> None:
    from softhash.cli._evaluations import measure_codes
    from softhash.data.arrays import read_features

    labels = folder / "labels.npy"
    files = folder / "codes.npy", folder / "signs.npy", labels, labels
    reports = measure_codes(files, (8, 16), "auto", "cpu", {"at": (5,)})
    assert all(0 <= report.metrics["map@5"] <= 1 for report in reports.values())
    read_features(folder / "features.npy")


def _read_archive(folder: Path) -> None:
    from softhash.data.arrays import read_array

    with suppress(InputError):  # an archive is refused, whole or spoiled
        read_array(folder / "several.npz")


def _make_names(folder: Path) -> None:
    (folder / "names.txt").write_text("a.jpg\nb/c d.jpg\né.png\n")
    rows = [{"file_name": "a.jpg", "labels": ["sea"]}, {"file_name": "b.jpg"}]
    (folder / "names.jsonl").write_text("".join(json.dumps(row) + "\n" for row in rows))


def _read_names(folder: Path) -> None:
    from softhash.cli._codes import read_entries

    for name in ("names.txt", "names.jsonl"):
        read_entries(folder / name)


def _images(folder: Path) -> "object":
    from softhash.data.image_set import ImageSet

    names = tuple(f"{i:03}.png" for i in range(8))
    labels = np.eye(8, 4, dtype=np.uint8) + np.eye(8, 4, -4, dtype=np.uint8)
    return ImageSet(folder / "pictures", names, labels, ("a", "b", "c", "d"))


def _make_split(folder: Path) -> None:
    _images(folder).split("random", seed=1, query=2, train=3).save(folder / "split.json")


def _read_split(folder: Path) -> None:
    train, query, database = _images(folder).split(str(folder / "split.json"))
    assert len(query) + len(database) <= 8 and len(train) <= 8  # noqa: PT018


def _make_cache(folder: Path) -> None:
    write_pictures(folder / "pictures", range(8))
    _read_cache(folder)


def _read_cache(folder: Path) -> None:
    from softhash.data.row_cache import Computed, RowCache, fill

    images = _images(folder)

    def compute(order: list[int]) -> object:
        rows = np.repeat(np.asarray(order, np.float32)[:, None], 3, axis=1)
        yield Computed(np.asarray(order, np.int64), rows, ())

    with RowCache(folder / "cache", images.root, "numbers", (3,), np.float32) as store:
        where, broken = fill(store, images, compute)
        rows = store.array()[where]
    assert rows.shape == (8, 3)
    assert not broken


READERS = [
    *_layouts(),
    *_pictures(),
    Reader("tags and facts", _make_tagged, {"*.*": "bytes", "*.xmp": "text"}, _read_tagged),
    Reader("arrays", _make_arrays, dict.fromkeys(("*.npy",), "npy"), _read_arrays, weight=2),
    Reader("npz", _make_arrays, {"several.npz": "zip"}, _read_archive),
    Reader("names", _make_names, {"*.txt": "text", "*.jsonl": "jsonl"}, _read_names),
    Reader("split", _make_split, {"split.json": "json"}, _read_split),
    Reader(
        "row cache", _make_cache, {"cache/*.npy": "npy", "cache/*.sqlite": "sqlite"}, _read_cache,
        keeps=False,
    ),
]  # fmt: skip
