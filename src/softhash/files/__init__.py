"""Files that appear whole or not at all, locks, and the user's folders."""

from softhash.files.caches import cache_folder, data_folder, make_private
from softhash.files.contents import (
    WRITING,
    hash_file,
    modified_ns,
    remove_synced,
    sync_data,
    sync_folder,
    write_at,
    write_synced,
)
from softhash.files.locks import held_lock, take_lock
from softhash.files.neighbours import neighbour, rename_folder, replace_folder, sweep
from softhash.files.whole import check_free, write_parts, write_whole

__all__ = [
    "WRITING",
    "cache_folder",
    "check_free",
    "data_folder",
    "hash_file",
    "held_lock",
    "make_private",
    "modified_ns",
    "neighbour",
    "remove_synced",
    "rename_folder",
    "replace_folder",
    "sweep",
    "sync_data",
    "sync_folder",
    "take_lock",
    "write_at",
    "write_parts",
    "write_synced",
    "write_whole",
]
