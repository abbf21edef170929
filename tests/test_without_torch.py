"""From a folder of pictures to a hit where torch is not installed.

The fast test hides torch from commands in this environment; the slow one installs the project into
an environment that never had it.
"""

import json
import os
import subprocess
import sys
import urllib.request
from pathlib import Path

import numpy as np
import pytest

from softhash.data import scenes

ROOT = Path(__file__).parents[1]
INSTALL = "this needs torch; install it with: pip install 'softhash[train]'"
NEEDS_TORCH = [
    ("train", "photos", "-o", "model"),
    ("bench", "recipe.toml", "--data", "photos", "-o", "results"),
    ("demo", "--dir", "demo"),
    ("encode", "photos", "-m", "my.index/model", "-o", "new.npy", "--device", "cuda"),
]


class Machine:
    """A Python without torch, and a folder with pictures, in which commands run."""

    def __init__(self, python: Path, folder: Path, **environment: str) -> None:
        self.python, self.folder = python, folder
        self.environment = os.environ | {"XDG_CACHE_HOME": str(folder / "cache")} | environment
        scenes.write(folder / "photos", count=12, size=64, workers=1)
        (folder / "photos" / "metadata.csv").unlink()  # pictures alone, as most folders have them
        (folder / "query.png").write_bytes(self.photo("scene-00003.png").read_bytes())
        (folder / "recipe.toml").write_text('[defaults]\nmethod = "lsh"\n')

    def photo(self, name: str) -> Path:
        return next((self.folder / "photos").rglob(name))

    def command(self, *arguments: object) -> list[str]:
        return [str(self.python), "-m", "softhash", *map(str, arguments)]

    def run(self, *arguments: object) -> "subprocess.CompletedProcess[str]":
        return self.python_run(*self.command(*arguments)[1:])

    def python_run(self, *arguments: object) -> "subprocess.CompletedProcess[str]":
        return subprocess.run(
            [str(self.python), *map(str, arguments)],
            capture_output=True, text=True, timeout=300, cwd=self.folder, env=self.environment,
        )  # fmt: skip

    def output(self, *arguments: object) -> str:
        done = self.run(*arguments)
        assert done.returncode == 0, done.stderr
        return done.stdout


def check_everything(machine: Machine) -> None:
    """Check, index, search, encode, evaluate and serve; what needs torch names the extra."""
    blocked = machine.python_run("-c", "import torch")
    assert "ModuleNotFoundError" in blocked.stderr
    assert json.loads(machine.output("check", "photos", "--json"))["images"] == 12
    machine.output("index", "photos", "-o", "my.index")
    found = json.loads(machine.output("search", "query.png", "-i", "my.index", "--json"))
    assert found["hits"][0]["file_name"].endswith("scene-00003.png")
    assert found["hits"][0]["distance"] == 0
    check_evaluation(machine)
    check_server(machine)
    for arguments in NEEDS_TORCH:
        done = machine.run(*arguments)
        assert done.returncode == 1, (arguments, done.stderr)
        assert done.stderr.splitlines()[-1].endswith(INSTALL), (arguments, done.stderr)
        assert "Traceback" not in done.stderr
    assert not (machine.folder / "demo").exists()
    assert "efficientnet_lite0" in machine.output("list", "backbones")


def check_evaluation(machine: Machine) -> None:
    machine.output("encode", "photos", "-m", "my.index/model", "-o", "codes.npy")
    codes = np.load(machine.folder / "codes.npy")
    assert codes.shape == (12, 32)
    labels = np.arange(12)[:, None] % 3 == np.arange(3)
    np.save(machine.folder / "labels.npy", labels.astype(np.uint8))
    given = [
        word
        for kind in ("query", "database")
        for word in (f"--{kind}-codes", "codes.npy", f"--{kind}-labels", "labels.npy")
    ]
    report = json.loads(machine.output("evaluate", *given, "--bits", 256, "--at", "all", "--json"))
    assert 0 < report["metrics"]["map@all"] <= 1


def check_server(machine: Machine) -> None:
    """Post a picture to a server that listens on a free port."""
    picture = (machine.folder / "query.png").read_bytes()
    head = b'--b\r\nContent-Disposition: form-data; name="image"; filename="a.png"\r\n\r\n'
    server = subprocess.Popen(
        machine.command("serve", "my.index", "--port", 0),
        stderr=subprocess.PIPE, text=True, cwd=machine.folder, env=machine.environment,
    )  # fmt: skip
    try:
        lines = iter(server.stderr.readline, "")
        address = next(line for line in lines if "listening on" in line).split()[-1]
        request = urllib.request.Request(  # noqa: S310  (it is our own server)
            f"{address}/api/v1/search",
            head + picture + b"\r\n--b--\r\n",
            {"Content-Type": "multipart/form-data; boundary=b"},
        )
        opener = urllib.request.build_opener(urllib.request.ProxyHandler({}))
        with opener.open(request, timeout=60) as answer:
            hits = json.load(answer)["hits"]
        assert hits[0]["file_name"].endswith("scene-00003.png")
    finally:
        server.terminate()
        server.wait(60)
        server.stderr.close()


@pytest.fixture
def hidden_torch(tmp_path) -> Machine:
    """This environment, in whose commands `import torch` fails."""
    (tmp_path / "hiding").mkdir()
    hide = 'import sys\n\nsys.modules["torch"] = None\n'
    (tmp_path / "hiding" / "sitecustomize.py").write_text(hide)
    return Machine(Path(sys.executable), tmp_path, PYTHONPATH=str(tmp_path / "hiding"))


def test_a_folder_is_searched_and_served_where_torch_is_hidden(hidden_torch):
    check_everything(hidden_torch)


def test_the_library_names_the_extra_where_torch_is_hidden(hidden_torch):
    script = f"""
import numpy as np
import softhash
from softhash import Hasher, MissingExtraError

def refused(act):
    try:
        act()
    except MissingExtraError as error:
        return str(error) == {INSTALL!r}

assert refused(lambda: softhash.fit)
assert refused(lambda: Hasher("efficientnet_lite0").network)
assert refused(lambda: Hasher("timm:resnet50"))
assert refused(lambda: Hasher.from_features(4, bits=8).encode(np.ones((1, 4), np.float32)))
"""
    done = hidden_torch.python_run("-c", script)
    assert done.returncode == 0, done.stderr


@pytest.mark.slow
def test_a_folder_is_searched_and_served_where_torch_was_never_installed(tmp_path):
    made = tmp_path / "environment"
    subprocess.run([sys.executable, "-m", "venv", str(made)], check=True)
    python = made / ("Scripts/python.exe" if sys.platform == "win32" else "bin/python")
    install = [python, "-m", "pip", "install", "--quiet", "-c", ROOT / "constraints.txt"]
    subprocess.run([*map(str, install), f"{ROOT}[serve]"], check=True, cwd=tmp_path)
    machine = Machine(python, tmp_path, PYTHONPATH="")
    listed = machine.python_run("-m", "pip", "list", "--format", "freeze").stdout
    assert "softhash==" in listed
    assert not any(line.startswith("torch==") for line in listed.splitlines())
    check_everything(machine)
