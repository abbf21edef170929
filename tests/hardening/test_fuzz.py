"""A sample of mutated files for every reader; `python -m tests.hardening.fuzz N` runs more."""

from collections import Counter

import pytest

from .fuzz import QUICK, fuzz
from .sandbox import FAILED

pytestmark = pytest.mark.slow

FILES = 2_200
SEED = 1


def test_readers_of_mutated_files_raise_nothing_but_errors_of_softhash():
    counts, failed = Counter(), []
    for name, outcome in fuzz(QUICK, range(FILES), SEED, jobs=1):
        counts[name] += 1
        if outcome.kind == FAILED:
            failed.append(f"{name}: {outcome.detail} (--seed {SEED} --quick --case {outcome.case})")
    assert not failed, "\n".join(failed)
    assert counts.total() == FILES
    assert min(counts[name] for name in QUICK) > 10
