"""``encode`` and ``export``, as a person runs them."""

import io
import time

import numpy as np
import pytest
from command import run
from rich.console import Console

from softhash.cli import _progress
from softhash.data import scenes
from softhash.data.image_set import ImageSet
from softhash.model.hasher import Hasher

CPU = ("--device", "cpu")


@pytest.fixture(scope="module")
def folder(tmp_path_factory):
    """Twelve scenes, one of them cut short."""
    folder = tmp_path_factory.mktemp("collection") / "photos"
    scenes.write(folder, count=12, size=64, workers=1)
    cut = folder / "scene-00005.png"
    cut.write_bytes(cut.read_bytes()[:300])
    return folder


def test_encode_writes_codes_and_names_and_skips_what_is_broken(folder, tiny_model, tmp_path):
    codes, ids = tmp_path / "codes.npy", tmp_path / "ids.txt"
    done = run("encode", folder, "-m", tiny_model, "-o", codes, "--ids", ids, *CPU)
    assert (done.returncode, done.stdout) == (0, ""), done.stderr
    assert "scene-00005.png" in done.stderr
    assert "1 file skipped: 1 damaged" in done.stderr
    assert "11 codes of 12 bits" in done.stderr
    names = ids.read_text().splitlines()
    assert names == [f"scene-{i:05}.png" for i in range(12) if i != 5]
    expected = Hasher.load(tiny_model).encode_readable(ImageSet.read(folder))
    np.testing.assert_array_equal(np.load(codes), expected.values)
    again = run("encode", folder, "-m", tiny_model, "-o", codes)
    assert again.returncode == 1
    assert "--force" in again.stderr
    assert again.stderr.count("\n") == 1
    one = run("encode", folder / names[0], "-m", tiny_model, "-o", codes, "--force", *CPU)
    assert one.returncode == 0, one.stderr
    np.testing.assert_array_equal(np.load(codes), expected.values[:1])


@pytest.mark.parametrize(
    ("arguments", "code", "message"),
    [
        (["{folder}", "-m", "nowhere", "-o", "{out}"], 1, "nowhere does not exist"),
        (
            ["{folder}", "-m", "{model}", "-o", "no/such/codes.npy"],
            1,
            "folder no/such does not exist",
        ),
        (["nowhere", "-m", "{model}", "-o", "{out}"], 1, "nowhere does not exist"),
        (
            ["{folder}", "-m", "{model}", "-o", "{out}", "--device", "gpu"],
            2,
            "unknown device 'gpu'",
        ),
        (
            ["{folder}/scene-00005.png", "-m", "{model}", "-o", "{out}", *CPU],
            1,
            "none of the 1 pictures",
        ),
        (["{folder}", "-m", "{features}", "-o", "{out}"], 1, "takes embeddings, not pictures"),
    ],
)
def test_encode_says_what_is_wrong_and_writes_nothing(
    folder, tiny_model, tmp_path, arguments, code, message
):
    Hasher.from_features(4, bits=8).save(tmp_path / "features")
    places = {"folder": folder, "model": tiny_model, "out": tmp_path / "out.npy"}
    places["features"] = tmp_path / "features"
    done = run("encode", *(argument.format(**places) for argument in arguments))
    assert (done.returncode, done.stdout) == (code, "")
    assert message in done.stderr
    assert "Traceback" not in done.stderr
    assert not (tmp_path / "out.npy").exists()


def test_export_writes_a_graph_that_runs_elsewhere(tiny_model, tmp_path):
    import onnxruntime

    file = tmp_path / "model.onnx"
    done = run("export", tiny_model, "--to", "onnx", "-o", file)
    assert (done.returncode, done.stdout) == (0, ""), done.stderr
    session = onnxruntime.InferenceSession(file, providers=["CPUExecutionProvider"])
    u, _ = session.run(None, {"pixels": np.zeros((3, 32, 32, 3), np.uint8)})
    assert u.shape == (3, 12)
    assert run("export", tiny_model, "--to", "onnx", "-o", file).returncode == 1
    wrong = run("export", tiny_model, "--to", "onxx", "-o", file, "--force")
    assert (wrong.returncode, "did you mean 'onnx'" in wrong.stderr) == (2, True)


def test_progress_shows_how_many_per_second(monkeypatch):
    said = []
    monkeypatch.setattr(_progress, "say", said.append)
    monkeypatch.setattr(_progress, "SECONDS_BETWEEN_LINES", 0.0)
    with _progress.show_progress("encoding", "pictures") as progress:
        progress(5, 10)
    assert len(said) == 1
    assert said[0].startswith("encoding: 5 of 10, ")
    assert " pictures/s, 0:0" in said[0]
    assert said[0].endswith(" left")


def test_progress_on_a_terminal_is_a_bar_with_a_rate(monkeypatch):
    console = Console(force_terminal=True, file=io.StringIO(), width=100)
    monkeypatch.setattr(_progress, "stderr", console)
    with _progress.show_progress("encoding", "pictures") as progress:
        for done in (10, 20):
            progress(done, 20)
            time.sleep(0.15)  # the bar is drawn ten times a second
    assert "pictures/s" in console.file.getvalue()
