"""Readers of tar archives and tables of pictures, and of files of codes."""

import json
from importlib.util import find_spec
from pathlib import Path

import numpy as np

from .reader import Reader, load_module
from .samples import encoded, picture


def _make_tar(folder: Path) -> None:
    import tarfile

    pictures = [(f"{'a' * 60}/{i}.png", encoded(picture(i), "PNG")) for i in range(3)]
    for name, kind in (("a", tarfile.PAX_FORMAT), ("b", tarfile.GNU_FORMAT)):
        members = [*pictures, ("b" * 120 + ".json", b"{}"), ("ß" * 70 + ".jpg", b"x")]
        load_module("data/shard_files.py").write_tar(folder / f"{name}.tar", members, kind)


def _make_tables(folder: Path) -> None:
    import pyarrow as pa
    from pyarrow import parquet

    (folder / "0.png").write_bytes(encoded(picture(0), "PNG"))
    images = [{"bytes": encoded(picture(i), "PNG"), "path": f"{i}.png"} for i in range(3)]
    rows = pa.table({"image": [*images, None, {"bytes": None, "path": "0.png"}], "id": [*"abcde"]})
    parquet.write_table(rows, folder / "a.parquet")
    parquet.write_table(pa.table({"path": ["0.png", "../1.png"]}), folder / "b.parquet")
    for name, make in (("a", pa.ipc.new_file), ("b", pa.ipc.new_stream)):
        with make(str(folder / f"{name}.arrow"), rows.schema) as writer:
            writer.write_table(rows, max_chunksize=2)


def _make_saved(folder: Path) -> None:
    state = {"_data_files": [{"filename": "a.arrow"}], "_indices_data_files": None}
    (folder / "train").mkdir()
    (folder / "train" / "state.json").write_text(json.dumps(state))
    (folder / "dataset_dict.json").write_text('{"splits": ["train"]}')
    (folder / "train" / "a.arrow").write_bytes(b"")


def _make_codes(folder: Path) -> None:
    from softhash.data.shards.code_file import About, write_codes

    codes = np.arange(40, dtype=np.uint8).reshape(20, 2)
    with write_codes(folder / "a.parquet", 16) as writer:
        writer.add([f"photo {i}" for i in range(20)], codes, ["a.jpg"] * 20)
        writer.finish(About(16, "a" * 64, "softhash", "a.tar", 512, {"damaged": 2}))


def _read_shards(folder: Path) -> None:
    from softhash.data.shards.stream import ShardPictures
    from softhash.errors import ShardError

    failed = []
    for path in sorted(folder.iterdir()):
        if path.suffix in (".tar", ".parquet", ".arrow"):
            pictures = ShardPictures(path)
            try:
                for batch in pictures.batches(8, 2, workers=0):
                    ids, _ = pictures.take_names(batch.positions)
                    assert all(ids)
            except ShardError as error:
                failed.append(error)
    if failed:
        raise failed[0]


def _read_saved(folder: Path) -> None:
    from softhash.data.shards.names import find_shards

    for shard in find_shards([str(folder)]):
        assert shard.path.resolve().is_relative_to(folder.resolve())


def _read_codes(folder: Path) -> None:
    from softhash.data.shards.code_file import read_about, read_codes

    about = read_about(folder / "a.parquet")
    assert sum(len(ids) for ids, _ in read_codes(folder / "a.parquet", about)) <= 20


READERS = [
    Reader("tar shards", _make_tar, {"*.tar": "bytes"}, _read_shards),
    Reader("saved datasets", _make_saved, {"**/*.json": "json"}, _read_saved),
]
if find_spec("pyarrow"):
    READERS += [
        Reader("tables", _make_tables, {"*.parquet": "bytes", "*.arrow": "bytes"}, _read_shards),
        Reader("files of codes", _make_codes, {"*.parquet": "bytes"}, _read_codes),
    ]
