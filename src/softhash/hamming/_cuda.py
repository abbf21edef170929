"""Counts on a GPU: one Triton kernel compares, one counts; torch ranks.

Codes and labels become 32-bit words laid out word by word, (words, n), so that neighbouring threads
read neighbouring addresses. Work is cut into pieces of bounded size: never queries × n at once.
"""

import torch
import triton
from torch import Tensor

from softhash.hamming._triton import cells_kernel, histogram_kernel

PAIRS_AT_ONCE = 1 << 27  # compared pairs held in memory: 1 GB of 64-bit candidates
CELLS_IN_REGISTERS = 4096  # a larger histogram is filled by torch instead
BLOCK = 1024
STEPS = 16


def _words(rows: Tensor) -> Tensor:
    """Lay out packed rows (n, bytes) as 32-bit words (⌈bytes/4⌉, n)."""
    padded = torch.nn.functional.pad(rows, (0, -rows.shape[1] % 4))
    return padded.view(torch.int32).t().contiguous()


def _label_words(labels: Tensor) -> Tensor:
    """Pack multi-hot labels (n, classes) into 32-bit words (⌈classes/32⌉, n)."""
    bits = torch.nn.functional.pad((labels > 0).to(torch.int64), (0, -labels.shape[1] % 32))
    places = torch.arange(32, device=labels.device)
    words = (bits.view(len(labels), -1, 32) << places).sum(dim=2)
    return words.to(torch.int32).t().contiguous()


def _cells(
    queries: Tensor, words: Tensor, query_labels: Tensor, labels: Tensor, levels: int
) -> Tensor:
    """Return ``distance · levels + shared labels`` of all pairs, (queries, n)."""
    count, n = queries.shape[1], words.shape[1]
    cells = torch.empty((count, n), dtype=torch.int32, device=words.device)
    grid = (triton.cdiv(n, BLOCK), count)
    cells_kernel[grid](
        queries, words, query_labels, labels, cells, count, n, levels,
        WORDS=len(words), LABEL_WORDS=len(labels), BLOCK=BLOCK,
    )  # fmt: skip
    return cells


def _levels(query_labels: Tensor, labels: Tensor) -> int:
    return 1 + min(int((side > 0).sum(dim=1).max()) for side in (query_labels, labels))


def histogram(query_codes: Tensor, codes: Tensor, query_labels: Tensor, labels: Tensor) -> Tensor:
    """Count the items at each distance and number of shared labels, for each query."""
    count, n = len(query_codes), len(codes)
    shape = (count, 8 * codes.shape[1] + 1, _levels(query_labels, labels))
    used = shape[1] * shape[2]
    sides = _words(query_codes), _words(codes), _label_words(query_labels), _label_words(labels)
    if used >= CELLS_IN_REGISTERS:
        return _large_histogram(sides, shape)
    counts = torch.zeros(shape, dtype=torch.int32, device=codes.device)
    histogram_kernel[(count, triton.cdiv(n, BLOCK * STEPS))](
        *sides, counts, count, n, shape[2], used,
        WORDS=len(sides[1]), LABEL_WORDS=len(sides[3]), CELLS=triton.next_power_of_2(used + 1),
        BLOCK=BLOCK, STEPS=STEPS,
    )  # fmt: skip
    return counts


def _large_histogram(
    sides: tuple[Tensor, Tensor, Tensor, Tensor], shape: tuple[int, int, int]
) -> Tensor:
    """Count by torch, a few queries at a time."""
    queries, words, query_labels, labels = sides
    used, group = shape[1] * shape[2], max(1, PAIRS_AT_ONCE // words.shape[1])
    counts = []
    for first in range(0, shape[0], group):
        some = slice(first, first + group)
        cells = _cells(
            queries[:, some].contiguous(),
            words,
            query_labels[:, some].contiguous(),
            labels,
            shape[2],
        )
        offset = torch.arange(len(cells), device=cells.device)[:, None] * used
        counts.append(torch.bincount((cells + offset).flatten(), minlength=len(cells) * used))
    return torch.cat(counts).to(torch.int32).view(shape)


def ranked_gains(
    query_codes: Tensor, codes: Tensor, query_labels: Tensor, labels: Tensor, first: int
) -> Tensor:
    """Count the shared labels of the ``first`` nearest items, ties in database order."""
    levels = _levels(query_labels, labels)
    words, label_words = _words(codes), _label_words(labels)
    group = max(1, PAIRS_AT_ONCE // len(codes))
    gains = []
    for start in range(0, len(query_codes), group):
        some = slice(start, start + group)
        cells = _cells(
            _words(query_codes[some]), words, _label_words(query_labels[some]), label_words, levels
        )
        order = (cells // levels).sort(dim=1, stable=True).indices[:, :first]
        gains.append((cells % levels).gather(1, order).to(torch.int16))
    return torch.cat(gains)
