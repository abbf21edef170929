"""Exact Hamming search and counts over packed codes, on processors and GPUs."""

from softhash.hamming.search import (
    Array,
    check_rows,
    histogram,
    nearest,
    pack_mask,
    ranked_gains,
    within,
)

__all__ = ["Array", "check_rows", "histogram", "nearest", "pack_mask", "ranked_gains", "within"]
