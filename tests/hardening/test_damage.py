"""A sample of damaged indexes and models; `python -m tests.hardening.damage N` runs more."""

import re

import pytest

from .sandbox import run_alone

pytestmark = pytest.mark.slow

CASES = 250


def test_a_damaged_file_never_gives_a_wrong_answer():
    done = run_alone("damage", CASES, "--seed", 1, "--jobs", 1)
    assert done.returncode == 0, done.stdout + done.stderr
    assert f"{CASES} damaged files" in done.stdout
    assert int(re.search(r"(\d+) refused", done.stdout)[1]) > CASES // 4  # damage is noticed
