"""An index in a folder: codes scanned in place, items in SQLite, one writer, many readers."""

from softhash.index.local.store import LocalStore

__all__ = ["LocalStore"]
