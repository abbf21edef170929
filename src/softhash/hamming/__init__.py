"""Exact Hamming search and counts over packed codes, on processors and GPUs."""

from softhash.hamming._checks import Array
from softhash.hamming.counts import check_rows, histogram, ranked_gains
from softhash.hamming.search import nearest, within
from softhash.hamming.words import pack_mask

__all__ = ["Array", "check_rows", "histogram", "nearest", "pack_mask", "ranked_gains", "within"]
