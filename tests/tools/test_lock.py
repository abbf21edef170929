"""The lock file that CI installs from."""

import re
import runpy
import tomllib
from pathlib import Path

import pytest

ROOT = Path(__file__).parents[2]
LINE = re.compile(r"([a-z0-9._-]+)==(\S+)( --hash=sha256:[0-9a-f]{64})+")


def canonical(name):
    return re.sub(r"[-_.]+", "-", name).lower()


@pytest.fixture(scope="module")
def locked():
    lines = (ROOT / "requirements.lock").read_text().splitlines()
    found = [LINE.fullmatch(line) for line in lines if not line.startswith("#")]
    assert all(found), "every line has a version and a whole SHA-256"
    return {canonical(one[1]): one[2].partition("+")[0] for one in found}


def test_every_pin_of_the_constraints_is_in_the_lock_file(locked):
    pins = [line for line in (ROOT / "constraints.txt").read_text().splitlines() if "==" in line]
    for line in pins:
        name, version = line.split("==")
        assert locked.get(canonical(name)) == version, f"{line}: run tools/lock.py"


def test_everything_the_project_asks_for_is_in_the_lock_file(locked):
    project = tomllib.loads((ROOT / "pyproject.toml").read_text())
    about, groups = project["project"], project["dependency-groups"]
    # Wheels of the first two do not import beside this torch; Ray is large, its test skips.
    left_out = ("timm", "torchvision", "ray")
    extras = [
        one
        for name, needs in about["optional-dependencies"].items()
        if name not in left_out
        for one in needs
    ]
    asked = [*about["dependencies"], *extras, *project["build-system"]["requires"]]
    asked += [one for group in groups.values() for one in group if isinstance(one, str)]
    names = {canonical(re.match(r"[A-Za-z0-9._-]+", one)[0]) for one in asked} - {"softhash"}
    assert names <= locked.keys(), f"run tools/lock.py: {sorted(names - locked.keys())}"


def test_an_editable_project_has_no_hash_and_a_name_has_small_letters():
    tool = runpy.run_path(str(ROOT / "tools" / "lock.py"), run_name="tool")
    digest = "0" * 64
    found = [
        {"download_info": {"dir_info": {"editable": True}}, "metadata": {}},
        {
            "download_info": {"archive_info": {"hashes": {"sha256": digest}}},
            "metadata": {"name": "PyYAML", "version": "6.0"},
        },
    ]
    assert tool["locked"](found) == [f"pyyaml==6.0 --hash=sha256:{digest}"]
