"""A sample of faults in every scenario; `python -m tests.hardening.faults` tries all calls."""

import pytest

from .fault_scenarios import SCENARIOS
from .faults import KINDS, Injector, compiler, places

pytestmark = [
    pytest.mark.slow,
    pytest.mark.skipif(compiler() is None, reason="needs Linux and a C compiler"),
]

CALLS = 3  # of each kind and scenario


@pytest.fixture(scope="module")
def injector():
    with Injector() as started:
        yield started


@pytest.mark.parametrize("scenario", SCENARIOS)
def test_a_fault_loses_nothing_and_leaves_nothing_behind(injector, scenario):
    right = injector.right(scenario)
    for shift, kind in enumerate(KINDS):
        for place in places(right[0], CALLS):
            at = min(place + shift, right[0])
            problem = injector.problem(scenario, at, kind, right)
            command = f"python -m tests.hardening.faults {scenario} --kind {kind} --at {at}"
            assert problem is None, f"{problem} ({command})"
