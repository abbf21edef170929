"""A collection: reads that see what was written, and writes that may be sent twice."""

import time
from collections.abc import Callable, Iterator, Mapping, Sequence
from typing import Any, Self, TypeVar

from softhash.index.milvus import _rows
from softhash.index.milvus._address import Address
from softhash.index.milvus._expressions import both, one_of
from softhash.index.milvus._server import CONNECT_SECONDS, RETRIES, answering, connect
from softhash.index.store import Meta

MAX_RESULTS = 16_384  # results of one search or query, offset included: a limit of Milvus
IDS = 1 << 53  # ids are below it: JavaScript holds them, and a billion names hardly ever meet
WALK_ROWS = 5_000  # rows fetched at a time, which bounds memory
WRITE_ROWS = 10_000  # rows sent at a time: a few megabytes, Milvus takes up to 64
LOAD_SECONDS = 600.0
_SHORT: dict[str, Any] = {"timeout": CONNECT_SECONDS}
_HAMMING = "HAMMING"

Row = dict[str, Any]
Answer = TypeVar("Answer")


class Collection:
    """A collection on a server, and how recent its reads are.

    Milvus makes writes visible with the next tick of its clock (200 ms by default). A read with
    "Strong" consistency waits for the tick, one with "Bounded" does not. The first read, and the
    first after each write of this process or after a change that `changed` noticed, is Strong;
    all others are Bounded. ("Session" would wait for this process's own writes too, but not for
    deletions: servers of version 2.3 report no time for them.)
    """

    def __init__(self, address: Address, client: Any) -> None:
        self.address = address
        self._client = client
        self._name = address.collection
        self.writes, self._seen = 0, -1  # writes made, and those that reads are sure to see
        self._changed = 0
        self._left_out: frozenset[str] = frozenset()  # fields that this collection does not have

    @classmethod
    def connect(cls, address: Address) -> Self:
        """Connect to the server, whether or not the collection is there."""
        return cls(address, connect(address))

    def exists(self) -> bool:
        """Return whether the collection is there."""
        with answering(self.address):
            return bool(self._client.has_collection(self._name, **_SHORT))

    def create(self, meta: Meta) -> None:
        """Make it, with an exact index, ready to be searched."""
        index = self._client.prepare_index_params()
        index.add_index("code", index_type="BIN_FLAT", metric_type=_HAMMING)
        for field in ("file_name", "sha256"):  # what is looked up
            index.add_index(field, index_type="Trie")
        with answering(self.address):
            self._client.create_collection(
                self._name, schema=_rows.schema(meta), index_params=index, timeout=LOAD_SECONDS
            )

    def load(self) -> Meta:
        """Read its metadata, and get it ready to be searched."""
        description = self.describe()
        meta = _rows.read_meta(self.address, description)
        self._left_out = frozenset(() if _rows.has_uploaded(description) else [_rows.UPLOADED])
        with answering(self.address):
            state = self._client.get_load_state(self._name, **_SHORT)["state"]
            if getattr(state, "name", "") != "Loaded":
                self._client.load_collection(self._name, timeout=LOAD_SECONDS)
        return meta

    def describe(self) -> Mapping[str, Any]:
        """Fetch its description from the server."""
        with answering(self.address):
            found: Mapping[str, Any] = self._client.describe_collection(self._name, **_SHORT)
        return found

    def index(self) -> Mapping[str, Any]:
        """Fetch the description of the index over the codes; empty where there is none."""
        with answering(self.address):
            return self._client.describe_index(self._name, "code", **_SHORT) or {}

    def set_property(self, name: str, value: str) -> None:
        """Keep a string with the collection."""
        with answering(self.address):
            self._client.alter_collection_properties(self._name, {name: value}, **_SHORT)

    def changed(self) -> int:
        """Fetch when it was last changed; reads that follow see that change."""
        found = _rows.read_changed(self.describe())
        if found != self._changed:
            self._changed = found
            self.writes += 1
        return found

    def mark_changed(self) -> None:
        """Store the time of this change, so that other processes notice it."""
        self.writes += 1
        self._changed = max(self._changed + 1, time.time_ns() // 1000)
        self.set_property(_rows.CHANGED, str(self._changed))

    def upsert(self, rows: Sequence[Row]) -> None:
        """Write rows by id; a request whose answer was lost is sent again, which does no harm."""
        self.writes += 1
        with answering(self.address):
            for start in range(0, len(rows), WRITE_ROWS):
                part = [self._kept(row) for row in rows[start : start + WRITE_ROWS]]
                self._client.upsert(self._name, part, **RETRIES)

    def delete(self, ids: Sequence[int]) -> None:
        """Delete rows by id; those that are not there are ignored."""
        self.writes += 1
        with answering(self.address):
            for start in range(0, len(ids), WRITE_ROWS):
                expression = one_of("id", ids[start : start + WRITE_ROWS])
                self._client.delete(self._name, filter=expression, **RETRIES)

    def count(self, expression: str = "") -> int:
        """Count the rows that a filter keeps; "" keeps everything."""
        return int(self.query(expression, ["count(*)"])[0]["count(*)"])

    def query(self, expression: str, fields: Sequence[str], *, old: bool = False) -> list[Row]:
        """Fetch rows, in no order; with `old`, the newest may be missing."""

        def ask(consistency: str) -> list[Row]:
            found = self._client.query(
                self._name,
                filter=expression,
                output_fields=[field for field in fields if field not in self._left_out],
                consistency_level=consistency,
                **RETRIES,
            )
            return list(found)

        return self._read(ask, old=old)

    def search(
        self, codes: Sequence[bytes], limit: int, expression: str, bounds: Mapping[str, int]
    ) -> list[list[tuple[int, int]]]:
        """Find (distance, id) of the nearest to each code, in that order.

        Which of several items at the last distance are among them is undefined.

        Args:
            codes: the queries, in packed bytes.
            limit: how many to return for each.
            expression: the filter; "" keeps everything.
            bounds: `radius` and `range_filter`, as Milvus takes them.

        """

        def ask(consistency: str) -> list[list[tuple[int, int]]]:
            found = self._client.search(
                self._name,
                list(codes),
                filter=expression,
                limit=limit,
                search_params={"metric_type": _HAMMING, "params": dict(bounds)},
                anns_field="code",
                consistency_level=consistency,
                **RETRIES,
            )
            return [
                sorted((round(hit["distance"]), int(hit["id"])) for hit in hits) for hits in found
            ]

        return self._read(ask)

    def walk(
        self, fields: Sequence[str], *, after: int = -1, expression: str = "", size: int = WALK_ROWS
    ) -> Iterator[Row]:
        """Iterate over rows in id order, fetching about `size` at a time.

        A query with a limit returns any rows, not those of the lowest ids (pymilvus' iterator, on
        servers of version 2.3, leaves some out where others were deleted). So all rows of a window
        of ids are fetched; ids are hashes, evenly spread, so its width determines how many that is.

        Args:
            fields: names of the fields to fetch.
            after: the id before the first.
            expression: the filter; "" keeps everything.
            size: rows per query, about.

        """
        width = IDS * size // max(self.count(), size)
        while after < IDS:
            window = f"id > {after} and id <= {after + width}"
            part = self.query(both(window, expression), [*fields, "id"])
            yield from sorted(part, key=lambda row: int(row["id"]))
            after += width
            if len(part) < size // 2:  # few pass the filter
                width = min(4 * width, IDS)
            elif len(part) > 2 * size:
                width = max(width // 2, 1)

    def _kept(self, row: Row) -> Row:
        return {field: value for field, value in row.items() if field not in self._left_out}

    def _read(self, ask: Callable[[str], Answer], *, old: bool = False) -> Answer:
        writes = self.writes  # one that happens meanwhile may be missed by this read
        enough = self._seen >= (0 if old else writes)
        with answering(self.address):
            answer = ask("Bounded" if enough else "Strong")
        if not enough:
            self._seen = max(self._seen, writes)
        return answer

    def close(self) -> None:
        """Disconnect."""
        self._client.close()
