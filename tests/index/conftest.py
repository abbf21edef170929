"""Every kind of store there is, for tests that all must pass."""

import pytest
from memory_store import MemoryStore
from milvus_server import milvus_store, start_server

from softhash.index.local import LocalStore

# name → how to make an empty store, given a folder of its own and what holds for it; a factory
# calls pytest.skip where what it needs is not there
STORES = {
    "memory": lambda folder, meta: MemoryStore.create("memory", meta),
    "local": lambda folder, meta: LocalStore.create(str(folder / "index"), meta),
    "milvus": lambda folder, meta: milvus_store(start_server(), meta),
}
SLOW = {"milvus"}


@pytest.fixture(
    params=[pytest.param(n, marks=pytest.mark.slow) if n in SLOW else n for n in STORES]
)
def make_store(request, tmp_path, monkeypatch):
    """Make empty stores of one kind, which are closed in the end."""
    monkeypatch.setenv("XDG_CACHE_HOME", str(tmp_path / "cache"))  # for the locks of some
    made = []

    def make(meta):
        folder = tmp_path / str(len(made))
        folder.mkdir()
        made.append(STORES[request.param](folder, meta))
        return made[-1]

    yield make
    for store in made:
        store.close()
