"""Which device is picked, and what is raised where torch is not installed."""

import sys

import pytest

from softhash import devices
from softhash.devices import pick_device, require_torch
from softhash.errors import MissingExtraError, UsageError


@pytest.fixture
def no_torch(monkeypatch):
    monkeypatch.setitem(sys.modules, "torch", None)


def test_torch_is_missed_by_name_with_the_extra_that_brings_it(no_torch):
    with pytest.raises(MissingExtraError, match=r"needs torch.* pip install 'softhash\[train\]'"):
        require_torch()


def test_a_gpu_without_torch_is_not_used_unless_asked_for(no_torch, monkeypatch):
    monkeypatch.setattr(devices, "_has_nvidia_driver", lambda: True)
    assert pick_device("auto") == "cpu"
    assert pick_device("cpu") == "cpu"
    with pytest.raises(MissingExtraError):
        pick_device("cuda")


def test_a_driver_is_looked_for_without_torch(no_torch, monkeypatch, tmp_path):
    monkeypatch.setattr(devices, "DRIVER_FILES", (str(tmp_path / "nvidiactl"),))
    assert not devices._has_nvidia_driver()
    (tmp_path / "nvidiactl").touch()
    assert devices._has_nvidia_driver()


def test_on_windows_the_driver_is_a_library(monkeypatch):
    monkeypatch.setattr(sys, "platform", "win32")
    for found in (None, "C:/Windows/System32/nvcuda.dll"):
        monkeypatch.setattr(devices, "find_library", {"nvcuda": found}.get)
        assert devices._has_nvidia_driver() == (found is not None)


def test_an_unknown_device_is_refused():
    with pytest.raises(UsageError, match="unknown device 'gpu'"):
        pick_device("gpu")


@pytest.mark.parametrize(
    ("machine", "facts", "expected"),
    [
        ("x86_64", "processor : 0\nflags\t\t: fpu avx2 avx512_vnni\n", True),
        ("x86_64", "flags : fpu avx_vnni\n", True),
        ("x86_64", "flags : fpu avx2\n", False),
        ("x86_64", None, False),
        ("aarch64", "Features : asimddp\nflags : avx_vnni", False),
    ],
)
def test_the_instructions_are_found_in_what_linux_says(
    machine, facts, expected, monkeypatch, tmp_path
):
    if facts is not None:
        (tmp_path / "cpuinfo").write_text(facts)
    monkeypatch.setattr(devices, "CPU_FACTS", tmp_path / "cpuinfo")
    monkeypatch.setattr(devices.platform, "machine", lambda: machine)
    devices.has_vnni.cache_clear()
    try:
        assert devices.has_vnni() is expected
    finally:
        devices.has_vnni.cache_clear()
