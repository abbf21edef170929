"""Models whose writer is killed at every step, and an index whose model was not kept yet."""

import json
import os
import subprocess
import sys
from pathlib import Path

import pytest
from PIL import Image

pytestmark = [
    pytest.mark.slow,
    pytest.mark.skipif(not hasattr(os, "fork"), reason="the process dies in children of its own"),
]
ROOT = Path(__file__).parents[2]


def deaths(kind, folder):
    """Return [number, state after the death, state after the next run, names], one per death."""
    command = [sys.executable, "-m", "tests.hardening.killing", kind, str(folder)]
    done = subprocess.run(command, capture_output=True, text=True, cwd=ROOT, check=True, timeout=90)
    return [json.loads(line) for line in done.stdout.splitlines()]


@pytest.mark.parametrize("kind", ["model_written_over", "model_written_over_in_two_steps"])
def test_a_model_that_is_replaced_is_there_after_any_kill(tmp_path, kind):
    found = deaths(kind, tmp_path)
    assert len(found) > 10
    assert {tuple(after) for _, after, _, _ in found} == {("old", "old"), ("new", "new")}
    assert {tuple(later) for _, _, later, _ in found} == {("next", "next")}
    assert {tuple(names) for *_, names in found} == {("name",)}


DYING = """
import os, sys
from softhash.cli import main
rename = os.rename
def dying(source, target):
    os._exit(9) if str(target).endswith("/model") else rename(source, target)
os.rename = dying
main()
"""


def test_the_same_command_makes_up_for_a_model_that_was_not_kept(tmp_path, tiny_model):
    (tmp_path / "pictures").mkdir()
    for i in range(3):
        Image.new("RGB", (40, 40), (80 * i, 0, 99)).save(tmp_path / "pictures" / f"{i}.png")
    index = [f"{tmp_path}/pictures", "-o", f"{tmp_path}/index", "-m", str(tiny_model)]

    def run(*command):
        return subprocess.run(
            [sys.executable, *command], capture_output=True, text=True, timeout=90
        )

    assert run("-c", DYING, "index", *index).returncode == 9
    assert not (tmp_path / "index" / "model").exists()
    assert run("-m", "softhash", "index", *index).returncode == 0
    picture = f"{tmp_path}/pictures/1.png"
    found = run("-m", "softhash", "search", picture, "-i", f"{tmp_path}/index", "--json", "-k", "1")
    assert found.returncode == 0, found.stderr
    assert sorted(path.name for path in tmp_path.iterdir()) == ["index", "pictures"]
    kept = sorted(path.name for path in (tmp_path / "index").iterdir())
    assert kept == sorted(name for name in kept if not name.startswith("."))
