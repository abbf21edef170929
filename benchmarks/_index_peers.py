"""Other ways to keep codes with items on disk, each with the same three verbs."""

import json
import sqlite3
import sys
from collections.abc import Iterator, Sequence
from contextlib import ExitStack, contextmanager, suppress
from pathlib import Path
from typing import Any, Protocol

import faiss
import numpy as np

from softhash.codes import Codes
from softhash.index.expressions import build_where
from softhash.index.items import Entry
from softhash.index.local import LocalStore
from softhash.index.store import Meta, Store
from softhash.index.where import EVERYTHING

BITS = 64


class Peer(Protocol):
    """What is measured."""

    def add(self, codes: Codes, entries: Sequence[Entry]) -> object:
        """Add items; they are safe on return."""

    def search(self, codes: Codes, k: int, label: str | None) -> object:
        """Find the nearest items, among those with a label where one is given."""

    def close(self) -> None:
        """Let go of everything."""


class OfStore:
    """A store of ours."""

    def __init__(self, store: Store) -> None:
        self.store = store
        self.close = store.close

    def add(self, codes: Codes, entries: Sequence[Entry]) -> object:
        """Add items."""
        return self.store.add(codes, entries)

    def search(self, codes: Codes, k: int, label: str | None) -> object:
        """Find the nearest items."""
        return self.store.search(codes, k, where=build_where((label,)) if label else EVERYTHING)


class FaissAndSqlite:
    """IndexBinaryFlat in memory; names, labels and, to be safe, codes in SQLite."""

    def __init__(self, folder: Path) -> None:
        self._index = faiss.IndexBinaryFlat(BITS)
        self._sql = sqlite3.connect(folder / "items.sqlite", isolation_level=None)
        self._sql.execute("PRAGMA journal_mode = WAL")
        self._sql.execute("PRAGMA synchronous = FULL")
        self._sql.execute(
            "CREATE TABLE items (id INTEGER PRIMARY KEY, name TEXT UNIQUE, labels TEXT, code BLOB)"
        )
        self._bitmaps: dict[str, Any] = {}

    def add(self, codes: Codes, entries: Sequence[Entry]) -> None:
        """Add items."""
        first = self._index.ntotal
        self._sql.execute("BEGIN")
        self._sql.executemany(
            "INSERT INTO items VALUES (?, ?, ?, ?)",
            (
                (first + i, entry.file_name, json.dumps(entry.labels), codes[i].tobytes())
                for i, entry in enumerate(entries)
            ),
        )
        self._sql.execute("COMMIT")
        self._index.add(codes)

    def search(self, codes: Codes, k: int, label: str | None) -> object:
        """Find the nearest items."""
        if label is None:
            return self._index.search(codes, k)
        if label not in self._bitmaps:
            query = "SELECT id FROM items WHERE labels LIKE ?"
            ids = [id for (id,) in self._sql.execute(query, (f'%"{label}"%',))]
            kept = np.zeros(self._index.ntotal, np.bool_)
            kept[ids] = True
            self._bitmaps[label] = np.packbits(kept, bitorder="little")
        chosen = faiss.IDSelectorBitmap(self._bitmaps[label])
        return self._index.search(codes, k, params=faiss.SearchParameters(sel=chosen))

    def close(self) -> None:
        """Close the database."""
        self._sql.close()


class Lance:
    """A LanceDB table, scanned exactly."""

    def __init__(self, folder: Path) -> None:
        import lancedb
        import pyarrow as pa

        self._pa = pa
        schema = pa.schema(
            [
                ("id", pa.int64()),
                ("name", pa.string()),
                ("labels", pa.list_(pa.string())),
                ("vector", pa.list_(pa.uint8(), BITS // 8)),
            ]
        )
        self._schema, self._count = schema, 0
        self._table = lancedb.connect(str(folder)).create_table("items", schema=schema)

    def add(self, codes: Codes, entries: Sequence[Entry]) -> None:
        """Add items."""
        pa, n = self._pa, len(entries)
        columns = [
            pa.array(range(self._count, self._count + n)),
            pa.array([entry.file_name for entry in entries]),
            pa.array([list(entry.labels) for entry in entries]),
            pa.FixedSizeListArray.from_arrays(pa.array(codes.reshape(-1)), BITS // 8),
        ]
        self._table.add(pa.table(columns, schema=self._schema))
        self._count += n

    def search(self, codes: Codes, k: int, label: str | None) -> object:
        """Find the nearest items."""
        asked = self._table.search(codes[0], vector_column_name="vector", query_type="vector")
        asked = asked.distance_type("hamming").limit(k).select(["id", "_distance"])
        if label is not None:
            asked = asked.where(f"array_has(labels, '{label}')", prefilter=True)
        return asked.to_arrow()

    def close(self) -> None:
        """Nothing stays open."""


@contextmanager
def milvus_store(folder: Path) -> Iterator[OfStore]:
    """Start a Milvus server in a folder, with our store on it."""
    from milvus import MilvusServer

    from softhash.index.milvus import MilvusStore

    server = MilvusServer()
    server.set_base_dir(str(folder))
    server.start()
    try:
        location = f"milvus://127.0.0.1:{server.listen_port}/benchmark"
        store = MilvusStore.create(location, Meta(BITS))
        yield OfStore(store)
        store.close()
    finally:
        server.stop()


@contextmanager
def every_peer(folder: Path) -> Iterator[dict[str, Peer]]:
    """Make all that can be made here, ours first; say what cannot."""
    for name in ("faiss", "milvus"):
        (folder / name).mkdir()
    with ExitStack() as stack:
        peers: dict[str, Peer] = {
            "ours": OfStore(LocalStore.create(str(folder / "ours"), Meta(BITS))),
            "faiss + SQLite": FaissAndSqlite(folder / "faiss"),
        }
        with suppress_missing("LanceDB"):
            peers["LanceDB"] = Lance(folder / "lance")
        for peer in peers.values():
            stack.callback(peer.close)
        with suppress_missing("Milvus"):
            peers["Milvus"] = stack.enter_context(milvus_store(folder / "milvus"))
        yield peers


@contextmanager
def suppress_missing(name: str) -> Iterator[None]:
    """Go on without a peer that is not installed."""
    with suppress(ImportError):
        yield
        return
    print(f"{name} is not installed here: its rows are left out", file=sys.stderr)
