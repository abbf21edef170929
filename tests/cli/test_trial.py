"""``softhash try``: which pictures are taken, and that nothing is left of it."""

import os
import signal
import subprocess
import sys
from queue import SimpleQueue

import httpx
import pytest

from softhash.cli import trial
from softhash.cli._app import app
from softhash.data import scenes
from softhash.errors import InputError
from softhash.index.first_look import FirstLook, choose_evenly


def names(**folders):
    return [f"{folder}/{i:03}.jpg" for folder, count in folders.items() for i in range(count)]


@pytest.mark.parametrize(
    ("folders", "count", "expected"),
    [
        ({"a": 100, "b": 100}, 10, {"a": 5, "b": 5}),
        ({"a": 100, "b": 3, "c": 100}, 43, {"a": 20, "b": 3, "c": 20}),
        ({"a": 1, "b": 1, "c": 1}, 2, {"a": 0, "b": 1, "c": 1}),
        ({"a": 4, "b": 2}, 100, {"a": 4, "b": 2}),
        ({"a": 50, "b": 50, "c": 50}, 11, {"a": 3, "b": 4, "c": 4}),
    ],
)
def test_every_folder_gives_the_same_share_or_all_it_has(folders, count, expected):
    listed = names(**folders)
    chosen = choose_evenly(listed, count)
    assert len(set(chosen)) == len(chosen)
    assert chosen == sorted(chosen)
    found = [listed[i].split("/")[0] for i in chosen]
    assert {folder: found.count(folder) for folder in folders} == expected


def test_pictures_of_a_folder_are_taken_at_equal_steps():
    assert choose_evenly(names(a=10), 5) == [0, 2, 4, 6, 8]
    assert choose_evenly([], 5) == []


@pytest.fixture
def stage(tmp_path, monkeypatch, tiny_model):
    """A folder of six pictures, a small model in place of the shipped one, and no real server."""
    from softhash.cli import _models
    from softhash.model.hasher import Hasher

    scenes.write(tmp_path / "photos", count=6, size=32, workers=1)
    (tmp_path / "temporary").mkdir()
    monkeypatch.setattr("tempfile.tempdir", str(tmp_path / "temporary"))
    monkeypatch.setattr(
        _models, "first_look", lambda images, **options: FirstLook(Hasher.load(tiny_model), {})
    )
    monkeypatch.setattr(trial, "_end_as_ctrl_c_does", lambda: None)
    return tmp_path


def test_the_page_is_opened_and_the_index_removed_at_the_end(stage, monkeypatch, capsys):
    opened, served = SimpleQueue(), []

    def serve(index, *, port, on_listening):
        served.append((len(index), port, len(list((stage / "temporary").iterdir()))))
        on_listening("http://127.0.0.1:1234")
        return True

    monkeypatch.setattr("softhash.server.serve", serve)
    monkeypatch.setattr("webbrowser.open", opened.put)
    monkeypatch.setattr(trial, "can_open_browser", lambda: True)
    trial.try_folder(str(stage / "photos"), count=4)
    assert served == [(4, 0, 1)]
    assert opened.get(timeout=10) == "http://127.0.0.1:1234"
    assert list((stage / "temporary").iterdir()) == []
    printed = capsys.readouterr().err
    assert "4 of 6 pictures, chosen evenly over 1 folder; --count takes more" in printed
    assert "the index is removed" in printed
    trial.try_folder(str(stage / "photos"), browser=False, port=4321)
    assert served[1:] == [(6, 4321, 1)]
    assert opened.empty()
    assert "open this address in a browser" in capsys.readouterr().err


def test_an_interruption_removes_the_index_too(stage, monkeypatch):
    def interrupted(*arguments):
        raise KeyboardInterrupt

    monkeypatch.setattr(trial, "_fill", interrupted)
    with pytest.raises(KeyboardInterrupt):
        trial.try_folder(str(stage / "photos"))
    assert list((stage / "temporary").iterdir()) == []


def test_a_folder_of_broken_pictures_is_an_error(stage):
    (stage / "broken").mkdir()
    (stage / "broken" / "a.jpg").write_bytes(b"not a picture")
    with pytest.raises(InputError, match="none of the 1 pictures can be read"):
        trial.try_folder(str(stage / "broken"))
    assert list((stage / "temporary").iterdir()) == []


def test_the_command_is_called_try():
    assert "try" in {command.name for command in app.registered_commands}


@pytest.mark.slow
@pytest.mark.parametrize("ending", [signal.SIGINT, signal.SIGHUP])
def test_a_signal_ends_it_cleanly(tmp_path, ending):
    """As a person runs it, with the model that comes with softhash."""
    scenes.write(tmp_path / "photos", count=4, size=64, workers=1)
    (tmp_path / "temporary").mkdir()
    command = [sys.executable, "-m", "softhash", "try", str(tmp_path / "photos"), "--no-browser"]
    process = subprocess.Popen(
        command,
        stderr=subprocess.PIPE,
        text=True,
        env=os.environ | {"TMPDIR": str(tmp_path / "temporary")},
        preexec_fn=lambda: signal.signal(signal.SIGINT, signal.SIG_DFL),  # it may be off
    )
    with process:
        address = next(line for line in process.stderr if "listening on" in line).split()[-1]
        assert httpx.get(address, timeout=10).status_code == 200
        process.send_signal(ending)
        said = process.stderr.read()
    assert process.returncode == 0, said
    assert "the index is removed" in said
    assert list((tmp_path / "temporary").iterdir()) == []
