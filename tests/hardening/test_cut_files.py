"""A file of an index that is cut under a reader does not end its process by a signal."""

import subprocess
import sys

import numpy as np
import pytest

from softhash.index.items import Entry
from softhash.index.local import LocalStore
from softhash.index.store import Meta

pytestmark = pytest.mark.slow

ITEMS = 20_000  # many pages of memory
PROGRAM = """
import os, sys
import numpy as np
from softhash.errors import IndexDamagedError
from softhash.index.expressions import build_where
from softhash.index.local import LocalStore

folder, query = sys.argv[1], np.zeros((1, 8), np.uint8)
for name in ("codes.bin", "labels-1.bin"):
    store = LocalStore.open(folder)
    store.search(query, 3, where=build_where(("even",)))
    path = os.path.join(folder, name)
    with open(path, "rb") as file:
        whole = file.read()
    os.truncate(path, 0)
    for where in (build_where(("even",)), build_where(("odd",)), build_where(("even",), ("odd",))):
        try:
            store.search(query, 3, where=where)
        except IndexDamagedError as error:
            print(error)
    store.close()
    with open(path, "wb") as file:
        file.write(whole)
assert len(LocalStore.open(folder).search(query, 3)[0]) == 3
"""


def test_file_cut_under_a_reader_does_not_end_its_process(tmp_path):
    store = LocalStore.create(str(tmp_path / "index"), Meta(64))
    codes = np.random.default_rng(0).integers(0, 256, (ITEMS, 8), dtype=np.uint8)
    store.add(codes, [Entry(f"{i}", (("even", "odd")[i % 2],)) for i in range(ITEMS)])
    store.close()
    done = subprocess.run(
        [sys.executable, "-c", PROGRAM, str(tmp_path / "index")],
        capture_output=True,
        text=True,
        timeout=60,
        check=False,
    )
    assert done.returncode == 0, done.stderr
    assert done.stdout.count("codes.bin is damaged: it holds 0 of 20,000 records") == 3
    assert done.stdout.count("labels-1.bin is damaged: it holds 0 of 20,000 records") == 3
