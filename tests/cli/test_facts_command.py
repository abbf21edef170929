"""Dates, cameras and folders at the command line: kept by ``index``, asked for by ``search``."""

import json

import numpy as np
import pytest
from click.exceptions import Exit
from PIL import Image

from softhash.cli._app import app

CPU = ("--device", "cpu")
PHOTOS = {"2024/Italy/a.jpg": ("2024:05:17 14:03:22", "NIKON D90"), "b.jpg": ("2023:01:01", "X100")}


@pytest.fixture
def folder(tmp_path):
    folder = tmp_path / "photos"
    (folder / "2024" / "Italy").mkdir(parents=True)
    for colour, (name, (taken, model)) in enumerate(PHOTOS.items()):
        data = Image.Exif()
        data[0x110] = model
        data.get_ifd(0x8769)[0x9003] = taken
        picture = Image.fromarray(np.full((40, 40, 3), 90 * colour, np.uint8))
        picture.save(folder / name, exif=data.tobytes())
    return folder


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


def test_an_index_of_an_earlier_version_gets_its_facts(softhash, folder, tiny_model, tmp_path):
    location = tmp_path / "index"
    index = ("index", folder, "-o", location, *CPU)
    _, out, err = softhash(*index, "-m", tiny_model, "--json")
    assert json.loads(out)["facts"] == {"kept": 2, "computed": 0, "missing": 0}
    assert "photo facts" not in err

    (location / "facts-1.bin").unlink()  # earlier versions had none
    _, out, err = softhash(*index, "--json")
    assert "reading the photo facts of 2 items, of 2" in err
    assert json.loads(out)["facts"] == {"kept": 2, "computed": 2, "missing": 0}
    assert "photo facts" not in softhash(*index)[2]

    verify = ("index", "--verify", "-o", location)
    assert softhash(*verify)[0] == 0
    data = bytearray((location / "facts-1.bin").read_bytes())
    data[40] ^= 1
    (location / "facts-1.bin").write_bytes(data)
    code, out, _ = softhash(*verify)
    assert (code, "the record of item 1" in out) == (1, True)


def test_search_filters_by_date_folder_and_camera(softhash, folder, tiny_model, tmp_path):
    location = tmp_path / "index"
    softhash("index", folder, "-o", location, *CPU, "-m", tiny_model)
    for asked, wanted in (
        (("--after", "2024-05"), ["2024/Italy/a.jpg"]),
        (("--before", "2024"), ["b.jpg"]),
        (("--folder", "Italy"), ["2024/Italy/a.jpg"]),
        (("--camera", "x1"), ["b.jpg"]),
        (("--camera", "x1", "--after", "2024"), []),
    ):
        _, out, _ = softhash("search", "-i", location, *asked, "--json")
        found = json.loads(out)
        assert [hit["file_name"] for hit in found["hits"]] == wanted
        assert found["total"] == len(wanted)
        assert found["settings"].items() >= {asked[0][2:]: asked[1]}.items()
        _, out, _ = softhash("search", folder / "b.jpg", "-i", location, *asked, "--json")
        assert [hit["file_name"] for hit in json.loads(out)["hits"]] == wanted
    assert (
        json.loads(softhash("search", "-i", location, "--after", "2024", "--json")[1])["hits"][0][
            "taken"
        ]
        == "2024-05-17T14:03:22"
    )
    assert "no item matches" in softhash("search", "-i", location, "--after", "2025")[1]
