import pytest

from softhash.errors import InputError
from softhash.files import write_whole


def test_write_whole_keeps_an_existing_file_unless_forced(tmp_path):
    path = tmp_path / "report.json"
    write_whole(path, "one")
    with pytest.raises(InputError, match="--force"):
        write_whole(path, "two")
    assert path.read_text() == "one"
    write_whole(path, b"two", force=True)
    assert path.read_bytes() == b"two"
    assert list(tmp_path.iterdir()) == [path]


def test_write_whole_names_a_folder_that_is_not_there(tmp_path):
    with pytest.raises(InputError, match="cannot write"):
        write_whole(tmp_path / "missing" / "report.json", "one")


def test_a_failed_write_leaves_the_old_file_and_no_litter(tmp_path, monkeypatch):
    path = tmp_path / "report.json"
    write_whole(path, "old")

    def full(descriptor):
        raise OSError(28, "No space left on device")

    monkeypatch.setattr("softhash.files.os.fsync", full)
    with pytest.raises(InputError, match="No space left"):
        write_whole(path, "new", force=True)
    assert path.read_text() == "old"
    assert list(tmp_path.iterdir()) == [path]
