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


@pytest.mark.parametrize(
    ("group", "files", "expected"),
    [
        ("0::/\n", {"cpu.max": "150000 100000\n"}, 2),
        ("0::/a/b\n", {"a/b/cpu.max": "max 100000\n", "a/cpu.max": "300000 100000\n"}, 3),
        ("0::/not/seen\n", {"cpu.max": "50000 100000\n"}, 1),
        (
            "5:cpuacct,cpu:/x\n0::/\n",
            {"cpu/x/cpu.cfs_quota_us": "400000\n", "cpu/x/cpu.cfs_period_us": "100000\n"},
            4,
        ),
        ("1:cpu:/\n", {"cpu/cpu.cfs_quota_us": "-1\n", "cpu/cpu.cfs_period_us": "100000\n"}, 64),
        ("0::/\n", {"cpu.max": "damaged\n"}, 64),
        (None, {}, 64),
    ],
)
def test_a_container_has_the_cores_that_its_time_is_worth(
    group, files, expected, monkeypatch, tmp_path
):
    groups = tmp_path / "groups"
    for name, text in files.items():
        (groups / name).parent.mkdir(parents=True, exist_ok=True)
        (groups / name).write_text(text)
    if group is not None:
        (tmp_path / "group").write_text(group)
    monkeypatch.setattr(devices, "GROUP", tmp_path / "group")
    monkeypatch.setattr(devices, "GROUPS", groups)
    monkeypatch.setattr(devices, "_limits", [1 << 30])
    monkeypatch.setattr(devices.os, "sched_getaffinity", lambda _: range(64), raising=False)
    devices._cores_of_group.cache_clear()
    try:
        assert devices.usable_cores() == expected
    finally:
        devices._cores_of_group.cache_clear()
