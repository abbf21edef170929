"""Codes and items on disk, or in Milvus: add, remove, search."""

from softhash.index.hamming_index import HammingIndex
from softhash.index.items import Entry, Filter, Hit, Item

__all__ = ["Entry", "Filter", "HammingIndex", "Hit", "Item"]
