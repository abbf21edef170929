"""What evaluation needs of rankings by Hamming distance: counts, without sorting anything.

Arrays are numpy or CUDA tensors, as for the search. Labels are multi-hot, one row per image.
"""

from collections.abc import Sequence

from softhash.errors import InputError
from softhash.hamming import _cpu_counts
from softhash.hamming._checks import Array, check_pair, count_threads, on_gpu


def histogram(
    query_codes: Array,
    codes: Array,
    query_labels: Array,
    labels: Array,
    *,
    threads: int | None = None,
) -> Array:
    """Count the items at each distance that share 0, 1, 2, … labels with each query.

    Args:
        query_codes: packed codes (q, bytes).
        codes: packed codes (n, bytes) of the database.
        query_labels: multi-hot (q, classes).
        labels: multi-hot (n, classes).
        threads: of the processor; all usable cores by default.

    Returns:
        Counts (q, distances, levels), with as many levels of shared labels as can occur.

    >>> import numpy as np
    >>> codes = np.array([[0b00], [0b01], [0b11]], np.uint8)
    >>> labels = np.array([[1, 1], [1, 0], [0, 0]], np.uint8)
    >>> histogram(codes[:1], codes, labels[:1], labels)[0, :3]
    array([[0, 0, 1],
           [0, 1, 0],
           [1, 0, 0]], dtype=int32)

    """
    check_pair(query_codes, codes)
    check_rows(query_codes, codes, query_labels, labels)
    if on_gpu(query_codes, codes):
        from softhash.hamming import _cuda

        return _cuda.histogram(query_codes, codes, query_labels, labels)
    return _cpu_counts.histogram(query_codes, codes, query_labels, labels, count_threads(threads))


def ranked_gains(
    query_codes: Array,
    codes: Array,
    query_labels: Array,
    labels: Array,
    *,
    first: int,
    threads: int | None = None,
) -> Array:
    """Count the labels each query shares with its nearest items, in ranked order.

    Args:
        query_codes: packed codes (q, bytes).
        codes: packed codes (n, bytes) of the database.
        query_labels: multi-hot (q, classes).
        labels: multi-hot (n, classes).
        first: how many of the nearest items to return.
        threads: of the processor; all usable cores by default.

    Returns:
        Shared labels (q, first), in (distance, position) order.

    >>> import numpy as np
    >>> codes = np.array([[0b11], [0b00], [0b01]], np.uint8)
    >>> labels = np.array([[0, 1], [1, 1], [1, 0]], np.uint8)
    >>> ranked_gains(codes[1:2], codes, labels[1:2], labels, first=3)
    array([[2, 1, 1]], dtype=uint16)

    """
    check_pair(query_codes, codes)
    check_rows(query_codes, codes, query_labels, labels)
    first, threads = min(first, len(codes)), count_threads(threads)
    if on_gpu(query_codes, codes):
        from softhash.hamming import _cuda

        return _cuda.ranked_gains(query_codes, codes, query_labels, labels, first)
    return _cpu_counts.ranked_gains(query_codes, codes, query_labels, labels, first, threads)


def check_rows(
    query_codes: Array,
    database_codes: Array,
    query_labels: Array,
    database_labels: Array,
    names: Sequence[object] = ("query codes", "database codes", "query labels", "database labels"),
) -> None:
    """Raise, naming the culprits, when codes and labels do not belong together.

    Args:
        query_codes: one row per query; any kind of rows will do.
        database_codes: one row per item.
        query_labels: (queries, classes).
        database_labels: (items, classes).
        names: what errors call the four of them.

    Raises:
        InputError: they differ in rows, or the labels in classes.

    """
    for codes, labels, of_codes, of_labels in (
        (query_codes, query_labels, names[0], names[2]),
        (database_codes, database_labels, names[1], names[3]),
    ):
        if len(codes) != len(labels):
            raise InputError(
                f"{of_codes} has {len(codes)} rows and {of_labels} {len(labels)}",
                "both must have one row per image",
            )
    if query_labels.shape[1] != database_labels.shape[1]:
        raise InputError(
            f"{names[2]} has {query_labels.shape[1]} classes and {names[3]} "
            f"{database_labels.shape[1]}",
            "both must name the same classes in the same order",
        )
