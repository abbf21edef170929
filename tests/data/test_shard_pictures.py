"""Pictures of shards as batches: in processes as in threads."""

import os

import numpy as np
import pytest
from shard_files import picture_bytes, write_tar

from softhash.data.shards import stream
from softhash.data.shards.stream import ShardPictures

COUNT, SIDE = 90, 16

pytestmark = pytest.mark.skipif(
    not hasattr(os, "memfd_create"), reason="memory cannot be shared between processes here"
)


def batches(shard, **options):
    """All batches, which the next one overwrites, and what they are called."""
    return [
        (one.positions.tolist(), one.pixels.copy(), one.broken, shard.take_names(one.positions))
        for one in shard.batches(SIDE, 40, **options)
    ]


@pytest.fixture
def processes(monkeypatch):
    """Two processes, however small a shard is."""
    monkeypatch.setattr(stream, "MANY_BYTES", 1)
    monkeypatch.setattr(stream, "useful_processes", lambda: 2)


def assert_same(found, expected):
    assert [one[0] for one in found] == [one[0] for one in expected]
    for ours, theirs in zip(found, expected, strict=True):
        np.testing.assert_array_equal(ours[1], theirs[1])
        assert ours[2:] == theirs[2:]


@pytest.mark.usefixtures("processes")
def test_processes_decode_an_archive_as_threads_do(tmp_path, monkeypatch):
    members = [(f"{i:03}.png", picture_bytes(i)) for i in range(COUNT)]
    members[3] = ("003.png", b"no picture")
    members[4] = ("004.seg.png", members[4][1])
    members[70] = ("070.avif", picture_bytes(70, format="AVIF"))
    path = write_tar(tmp_path / "a.tar", members)
    found, expected = batches(ShardPictures(path)), batches(ShardPictures(path), workers=2)
    assert_same(found, expected)
    broken = [one for _, _, some, _ in found for one in some]
    assert [one.position for one in broken] == [3, 4]
    assert "003.png" in broken[0].reason
    monkeypatch.setattr(stream, "BYTES_AT_ONCE", 3 * len(members[0][1]))  # shorter batches
    assert_same(batches(ShardPictures(path)), batches(ShardPictures(path), workers=2))


@pytest.mark.usefixtures("processes")
def test_processes_decode_the_files_of_a_table(tmp_path):
    parquet = pytest.importorskip("pyarrow.parquet")
    table = pytest.importorskip("pyarrow").table({"image": [f"{i}.png" for i in range(8)]})
    for i in range(7):  # the last one is missing
        (tmp_path / f"{i}.png").write_bytes(picture_bytes(i))
    parquet.write_table(table, tmp_path / "a.parquet")
    shard = tmp_path / "a.parquet"
    assert_same(batches(ShardPictures(shard)), batches(ShardPictures(shard), workers=1))


def test_threads_decode_small_shards(tmp_path, monkeypatch):
    monkeypatch.setattr(stream, "useful_processes", lambda: 2)
    monkeypatch.setattr(stream, "decode_in_processes", None)
    path = write_tar(tmp_path / "a.tar", [("1.png", picture_bytes(1))])
    assert batches(ShardPictures(path))[0][0] == [0]
