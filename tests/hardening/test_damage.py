"""A sample of damaged indexes and models; `python -m tests.hardening.damage N` runs more."""

import pytest

from .damage import run
from .sandbox import FAILED, REFUSED

pytestmark = pytest.mark.slow

CASES = 250
SEED = 1


def test_a_damaged_file_never_gives_a_wrong_answer():
    outcomes = list(run(range(CASES), SEED, jobs=1))
    failed = [
        f"{one.detail} (python -m tests.hardening.damage --seed {SEED} --case {one.case})"
        for one in outcomes
        if one.kind == FAILED
    ]
    assert not failed, "\n".join(failed)
    assert len(outcomes) == CASES
    assert sum(one.kind == REFUSED for one in outcomes) > CASES // 4  # damage is noticed
