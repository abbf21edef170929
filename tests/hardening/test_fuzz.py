"""A sample of mutated files for every reader; `python -m tests.hardening.fuzz N` runs more."""

import re

import pytest

from .fuzz import QUICK
from .sandbox import run_alone

pytestmark = pytest.mark.slow

FILES = 2_200


def test_readers_of_mutated_files_raise_nothing_but_errors_of_softhash():
    done = run_alone("fuzz", FILES, "--seed", 1, "--quick", "--jobs", 1)
    assert done.returncode == 0, done.stdout + done.stderr
    rows = re.findall(r"^(\S.*?) +([\d,]+) +([\d,]+) +([\d,]+)$", done.stdout, re.MULTILINE)
    counts = {name: sum(int(n.replace(",", "")) for n in found) for name, *found in rows}
    assert counts.keys() == set(QUICK)
    assert sum(counts.values()) == FILES
    assert min(counts.values()) > 10
