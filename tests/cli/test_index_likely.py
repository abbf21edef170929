"""``softhash index``: likely labels are kept, and an index of an earlier version gets them."""

import json

import pytest
from click.exceptions import Exit

from softhash.cli._app import app
from softhash.data import scenes
from softhash.index import HammingIndex

CPU = ("--device", "cpu")


@pytest.fixture
def folder(tmp_path):
    scenes.write(tmp_path / "photos", count=8, size=48, workers=1)
    return tmp_path / "photos"


@pytest.fixture
def softhash(capsys):
    """Run a command in this process, and return its exit code and what it printed."""

    def softhash(*arguments):
        capsys.readouterr()
        try:
            code = app([*map(str, arguments)], standalone_mode=False)
        except Exit as exit:
            code = exit.exit_code
        return code or 0, *capsys.readouterr()

    return softhash


def kept(location):
    with HammingIndex.open(location) as index:
        return index.store.likely.get(list(index.store.scan()))


def test_an_index_of_an_earlier_version_gets_its_likely_labels(
    softhash, folder, telling_model, tmp_path
):
    location = tmp_path / "index"
    index = ("index", folder, "-o", location, *CPU)
    _, out, err = softhash(*index, "-m", telling_model, "--json")
    assert json.loads(out)["likely"] == {"kept": 8, "computed": 0, "missing": 0}
    assert "likely" not in err
    rows = kept(location)
    assert all(rows)

    (file,) = location.glob("likely-*.bin")
    file.unlink()  # earlier versions had none
    _, out, err = softhash(*index, "--json")
    assert "computing the likely labels of 8 items, of 8" in err
    assert json.loads(out)["likely"] == {"kept": 8, "computed": 8, "missing": 0}
    assert kept(location) == rows
    assert "computing" not in softhash(*index)[2]

    file.write_bytes(b"")
    (folder / "scene-00005.png").unlink()
    _, out, err = softhash(*index, "--keep-missing", "--json")
    assert json.loads(out)["likely"] == {"kept": 7, "computed": 7, "missing": 1}
    assert "1 item has no likely labels" in err

    verify = ("index", "--verify", "-o", location)
    assert softhash(*verify)[0] == 0
    data = bytearray(file.read_bytes())
    data[3 * 48 + 20] ^= 1
    file.write_bytes(data)
    code, out, _ = softhash(*verify)
    assert (code, "the record of item 3" in out) == (1, True)


def test_a_model_that_names_no_labels_has_none(softhash, folder, tiny_model, tmp_path):
    location = tmp_path / "index"
    _, out, _ = softhash("index", folder, "-o", location, *CPU, "-m", tiny_model, "--json")
    assert "likely" not in json.loads(out)
    assert not list(location.glob("likely-*"))
