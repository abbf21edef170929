"""Stores of other packages, found by the scheme of a location."""

import sys

import numpy as np
import pytest

from softhash import plugins
from softhash.errors import InputError, UsageError
from softhash.index import Entry, HammingIndex
from softhash.index.local import LocalStore
from softhash.index.milvus import MilvusStore
from softhash.index.registry import choose_store

STORE = '''
from pathlib import Path

from softhash.index.local import LocalStore


def find_folder(location):
    return str(Path({mount!r}) / location.removeprefix("nas://"))


class NasStore(LocalStore):
    """nas://photos is a folder of a mounted share."""

    @classmethod
    def create(cls, location, meta):
        return super().create(find_folder(location), meta)

    @classmethod
    def open(cls, location, *, writable=False):
        return super().open(find_folder(location), writable=writable)
'''


@pytest.fixture
def installed(tmp_path, monkeypatch):
    """Install a package with a store, as pip would."""
    site = tmp_path / "site"
    about = site / "softhash_nas-1.0.dist-info"
    about.mkdir(parents=True)
    (about / "METADATA").write_text("Metadata-Version: 2.1\nName: softhash-nas\nVersion: 1.0\n")
    (about / "entry_points.txt").write_text(
        "[softhash.stores]\nnas = softhash_nas:NasStore\nlost = softhash_nas:Gone\n"
        "milvus = softhash_nas:NasStore\n"
    )
    (site / "softhash_nas.py").write_text(STORE.format(mount=str(tmp_path / "share")))
    monkeypatch.syspath_prepend(str(site))
    yield tmp_path / "share"
    sys.modules.pop("softhash_nas", None)


def test_an_installed_store_is_opened_by_its_scheme(installed):
    with HammingIndex.create("nas://photos", bits=8) as index:
        index.add_codes(np.array([[0], [7]], np.uint8), [Entry("a"), Entry("b")])
    assert (installed / "photos" / "index.json").exists()
    with HammingIndex.open("nas://photos") as index:
        assert type(index.store).__name__ == "NasStore"
        assert [hit.file_name for hit in index.search(code="07")] == ["b", "a"]


def test_built_in_stores_come_first(installed, tmp_path):
    assert choose_store("milvus://host/photos") is MilvusStore
    assert choose_store("Milvus+TLS://host/photos") is MilvusStore
    assert choose_store("photos.index") is LocalStore
    assert choose_store(tmp_path / "nas") is LocalStore


def test_an_unknown_scheme_is_wrong_use_and_the_known_ones_are_named(installed):
    with pytest.raises(UsageError) as wrong:
        HammingIndex.open("mivlus://user:secret@host/photos")
    assert wrong.value.detail == "unknown scheme of an index 'mivlus'"
    assert wrong.value.hint.startswith("did you mean 'milvus'? known: ")
    assert {"milvus", "milvus+tls", "nas"} <= set(wrong.value.hint.split("known: ")[1].split(", "))
    assert "secret" not in str(wrong.value)


def test_a_store_that_cannot_be_imported_is_named_with_its_package(installed):
    with pytest.raises(
        InputError, match="store 'lost' of package 'softhash-nas' cannot be imported"
    ):
        HammingIndex.open("lost://photos")


def test_plain_folders_ask_for_no_plug_ins(tmp_path, monkeypatch):
    monkeypatch.setattr(plugins, "load_plugin", lambda group, name: 1 / 0)
    HammingIndex.create(tmp_path / "index", bits=8).close()
