"""Folders of the cache: nobody else may write to them."""

import os
import sys
from pathlib import Path

import pytest

from softhash.errors import InputError
from softhash.files import make_private

pytestmark = pytest.mark.skipif(sys.platform == "win32", reason="no such permissions")


def mode(folder: Path) -> int:
    return folder.stat().st_mode & 0o777


def test_a_new_folder_is_for_its_user_alone(tmp_path):
    assert make_private(tmp_path / "a" / "b")
    assert mode(tmp_path / "a" / "b") == 0o700
    assert make_private(tmp_path / "a" / "b")


@pytest.mark.parametrize("given", [0o777, 0o775, 0o757])
def test_a_folder_that_others_can_write_to_is_closed_and_reported(tmp_path, given):
    (tmp_path / "open").mkdir()
    (tmp_path / "open").chmod(given)
    assert not make_private(tmp_path / "open")
    assert mode(tmp_path / "open") == given & ~0o022
    assert make_private(tmp_path / "open")


def test_a_folder_that_others_can_read_stays_so(tmp_path):
    (tmp_path / "readable").mkdir(mode=0o755)
    assert make_private(tmp_path / "readable")
    assert mode(tmp_path / "readable") == 0o755


def test_a_folder_of_another_user_is_refused(tmp_path, monkeypatch):
    monkeypatch.setattr(os, "geteuid", lambda: tmp_path.stat().st_uid + 1)
    if tmp_path.stat().st_uid:
        with pytest.raises(InputError, match=r"other users; set XDG_CACHE_HOME"):
            make_private(tmp_path)
        return
    assert make_private(tmp_path)  # the system's own user may do anything anyway
    tmp_path.chmod(0o777)
    with pytest.raises(InputError, match=r"other users; set XDG_CACHE_HOME"):
        make_private(tmp_path)


@pytest.mark.skipif(not hasattr(os, "geteuid") or os.geteuid() != 0, reason="needs root")
def test_a_link_or_folder_planted_by_another_user_is_refused(tmp_path):
    (tmp_path / "theirs").mkdir()
    os.chown(tmp_path / "theirs", 12345, 12345)
    (tmp_path / "link").symlink_to(tmp_path)
    os.lchown(tmp_path / "link", 12345, 12345)
    for name in ("theirs", "link"):
        with pytest.raises(InputError, match="can be written to by other users"):
            make_private(tmp_path / name)
