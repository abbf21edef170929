"""``softhash index``, as a person runs it."""

import json
import subprocess
import sys

import numpy as np
import pytest
from command import run

from softhash.data import scenes
from softhash.data.image_set import ImageSet
from softhash.index import HammingIndex
from softhash.model.hasher import Hasher

CPU = ("--device", "cpu")


@pytest.fixture
def folder(tmp_path):
    """Ten scenes with labels."""
    folder = tmp_path / "photos"
    scenes.write(folder, count=10, size=64, workers=1)
    return folder


@pytest.fixture
def location(tmp_path):
    return tmp_path / "photos.index"


def _json(*arguments):
    done = run(*arguments, "--json", *CPU)
    assert done.returncode == 0, done.stderr
    return json.loads(done.stdout)


def _counts(found):
    others = ("broken", "seconds", "items", "facts")
    return {key: n for key, n in found.items() if n and key not in others}


def test_a_second_run_does_only_what_changed(folder, location, tiny_model):
    first = run("index", folder, "-o", location, "-m", tiny_model, *CPU)
    assert (first.returncode, first.stdout) == (0, ""), first.stderr
    assert "10 items; 10 added, in " in first.stderr
    assert first.stderr.count("\n") == 1
    again = run("index", folder, "-o", location, *CPU)
    assert again.stderr == f"{location}: 10 items; nothing changed\n"
    (folder / "scene-00001.png").rename(folder / "renamed.png")
    (folder / "scene-00002.png").write_bytes((folder / "scene-00003.png").read_bytes())
    table = folder / "metadata.csv"
    lines = table.read_text().replace("scene-00001.png", "renamed.png").splitlines()
    lines[5] = "scene-00004.png,dragon"
    (folder / lines.pop(10).split(",")[0]).unlink()
    table.write_text("\n".join(lines))
    found = _json("index", folder, "-o", location)
    assert _counts(found) == {
        "changed": 1, "renamed": 1, "revised": 1, "removed": 1, "unchanged": 6,
    }  # fmt: skip
    assert found["items"] == 9
    with HammingIndex.open(location) as index:
        assert index.store.labels()["dragon"] == 1
        codes = {item.entry.file_name: item.code for item in index.store.items()}
    images = ImageSet.read(folder)
    expected = Hasher.load(tiny_model).encode(images, device="cpu")
    assert codes == {n: c.tobytes() for n, c in zip(images.file_names, expected, strict=True)}


def test_broken_pictures_are_named_and_the_rest_is_indexed(folder, location, tiny_model):
    for number in range(12):
        (folder / f"broken-{number:02}.jpg").write_bytes(b"not a picture")
    (folder / "metadata.csv").unlink()
    done = run("index", folder, "-o", location, "-m", tiny_model, *CPU)
    assert done.returncode == 0
    assert done.stderr.count("note: skipped: ") == 10
    assert "12 files skipped: 12 damaged; `softhash check` lists broken ones" in done.stderr
    assert "10 items; 10 added" in done.stderr
    found = _json("index", folder, "-o", location)
    assert [one["file_name"] for one in found["broken"]] == [
        f"broken-{number:02}.jpg" for number in range(12)
    ]


def test_an_interrupt_keeps_what_is_done_and_the_next_run_goes_on(folder, location, tiny_model):
    code = (
        "import os, signal\n"
        "from softhash.cli import main\n"
        "from softhash.model.hasher import Hasher\n"
        "signal.signal(signal.SIGINT, signal.default_int_handler)\n"
        "real = Hasher.stream\n"
        "def stream(self, *given, **options):\n"
        "    for number, part in enumerate(real(self, *given, **options)):\n"
        "        if number == 2: os.kill(os.getpid(), signal.SIGINT)\n"
        "        yield part\n"
        "Hasher.stream = stream\n"
        "main()"
    )
    arguments = ["index", folder, "-o", location, "-m", tiny_model, "--batch-size", 2, *CPU]
    done = subprocess.run(
        [sys.executable, "-c", code, *map(str, arguments)], capture_output=True, text=True
    )
    assert done.returncode == 130
    assert f"stopped; 4 pictures are in {location}, and the same command continues" in done.stderr
    assert "Traceback" not in done.stderr
    found = _json("index", folder, "-o", location)
    assert _counts(found) == {"added": 6, "unchanged": 4}


def test_an_empty_or_missing_folder_does_not_empty_the_index(folder, location, tiny_model):
    run("index", folder, "-o", location, "-m", tiny_model, *CPU)
    for file in folder.iterdir():
        file.unlink()
    empty = run("index", folder, "-o", location, *CPU)
    assert empty.returncode == 1
    assert f"{folder} holds no pictures, so the index is left as it is" in empty.stderr
    gone = run("index", folder / "nowhere", "-o", location, *CPU)
    assert (gone.returncode, "does not exist" in gone.stderr) == (1, True)
    with HammingIndex.open(location) as index:
        assert len(index) == 10
    assert _counts(_json("index", folder, "-o", location, "--force")) == {"removed": 10}


def test_models_are_never_mixed(folder, location, tiny_model, tmp_path):
    features = Hasher.from_features(4, bits=12)
    features.save(tmp_path / "features")
    of_features = run("index", folder, "-o", location, "-m", tmp_path / "features")
    assert (of_features.returncode, location.exists()) == (1, False)
    assert "hashes features, not pictures" in of_features.stderr
    run("index", folder, "-o", location, "-m", tiny_model, *CPU)
    assert run("index", folder, "-o", location, "-m", tiny_model, *CPU).returncode == 0
    other = _other_model(tiny_model, tmp_path / "other")
    done = run("index", folder, "-o", location, "-m", other, *CPU)
    assert done.returncode == 1
    assert "was made with another model" in done.stderr
    assert done.stderr.count("\n") == 1


def _other_model(tiny_model, folder):
    """The same model under other weights."""
    import hashlib
    import shutil

    shutil.copytree(tiny_model, folder)
    weights = bytearray((folder / "model.safetensors").read_bytes())
    weights[-1] ^= 1
    (folder / "model.safetensors").write_bytes(weights)
    config = json.loads((folder / "config.json").read_text())
    config["sha256"] |= {"model.safetensors": hashlib.sha256(weights).hexdigest()}
    del config["sha256"]["config.json"]
    (folder / "config.json").write_text(json.dumps(config))
    return folder


def test_verify_says_that_all_is_well_and_what_is_not(folder, location, tiny_model):
    run("index", folder, "-o", location, "-m", tiny_model, *CPU)
    fine = run("index", "--verify", "-o", location)
    assert (fine.returncode, fine.stdout) == (0, "")
    assert fine.stderr == f"{location}: 10 items, no problems\n"
    _flip_a_code(location)
    wrong = run("index", "--verify", "-o", location)
    assert wrong.returncode == 1
    assert wrong.stdout
    assert "problem" in wrong.stderr
    told = run("index", "--verify", "-o", location, "--json")
    assert told.returncode == 1
    assert json.loads(told.stdout)["problems"] == wrong.stdout.splitlines()


def _flip_a_code(location):
    """Change one bit of a stored code, wherever the store keeps it."""
    with HammingIndex.open(location) as index:
        code = index.get(index.store.items(limit=1)[0].id).code
    for file in sorted(location.rglob("*")):
        if file.is_file() and "model" not in file.parts and code in (data := file.read_bytes()):
            file.write_bytes(data.replace(code, bytes([code[0] ^ 128]) + code[1:]))
            return
    raise AssertionError("no file holds the code")


def test_codes_from_elsewhere_are_taken_with_names_and_labels(tmp_path, location):
    codes = np.random.default_rng(0).integers(0, 256, (6, 2), np.uint8)
    np.save(tmp_path / "codes.npy", codes)
    names = tmp_path / "names.jsonl"
    rows = [{"file_name": f"{i}.jpg", "labels": ["sea", "sky"][: i % 3]} for i in range(6)]
    names.write_text("\n".join(map(json.dumps, rows)))
    given = ["--codes", tmp_path / "codes.npy", "--names", names, "--bits", 16]
    assert _counts(_json("index", "-o", location, *given)) == {"added": 6}
    plain = tmp_path / "names.txt"
    plain.write_text("5.jpg\n6.jpg\n")
    np.save(tmp_path / "two.npy", codes[:2])
    more = ["--codes", tmp_path / "two.npy", "--names", plain, "--bits", 16]
    assert _counts(_json("index", "-o", location, *more)) == {"added": 1, "changed": 1}
    with HammingIndex.open(location) as index:
        found = {item.entry.file_name: item for item in index.store.items()}
    assert found["2.jpg"].code == codes[2].tobytes()
    assert found["2.jpg"].entry.labels == ("sea", "sky")
    assert found["5.jpg"].code == codes[0].tobytes()


@pytest.mark.parametrize(
    ("names", "bits", "code", "message"),
    [
        ("a.jpg\nb.jpg\n", 16, 1, "codes.npy has 3 rows and"),
        ("a.jpg\nb.jpg\na.jpg\n", 16, 1, "names more than once: a.jpg"),
        ("a.jpg\nb.jpg\n../c.jpg\n", 16, 1, "leads out of the folder"),
        ("a.jpg\nb.jpg\nc.jpg\n", 64, 1, "64 bits need 8 columns"),
        (None, 16, 2, "--codes C.npy --names N.txt --bits N"),
    ],
)
def test_codes_that_cannot_be_used_make_no_index(tmp_path, location, names, bits, code, message):
    np.save(tmp_path / "codes.npy", np.zeros((3, 2), np.uint8))
    given = ["--codes", tmp_path / "codes.npy", "--bits", bits]
    if names:
        (tmp_path / "names.txt").write_text(names)
        given += ["--names", tmp_path / "names.txt"]
    done = run("index", "-o", location, *given)
    assert (done.returncode, location.exists()) == (code, False)
    assert message in done.stderr
    assert done.stderr.count("\n") == 1


def test_an_empty_folder_becomes_an_index_and_another_is_refused(folder, location, tiny_model):
    location.mkdir()
    assert run("index", folder, "-o", location, "-m", tiny_model, *CPU).returncode == 0
    into_pictures = run("index", folder, "-o", folder, "-m", tiny_model, *CPU)
    assert into_pictures.returncode == 1
    assert "is not an index" in into_pictures.stderr


def test_index_without_pictures_is_wrong_use(location):
    done = run("index", "-o", location)
    assert (done.returncode, "IMAGES" in done.stderr) == (2, True)
