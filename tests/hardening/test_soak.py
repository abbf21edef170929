"""A short soak; ``python -m tests.hardening.soak 600`` is the long one."""

from pathlib import Path

import pytest

from . import soak
from .served import served, write_served

pytestmark = [
    pytest.mark.slow,
    pytest.mark.skipif(not Path("/proc/self/status").exists(), reason="memory is read from /proc"),
]
STILL_GROWING = 0.3  # caches fill, and the allocator has seen few pictures


def test_nothing_fails_and_little_grows_under_load(tmp_path, monkeypatch):
    monkeypatch.setattr(soak, "REST", 1.0)
    monkeypatch.setattr(soak, "MOST_GROWTH", STILL_GROWING)
    with served(write_served(tmp_path)) as server:
        found = soak.soak(server, 8)
    assert soak.is_sound(found), found
    assert found["requests"] > 100
    assert found["late"]["threads"] <= found["early"]["threads"] + 2
