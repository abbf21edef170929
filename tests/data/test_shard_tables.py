"""Parquet and Arrow tables of pictures, and files of codes."""

import json

import numpy as np
import pytest
from shard_files import picture_bytes

from softhash.data.shards import table
from softhash.data.shards.code_file import About, read_about, read_codes, write_codes
from softhash.data.shards.names import Shard, find_shards, is_shard
from softhash.data.shards.records import Picture, Unusable, read_shard
from softhash.errors import InputError, ShardError

pa = pytest.importorskip("pyarrow")
parquet = pytest.importorskip("pyarrow.parquet")

STRUCTS = [{"bytes": b"one", "path": "1.jpg"}, {"bytes": b"two", "path": "1.jpg"}]


def write_parquet(file, **columns):
    parquet.write_table(pa.table(columns), file)
    return file


def write_arrow(path, *, stream, **columns):
    rows = pa.table(columns)
    make = pa.ipc.new_stream if stream else pa.ipc.new_file
    with make(str(path), rows.schema) as writer:
        writer.write_table(rows, max_chunksize=1)
    return path


def test_a_column_of_structs_is_read_from_parquet_and_both_kinds_of_arrow(tmp_path):
    paths = [
        write_parquet(tmp_path / "a.parquet", image=STRUCTS, label=[0, 1]),
        write_arrow(tmp_path / "a.arrow", stream=True, image=STRUCTS, label=[0, 1]),
        write_arrow(tmp_path / "A.arrow", stream=False, image=STRUCTS, label=[0, 1]),
    ]
    for path in paths:
        stem = path.stem
        assert list(read_shard(path)) == [
            Picture(f"{stem}/0", "1.jpg", b"one"),
            Picture(f"{stem}/1", "1.jpg", b"two"),
        ]


def test_a_column_of_bytes_takes_ids_from_beside_it(tmp_path):
    path = write_parquet(tmp_path / "a.parquet", jpg=[b"a", None, b"c"], key=[7, 8, 7])
    first, missing, again = read_shard(path)
    assert first == Picture("7", "", b"a")
    assert (missing.member, missing.reason) == ("row 1", f"{path}: row 1 has no picture")
    assert again.kind == "duplicate"


def test_paths_are_read_from_the_folder_of_the_table_and_no_other(tmp_path):
    folder = tmp_path / "inside"
    folder.mkdir()
    (tmp_path / "secret.png").write_bytes(picture_bytes(0))
    (folder / "link.png").symlink_to(tmp_path / "secret.png")
    names = ["a/1.png", "../secret.png", "link.png", str(tmp_path / "secret.png"), None]
    path = write_parquet(folder / "a.parquet", path=pa.array(names, pa.string()))
    good, *others = read_shard(path)
    assert good == Picture("a/1.png", "a/1.png", (folder / "a/1.png").resolve())
    assert [type(one) for one in others] == [Unusable] * 4
    assert [one.kind for one in others] == ["refused"] * 3 + ["damaged"]


def test_a_column_that_is_not_clear_is_asked_for(tmp_path):
    two = write_parquet(tmp_path / "two.parquet", a=STRUCTS, b=STRUCTS)
    with pytest.raises(ShardError, match="several columns of pictures: a, b; name one"):
        list(read_shard(two))
    assert len(list(read_shard(two, "b"))) == 2
    with pytest.raises(ShardError, match="has no column c; it has: a, b"):
        list(read_shard(two, "c"))
    none = write_parquet(tmp_path / "none.parquet", label=[1, 2])
    with pytest.raises(ShardError, match="no column of pictures or of their paths: label"):
        list(read_shard(none))
    with pytest.raises(ShardError, match="of type int64"):
        list(read_shard(none, "label"))


def test_a_large_picture_is_skipped_and_a_damaged_table_is_an_error(tmp_path, monkeypatch):
    monkeypatch.setattr(table, "MAX_PICTURE_BYTES", 3)
    path = write_parquet(tmp_path / "a.parquet", image=[b"1234", b"123"])
    large, fits = read_shard(path)
    assert (large.kind, fits.content) == ("refused", b"123")
    path.write_bytes(path.read_bytes()[:-20])
    with pytest.raises(ShardError, match="cannot be read"):
        list(read_shard(path))
    other = write_arrow(tmp_path / "b.arrow", stream=True, image=STRUCTS)
    other.write_bytes(other.read_bytes()[:-100])
    with pytest.raises(ShardError, match="cannot be read"):
        list(read_shard(other))


def test_a_folder_of_datasets_lists_its_files_and_those_of_its_splits(tmp_path):
    for split in ("train", "test"):
        folder = tmp_path / "both" / split
        folder.mkdir(parents=True)
        write_arrow(folder / "data-00000-of-00001.arrow", stream=True, image=STRUCTS)
        state = {"_data_files": [{"filename": "data-00000-of-00001.arrow"}]}
        (folder / "state.json").write_text(json.dumps(state))
    (tmp_path / "both" / "dataset_dict.json").write_text('{"splits": ["train", "test"]}')
    assert is_shard(str(tmp_path / "both"))
    shards = find_shards([str(tmp_path / "both")])
    assert [one.name for one in shards] == [
        "train-data-00000-of-00001",
        "test-data-00000-of-00001",
    ]
    ids = [row.id for one in shards for row in read_shard(one.path, name=one.name)]
    assert len(set(ids)) == len(ids) == 4
    (tmp_path / "both" / "dataset_dict.json").write_text(json.dumps({"splits": ["x" * 5000]}))
    with pytest.raises(InputError, match="cannot be read"):
        find_shards([str(tmp_path / "both")])
    (tmp_path / "both" / "dataset_dict.json").write_text('{"splits": ["../../etc"]}')
    with pytest.raises(InputError, match="leads out of the folder"):
        find_shards([str(tmp_path / "both")])
    state["_indices_data_files"] = [{"filename": "indices.arrow"}]
    (folder / "state.json").write_text(json.dumps(state))
    with pytest.raises(InputError, match="flatten_indices"):
        find_shards([str(folder)])


def test_shards_are_named_by_patterns_and_each_has_a_name_of_its_own(tmp_path):
    for name in ("a-08.tar", "a-09.tar", "a-10.tar", "b/a-08.tar"):
        (tmp_path / name).parent.mkdir(exist_ok=True)
        (tmp_path / name).touch()
    found = find_shards([str(tmp_path / "a-{08..10}.tar")])
    assert found == [Shard(tmp_path / f"a-{i}.tar", f"a-{i}") for i in ("08", "09", "10")]
    with pytest.raises(InputError, match=r"1 of 4 shards do not exist: .*a-07\.tar"):
        find_shards([str(tmp_path / "a-{07..10}.tar")])
    with pytest.raises(InputError, match=r"would both give a-08\.parquet"):
        find_shards([str(tmp_path / "a-08.tar"), str(tmp_path / "b" / "a-08.tar")])
    with pytest.raises(InputError, match="more than 1,000,000 shards"):
        find_shards(["a-{000000000..999999999}.tar"])


def test_a_file_of_codes_gives_back_what_was_written(tmp_path):
    about = About(12, "f" * 64, "softhash", "a.tar", 512, {"damaged": 1})
    codes = np.random.default_rng(0).integers(0, 256, (200_000, 2), np.uint8) & (255, 240)
    codes = codes.astype(np.uint8)
    path = tmp_path / "a.parquet"
    with write_codes(path, 12) as writer:
        for start in range(0, len(codes), 7001):
            part = codes[start : start + 7001]
            ids = [str(start + i) for i in range(len(part))]
            writer.add(ids, part, [""] * len(part))
        assert not path.exists()
        writer.finish(about)
    assert read_about(path) == about
    parts = list(read_codes(path, about))
    assert [id for ids, _ in parts for id in ids] == [str(i) for i in range(200_000)]
    np.testing.assert_array_equal(np.concatenate([part for _, part in parts]), codes)
    assert [one.name for one in tmp_path.iterdir()] == ["a.parquet"]


def test_a_file_of_codes_is_there_whole_or_not_at_all(tmp_path):
    def write_and_fail():
        with write_codes(tmp_path / "a.parquet", 8) as writer:
            writer.add(["a"], np.zeros((1, 1), np.uint8), ["a.jpg"])
            raise RuntimeError

    with pytest.raises(RuntimeError):
        write_and_fail()
    assert list(tmp_path.iterdir()) == []


def test_other_files_are_not_taken_for_codes(tmp_path):
    path = write_parquet(tmp_path / "a.parquet", id=["a"], code=[b"a"])
    with pytest.raises(InputError, match="has no codes of softhash"):
        read_about(path)
    with pytest.raises(InputError, match="no ids, or no codes of 8 bits"):
        list(read_codes(path, About(8, "")))
    write_parquet(path, code=pa.array([b"a"], pa.binary(1)))
    with pytest.raises(InputError, match="no ids, or no codes of 8 bits"):
        list(read_codes(path, About(8, "")))
    path.write_bytes(b"PAR1")
    with pytest.raises(InputError, match="cannot be read"):
        read_about(path)
