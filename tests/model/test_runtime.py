"""ONNX Runtime without its telemetry: no queue of events, no device id, no thread that sends."""

import os
import subprocess
import sys
from pathlib import Path

import pytest

import softhash

PROGRAM = """
from softhash.model._runtime import import_runtime
import_runtime()
"""


def files_left(tmp_path: Path, program: str) -> list[str]:
    """Run a program whose caches are all in one folder; name what is there afterwards."""
    environment = {k: v for k, v in os.environ.items() if k != "ORT_DISABLE_TELEMETRY"}
    for name in ("HOME", "XDG_CACHE_HOME", "XDG_DATA_HOME", "XDG_STATE_HOME", "TMPDIR"):
        environment[name] = str(tmp_path)
    for name in ("CI", "GITHUB_ACTIONS"):  # there the runtime may keep quiet by itself
        environment.pop(name, None)
    subprocess.run([sys.executable, "-c", program], env=environment, check=True, timeout=60)
    return [path.name for path in tmp_path.rglob("*")]


def test_the_runtime_leaves_no_queue_and_no_device_id(tmp_path):
    assert files_left(tmp_path, PROGRAM) == []


@pytest.mark.slow
def test_a_runtime_imported_by_itself_does_so(tmp_path):
    """That the test above looks in the right place; newer wheels may have no telemetry."""
    left = files_left(tmp_path, "import onnxruntime")
    assert not left or any("onnxruntime" in name for name in left)


def test_the_runtime_is_imported_in_one_place():
    package = Path(softhash.__file__).parent
    found = [p.name for p in package.rglob("*.py") if "import onnxruntime" in p.read_text("utf-8")]
    assert found == ["_runtime.py"]
