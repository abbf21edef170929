"""The package on the page about extending softhash, installed as pip would, and used."""

import json
import os
import re
import subprocess
import sys
import tomllib
from pathlib import Path

import pytest

from softhash.data import scenes

ROOT = Path(__file__).parents[2]
PAGE = ROOT / "docs" / "how-to" / "extend.md"
BLOCK = re.compile(r'^```(\w+)(?: title="(.+?)")?\n(.*?)^```$', re.MULTILINE | re.DOTALL)
COUNT = 60


@pytest.fixture(scope="module")
def blocks():
    """Return (language, title, code) of every block of the page."""
    return [match.groups() for match in BLOCK.finditer(PAGE.read_text(encoding="utf-8"))]


@pytest.fixture(scope="module")
def home(blocks, tmp_path_factory):
    """Install the page's package, and put photos with captions beside it."""
    folder = tmp_path_factory.mktemp("extras")
    (project,) = [tomllib.loads(code) for language, _, code in blocks if language == "toml"]
    name, version = project["project"]["name"], project["project"]["version"]
    about = folder / "site" / f"{name.replace('-', '_')}-{version}.dist-info"
    about.mkdir(parents=True)
    (about / "METADATA").write_text(f"Metadata-Version: 2.1\nName: {name}\nVersion: {version}\n")
    lines = []
    for group, points in project["project"]["entry-points"].items():
        lines += [f"[{group}]", *(f"{key} = {value}" for key, value in points.items())]
    (about / "entry_points.txt").write_text("\n".join(lines) + "\n")
    for language, title, code in blocks:
        if language == "python":
            file = folder / "site" / title
            file.parent.mkdir(exist_ok=True)
            file.write_text(code, encoding="utf-8")
    (folder / "photos").mkdir()
    for i in range(COUNT):
        picture, labels = scenes.draw(i, size=64)
        picture.save(folder / "photos" / f"{i:03}.png")
        (folder / "photos" / f"{i:03}.txt").write_text(" ".join(labels))
    return folder


@pytest.fixture(scope="module")
def run(home):
    """Return a function that runs a command where the package is installed."""
    own = {"PYTHONPATH": str(home / "site"), "SHELF": str(home / "shelf")}
    environment = os.environ | own | {"XDG_CACHE_HOME": str(home / "cache")}
    (home / "shelf").mkdir()

    def run(*command):
        done = subprocess.run(
            [sys.executable, *command],
            cwd=home,
            env=environment,
            capture_output=True,
            text=True,
            timeout=300,
        )
        assert done.returncode == 0, done.stderr
        return done.stdout

    return run


@pytest.mark.parametrize(
    ("kind", "name", "line"),
    [
        ("methods", "cosine", "The cosine of two outputs is the cosine of their labels."),
        ("backbones", "patches", "Averages of patches: 64 features at 64², not trained."),
        ("formats", "captions", "A text file of captions next to each picture; every word is"),
    ],
)
def test_what_the_page_brings_is_listed(run, kind, name, line):
    listed = json.loads(run("-m", "softhash", "list", kind, "--json"))
    about = listed[name]["about"] if kind == "methods" else listed[name]
    assert about.startswith(line)


def test_backbones_and_formats_are_listed_without_torch(run):
    code = (
        "import sys; from softhash.data import formats; from softhash.model import backbones;"
        "print('patches' in backbones.describe(), 'captions' in formats.describe());"
        "print(backbones.spec('patches').size, 'torch' in sys.modules)"
    )
    assert run("-c", code).split() == ["True", "True", "64", "False"]


def test_the_commands_of_the_page_work_together(run, blocks, home):
    (commands,) = [code for language, _, code in blocks if language == "sh"]
    outputs = [run("-m", *command.split()) for command in commands.splitlines()]
    assert (home / "shelf" / "photos" / "index.json").exists()
    assert outputs[-1].count(".png") == 10  # the nearest pictures
    card = json.loads((home / "model" / "config.json").read_text())
    assert card["backbone"] == "patches"
    assert card["activation"] == "tanh"
    assert card["card"]["settings"]["epochs"] == 60
    assert set(card["classes"]) <= set(scenes.CLASSES)


def test_a_class_is_trained_without_a_package(run):
    run("site/try_method.py")
