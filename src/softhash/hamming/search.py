"""Exact Hamming search and the counts that evaluation needs, over packed codes.

Arrays are numpy (a `np.memmap` is read in place) or CUDA tensors; with CUDA tensors the same
functions run on the GPU and return tensors. Distances and positions come in (distance, position)
order: ties fall to the lower position.

>>> codes = np.array([[0b00000000], [0b00000001], [0b11111111], [0b00000010]], np.uint8)
>>> nearest(codes[:1], codes, k=3)
(array([[0, 1, 1]]), array([[0, 1, 3]]))
>>> nearest(codes[:1], codes, k=3, mask=np.array([False, True, True, False]))
(array([[1, 8]]), array([[1, 2]]))
>>> within(codes[:1], codes, radius=1)
[(array([0, 1, 1]), array([0, 1, 3]))]
"""

from collections.abc import Sequence
from typing import Any, TypeAlias

import numpy as np

from softhash.devices import usable_cores
from softhash.errors import InputError, UsageError
from softhash.hamming import _cpu, _labels
from softhash.hamming._scan import count_live
from softhash.hamming.words import Words, pack_mask

__all__ = ["check_rows", "histogram", "nearest", "pack_mask", "ranked_gains", "within"]

Array: TypeAlias = Any  # a numpy array, or a torch tensor on a CUDA device

_NO_MASK = np.empty(0, np.uint64)


def nearest(
    queries: Array, codes: Array, k: int, *, mask: Array | None = None, threads: int | None = None
) -> tuple[Array, Array]:
    """Find the ``k`` codes nearest to each query: distances and positions, both (queries, k).

    ``mask`` (n,) keeps the items where it is true; `pack_mask` packs one that is used often. There
    are fewer than k columns when fewer items are there.
    """
    _check_pair(queries, codes)
    if k < 1:
        raise UsageError(f"k is {k}", "ask for at least 1 neighbour")
    if _on_gpu(queries, codes):
        from softhash.hamming import _cuda

        return _cuda.nearest(queries, codes, k, mask)
    live = _live(mask, len(codes))
    k = min(k, count_live(live) if mask is not None else len(codes))
    return _cpu.nearest(queries, codes, k, live, _threads(threads))


def within(
    queries: Array,
    codes: Array,
    radius: int,
    *,
    mask: Array | None = None,
    threads: int | None = None,
) -> list[tuple[Array, Array]]:
    """Find all codes at distance ``radius`` or less: distances and positions for each query."""
    _check_pair(queries, codes)
    if radius < 0:
        raise UsageError(f"the radius is {radius}", "a Hamming distance is 0 or more")
    if _on_gpu(queries, codes):
        from softhash.hamming import _cuda

        return _cuda.within(queries, codes, radius, mask)
    return _cpu.within(queries, codes, radius, _live(mask, len(codes)), _threads(threads))


def histogram(
    query_codes: Array,
    codes: Array,
    query_labels: Array,
    labels: Array,
    *,
    threads: int | None = None,
) -> Array:
    """Count the items at each distance that share 0, 1, 2, … labels with each query.

    Labels are multi-hot, (queries, classes) and (n, classes). The result is (queries, distances,
    levels) with as many levels as occur can.

    >>> codes = np.array([[0b00], [0b01], [0b11]], np.uint8)
    >>> labels = np.array([[1, 1], [1, 0], [0, 0]], np.uint8)
    >>> histogram(codes[:1], codes, labels[:1], labels)[0, :3]
    array([[0, 0, 1],
           [0, 1, 0],
           [1, 0, 0]], dtype=int32)
    """
    _check_pair(query_codes, codes)
    check_rows(query_codes, codes, query_labels, labels)
    if _on_gpu(query_codes, codes):
        from softhash.hamming import _cuda

        return _cuda.histogram(query_codes, codes, query_labels, labels)
    return _labels.histogram(query_codes, codes, query_labels, labels, _threads(threads))


def ranked_gains(
    query_codes: Array,
    codes: Array,
    query_labels: Array,
    labels: Array,
    *,
    first: int,
    threads: int | None = None,
) -> Array:
    """Count the labels each query shares with its ``first`` nearest items, in ranked order.

    >>> codes = np.array([[0b11], [0b00], [0b01]], np.uint8)
    >>> labels = np.array([[0, 1], [1, 1], [1, 0]], np.uint8)
    >>> ranked_gains(codes[1:2], codes, labels[1:2], labels, first=3)
    array([[2, 1, 1]], dtype=uint16)
    """
    _check_pair(query_codes, codes)
    check_rows(query_codes, codes, query_labels, labels)
    first = min(first, len(codes))
    if _on_gpu(query_codes, codes):
        from softhash.hamming import _cuda

        return _cuda.ranked_gains(query_codes, codes, query_labels, labels, first)
    return _labels.ranked_gains(query_codes, codes, query_labels, labels, first, _threads(threads))


def check_rows(
    query_codes: Array,
    database_codes: Array,
    query_labels: Array,
    database_labels: Array,
    names: Sequence[object] = ("query codes", "database codes", "query labels", "database labels"),
) -> None:
    """Raise, naming the culprits, when codes and labels do not belong together."""
    for codes, labels, of_codes, of_labels in (
        (query_codes, query_labels, names[0], names[2]),
        (database_codes, database_labels, names[1], names[3]),
    ):
        if len(codes) != len(labels):
            raise InputError(
                f"{of_codes} has {len(codes)} rows and {of_labels} {len(labels)}",
                "both must have one row an image",
            )
    if query_labels.shape[1] != database_labels.shape[1]:
        raise InputError(
            f"{names[2]} has {query_labels.shape[1]} classes and {names[3]} "
            f"{database_labels.shape[1]}",
            "both must name the same classes in the same order",
        )


def _on_gpu(*arrays: Array) -> bool:
    return any(getattr(array, "is_cuda", False) for array in arrays)


def _threads(threads: int | None) -> int:
    if threads is not None and threads < 1:
        raise UsageError(f"threads is {threads}", "it takes at least 1")
    return threads or usable_cores()


def _live(mask: Array | None, n: int) -> Words:
    if mask is None:
        return _NO_MASK
    if mask.dtype == np.uint64 and mask.shape == ((n + 63) // 64,):
        return mask  # type: ignore[no-any-return]
    if mask.dtype != np.bool_ or mask.shape != (n,):
        raise InputError(
            f"the mask is {mask.dtype} of shape {mask.shape}",
            f"it must be bool of shape ({n},), or come from pack_mask",
        )
    return pack_mask(mask)


def _check_pair(queries: Array, codes: Array) -> None:
    for name, array in (("queries", queries), ("codes", codes)):
        if array.ndim != 2 or "uint8" not in str(array.dtype):
            raise InputError(
                f"{name} are {array.dtype} of shape {tuple(array.shape)}",
                "packed codes are uint8 of shape (n, bytes)",
            )
    if queries.shape[1] != codes.shape[1]:
        raise InputError(
            f"queries have {queries.shape[1]} bytes a row and codes {codes.shape[1]}",
            "were they made with different numbers of bits?",
        )
    if not len(queries) or not len(codes):
        raise InputError(f"{len(queries)} queries and {len(codes)} codes: there is nothing to rank")
