"""One pool of threads for kernels, which release the GIL: parts of a range, side by side."""

import os
from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor
from functools import cache
from typing import TypeVar

from softhash.devices import usable_cores

Result = TypeVar("Result")


@cache
def _pool() -> ThreadPoolExecutor:
    return ThreadPoolExecutor(usable_cores(), thread_name_prefix="softhash")


if hasattr(os, "register_at_fork"):  # a child has none of the threads: it starts its own
    os.register_at_fork(after_in_child=_pool.cache_clear)


def in_parts(
    n: int, threads: int, work: Callable[[int, int], Result], multiple_of: int = 1
) -> list[Result]:
    """Call ``work(start, stop)`` on even parts of range(n), side by side.

    Args:
        n: the end of the range.
        threads: how many parts, at most.
        work: returns the result of a part; it must not call this function itself.
        multiple_of: what all parts but the last are multiples of.

    """
    step = max(1, -(-n // (multiple_of * threads))) * multiple_of
    others = [_pool().submit(work, start, min(start + step, n)) for start in range(step, n, step)]
    return [work(0, min(step, n)), *(other.result() for other in others)]
