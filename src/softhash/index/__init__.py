"""Codes and items on disk, or in Milvus: add, remove, update, search."""

from softhash.index.hamming_index import HammingIndex
from softhash.index.items import Entry, Hit, Item
from softhash.index.result import SearchResult
from softhash.index.update import UpdateSummary

__all__ = ["Entry", "HammingIndex", "Hit", "Item", "SearchResult", "UpdateSummary"]
