"""Checks of a collection: its fields, its index and every row."""

from collections.abc import Callable, Iterator

import numpy as np

from softhash.codes import row_bytes
from softhash.index.milvus import _rows
from softhash.index.milvus._collection import Collection
from softhash.index.milvus._names import first_id

MAX_LINES = 20
Progress = Callable[[int, int], None] | None


def problems(collection: Collection, bits: int, progress: Progress) -> list[str]:
    """Return one line for each problem, and a last line with how many more there are.

    Args:
        collection: what is checked.
        bits: length of the codes.
        progress: called with (rows read, rows).

    """
    found = _rows.wrong_fields(collection.describe(), bits) + _wrong_index(collection)
    more = 0
    for line in _wrong_rows(collection, bits, progress):
        if len(found) < MAX_LINES:
            found.append(line)
        else:
            more += 1
    return [*found, f"and {more:,} more"] if more else found


def _wrong_index(collection: Collection) -> list[str]:
    index = collection.index()
    kind, metric = index.get("index_type"), index.get("metric_type")
    if (kind, metric) == ("BIN_FLAT", "HAMMING"):
        return []
    return [f"the index over the codes is {kind} with {metric}; it must be BIN_FLAT with HAMMING"]


def _wrong_rows(collection: Collection, bits: int, progress: Progress) -> Iterator[str]:
    """Read every row once; 8 bytes of each name are kept, to find names that occur twice."""
    total = collection.count()
    names = np.empty(total + 1024, np.int64)
    unused = (1 << (-bits % 8)) - 1
    done = 0
    for row in collection.walk(_rows.ITEM_FIELDS):
        code = _rows.decode_code(row)
        if len(code) != row_bytes(bits) or code[-1] & unused:
            yield f"item {row['id']} has a code that is not one of {bits} bits: {code.hex()}"
        if done < len(names):
            names[done] = first_id(row["file_name"])
        done += 1
        if progress is not None and done % 1000 == 0:
            progress(min(done, total), total)
    if progress is not None:
        progress(done, done)
    if done != total:
        yield f"the server counts {total:,} items, but hands out {done:,}"
    values, times = np.unique(names[:done], return_counts=True)
    for value in values[times > 1]:
        yield f"two items have one file name (its hash is {value})"
