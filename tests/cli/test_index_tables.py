"""``softhash index --multi-index``: kept, made again, verified, removed."""

import json

import numpy as np
import pytest

from softhash.cli._app import app
from softhash.errors import UsageError
from softhash.index.local import _guard, _multi_index, _sums, _tables

BLOCK = 64


@pytest.fixture
def softhash(capsys, monkeypatch):
    """Run a command in this process, and return what it printed, on stdout and on stderr."""
    for module in (_sums, _guard, _tables, _multi_index):
        monkeypatch.setattr(module, "BLOCK", BLOCK)

    def softhash(*arguments):
        capsys.readouterr()
        app([*map(str, arguments)], standalone_mode=False)
        return capsys.readouterr()

    return softhash


def write_codes(folder, n):
    np.save(folder / "codes.npy", np.random.default_rng(0).integers(0, 256, (n, 8), np.uint8))
    (folder / "names.txt").write_text("".join(f"{i}.jpg\n" for i in range(n)))
    return ("--codes", folder / "codes.npy", "--names", folder / "names.txt", "--bits", 64)


def test_tables_are_kept_made_again_verified_and_removed(softhash, tmp_path):
    location = tmp_path / "index"
    path = location / "multi-index.bin"
    index = ("index", "-o", location)
    assert "multi-index" not in softhash(*index, *write_codes(tmp_path, 100)).err
    assert not path.exists()

    assert "multi-index: made in" in softhash(*index, "--multi-index").err
    before = path.read_bytes()
    assert "multi-index: kept as it is" in softhash(*index, "--multi-index").err
    assert "multi-index" not in softhash(*index, *write_codes(tmp_path, 100)).err
    assert path.read_bytes() == before
    found = softhash(*index, *write_codes(tmp_path, 300), "--json")
    assert "multi-index: made in" in found.err
    assert json.loads(found.out)
    assert len(path.read_bytes()) > len(before)

    path.write_bytes(path.read_bytes()[:-1])
    with pytest.raises(SystemExit):
        app([*map(str, index), "--verify"])
    assert "multi-index: made in" in softhash(*index, *write_codes(tmp_path, 300)).err
    assert json.loads(softhash(*index, "--verify", "--json").out)["problems"] == []

    assert "no longer kept" in softhash(*index, "--no-multi-index").err
    assert not path.exists()
    assert "multi-index" not in softhash(*index, *write_codes(tmp_path, 300)).err


def test_what_cannot_keep_tables_says_so(softhash):
    with pytest.raises(UsageError, match="cannot keep a multi-index"):
        softhash("index", "photos", "-o", "milvus://nowhere:1/x", "--multi-index")
