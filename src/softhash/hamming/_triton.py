"""The two GPU kernels; see ``_cuda`` for how rows are laid out."""

import triton
import triton.language as tl
from triton.language.extra import libdevice


@triton.jit
def compare(queries, words, query, item, inside, count, n, WORDS: tl.constexpr, SAME: tl.constexpr):
    """Count the bits in which a query and the items differ, or with SAME those both have."""
    total = tl.zeros_like(item)
    for word in tl.static_range(WORDS):
        a = tl.load(queries + word * count + query)
        b = tl.load(words + word * n + item, mask=inside, other=0)
        total += libdevice.popc(a & b if SAME else a ^ b)
    return total


@triton.jit
def cells_kernel(
    queries, words, query_labels, labels, cells, count, n, levels,
    WORDS: tl.constexpr, LABEL_WORDS: tl.constexpr, BLOCK: tl.constexpr,
):  # fmt: skip
    """Write ``distance · levels + shared labels`` of one query and a block of items."""
    query = tl.program_id(1)
    item = tl.program_id(0) * BLOCK + tl.arange(0, BLOCK)
    inside = item < n
    cell = compare(queries, words, query, item, inside, count, n, WORDS, False) * levels
    cell += compare(query_labels, labels, query, item, inside, count, n, LABEL_WORDS, True)
    tl.store(cells + query.to(tl.int64) * n + item, cell, mask=inside)


@triton.jit
def histogram_kernel(
    queries, words, query_labels, labels, counts, count, n, levels, used,
    WORDS: tl.constexpr, LABEL_WORDS: tl.constexpr, CELLS: tl.constexpr,
    BLOCK: tl.constexpr, STEPS: tl.constexpr,
):  # fmt: skip
    """Count the cells of a query and STEPS blocks of items; what lies past the end goes nowhere."""
    query = tl.program_id(0)
    bins = tl.arange(0, CELLS)
    found = tl.zeros([CELLS], tl.int32)
    for step in range(STEPS):
        item = (tl.program_id(1) * STEPS + step) * BLOCK + tl.arange(0, BLOCK)
        inside = item < n
        cell = compare(queries, words, query, item, inside, count, n, WORDS, False) * levels
        cell += compare(query_labels, labels, query, item, inside, count, n, LABEL_WORDS, True)
        # the spare cell ``used`` takes what lies past the end
        found += tl.histogram(tl.where(inside, cell, used), CELLS)
    tl.atomic_add(counts + query * used + bins, found, mask=(bins < used) & (found > 0))
