"""Every kind of store there is, for tests that all must pass."""

import pytest
from memory_store import MemoryStore

from softhash.index.local import LocalStore

# name → how to make an empty store, given a folder of its own and what holds for it; a factory
# calls pytest.skip where what it needs is not there
STORES = {
    "memory": lambda folder, meta: MemoryStore.create("memory", meta),
    "local": lambda folder, meta: LocalStore.create(str(folder / "index"), meta),
}


@pytest.fixture(params=list(STORES))
def make_store(request, tmp_path):
    """Make empty stores of one kind, which are closed in the end."""
    made = []

    def make(meta):
        folder = tmp_path / str(len(made))
        folder.mkdir()
        made.append(STORES[request.param](folder, meta))
        return made[-1]

    yield make
    for store in made:
        store.close()
