"""Names that would steer a terminal, break a line or be taken for markup."""

import json
import logging
import os
import sys

import pytest
from hypothesis import given
from hypothesis import strategies as st
from PIL import Image

from softhash.cli import _app, _output
from softhash.cli._codes import read_entries
from softhash.data.names import as_line, from_line

ODD = "\x1b]0;x\x07\n[red]\x9b2J.png"
SHOWN = r"\x1b]0;x\x07\n[red]\x9b2J.png"


@pytest.fixture
def photos(tmp_path):
    """A good picture and a broken one, both with odd names, and an odd label."""
    folder = tmp_path / "photos"
    folder.mkdir()
    Image.new("RGB", (8, 8)).save(folder / f"good{ODD}", "PNG")
    (folder / f"broken{ODD}").write_bytes(b"nothing")
    rows = [
        {"file_name": f"{kind}{ODD}", "labels": [f"[bold]{ODD}"]} for kind in ("good", "broken")
    ]
    (folder / "metadata.jsonl").write_text("".join(json.dumps(row) + "\n" for row in rows))
    return folder


@pytest.fixture
def run(capsys, monkeypatch):
    """Run a command in this process; return what it printed."""

    def command(*words):
        monkeypatch.setattr(sys, "argv", ["softhash", *map(str, words)])
        monkeypatch.setattr(logging.getLogger("softhash"), "setLevel", lambda level: None)
        with pytest.raises(SystemExit):
            _app.main()
        return capsys.readouterr()

    return command


@pytest.mark.skipif(os.name == "nt", reason="Windows has no such names")
def test_check_shows_odd_names_and_obeys_none(photos, run):
    done = run("check", photos)
    assert not set("\x1b\x07\x9b") & set(done.out + done.err)
    assert f"broken{SHOWN}" in done.out
    assert f"[bold]{SHOWN}" in done.out


@pytest.mark.skipif(os.name == "nt", reason="Windows has no such names")
def test_check_keeps_odd_names_exact_in_json(photos, run):
    done = run("check", photos, "--json")
    assert "\x9b" not in done.out
    found = json.loads(done.out)
    assert found["broken"][0]["file_name"] == f"broken{ODD}"
    assert list(found["images_per_class"]) == [f"[bold]{ODD}"]


def test_errors_show_odd_names_on_one_line(tmp_path, run):
    done = run("check", tmp_path / ODD)
    assert done.err.count("\n") == 1
    assert SHOWN in done.err
    assert not set("\x1b\x07\x9b") & set(done.err)


@pytest.mark.parametrize("write", [_output.say, _output.warn])
def test_lines_for_people_are_one_line_each_without_markup(write, capsys):
    write(f"saved {ODD}")
    text = capsys.readouterr().err
    assert text.endswith(f"saved {SHOWN}\n")
    assert text.count("\n") == 1


@given(st.text(min_size=1))
def test_a_name_written_as_a_line_is_read_back(name):
    line = as_line(name)
    assert line.isprintable()
    assert line == line.strip()
    assert from_line(line) == name


def test_ids_are_read_back_whatever_the_names(tmp_path):
    names = ["a.jpg", ODD, " led by a space.jpg", '"quoted".jpg', '"half.jpg', "é\u2028.jpg"]
    path = tmp_path / "ids.txt"
    path.write_text("".join(f"{as_line(name)}\n" for name in names), encoding="utf-8")
    assert [entry.file_name for entry in read_entries(path)] == names
    path.write_text('"not JSON.jpg\n', encoding="utf-8")
    assert read_entries(path)[0].file_name == '"not JSON.jpg'
