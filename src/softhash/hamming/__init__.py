"""Exact Hamming search and counts over packed codes, on processors and GPUs."""

from softhash.hamming._checks import Array
from softhash.hamming.counts import check_rows, histogram, ranked_gains
from softhash.hamming.multi_index import MultiIndex
from softhash.hamming.pairs import Pairs, self_join
from softhash.hamming.search import nearest, within
from softhash.hamming.words import pack_mask

__all__ = [
    "Array",
    "MultiIndex",
    "Pairs",
    "check_rows",
    "histogram",
    "nearest",
    "pack_mask",
    "ranked_gains",
    "self_join",
    "within",
]
