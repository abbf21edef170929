"""Pictures of clients, stored as files in the index's folder."""

import hashlib
import logging
import os
from pathlib import Path

import numpy as np

from softhash.data.names import IMAGE_SUFFIXES
from softhash.data.photo_facts import read_facts
from softhash.errors import InputError
from softhash.files import hash_file, neighbour, remove_synced, sync_folder, write_synced
from softhash.index import HammingIndex
from softhash.index.entries import file_status
from softhash.index.facts import keep_facts
from softhash.index.features import kept_features
from softhash.index.items import Entry, Item
from softhash.index.likely import keep_likely
from softhash.index.pictures import EncodedPicture
from softhash.server.problems import Problem

_log = logging.getLogger(__name__)

MAX_NAME_BYTES = 200  # file systems take 255, and the file has a longer name while it is written


def safe_name(given: str) -> str:
    """Return the name if it is a plain name of a picture's file, else raise a problem.

    >>> safe_name("dog at the sea.jpg")
    'dog at the sea.jpg'
    """
    plain = given.isprintable() and not set('/\\:*?"<>|') & set(given)
    if not plain or given != given.strip() or given.startswith("."):
        raise _refused(given[:80], "is not a plain file name", "send letters and digits, no path")
    if len(given.encode()) > MAX_NAME_BYTES:
        raise _refused(given[:20] + "…", "is too long", f"use up to {MAX_NAME_BYTES} bytes")
    if Path(given).suffix.lower() not in IMAGE_SUFFIXES:
        known = ", ".join(sorted(IMAGE_SUFFIXES))
        raise _refused(given, "does not end as a picture does", f"use one of {known}")
    return given


def add(
    index: HammingIndex, name: str, data: bytes, labels: tuple[str, ...], encoded: EncodedPicture
) -> Item:
    """Store a picture that was encoded, and add it; nothing is ever overwritten.

    Args:
        index: open for writing.
        name: of the new file, from `safe_name`.
        data: the bytes of the picture.
        labels: its labels.
        encoded: its code, and its features for an index that keeps them.

    """
    if index.root is None:
        detail = "the index holds codes only, and no folder to put pictures into"
        raise Problem(409, "no-root", detail, "add a folder with `softhash index` first")
    if index.store.find_names([name]):
        raise _taken(name)
    path = index.root / name
    try:
        is_new = _store(path, data)
    except OSError as error:
        detail = f"the picture cannot be stored: {error.strerror or error}"
        raise Problem(500, "storage", detail, "is the disk full?") from error
    try:
        digest = hashlib.sha256(data).hexdigest()
        entry = Entry(name, labels, *file_status(path), sha256=digest, uploaded=True)
        code = encoded.code
        added = index.add_codes(np.frombuffer(code, np.uint8)[np.newaxis], [entry])
    except BaseException:
        if is_new:
            remove_synced(path)
        raise
    _keep_derived(index, added, data, encoded)
    return Item(added[0], entry, code)


def _keep_derived(
    index: HammingIndex, ids: list[int], data: bytes, encoded: EncodedPicture
) -> None:
    """Keep facts, features and likely labels where the index does; the item is safe without."""
    digest = hashlib.sha256(data).hexdigest()
    try:
        if (facts := keep_facts(index.store)) is not None:
            facts.put(ids, [digest], [read_facts(data)])
        for kept in (kept_features(index.store), keep_likely(index.store)):
            if kept is not None:
                kept.put(ids, [digest], encoded.features[np.newaxis])
    except InputError as error:
        _log.warning("%s; the next softhash index computes them", error.detail)


def _store(path: Path, data: bytes) -> bool:
    """Make sure that a file is there for good; return whether it is new.

    One that has the name may be of an upload that was interrupted before it was acknowledged: with
    the same content it is what was asked for. Raise where the name is taken.
    """
    try:
        _write_new(path, data)
    except FileExistsError:
        if path.is_symlink() or hash_file(path) != hashlib.sha256(data).hexdigest():
            raise _taken(path.name) from None
        sync_folder(path.parent)
        return False
    return True


def _write_new(path: Path, data: bytes) -> None:
    """Write a new file that appears whole and for good, or raise an OSError."""
    with neighbour(path) as new:
        write_synced(new, [data])
        os.link(new, path)  # unlike a rename, it fails where something exists
    try:
        sync_folder(path.parent)
    except BaseException:
        remove_synced(path)
        raise


def _refused(name: str, reason: str, hint: str) -> Problem:
    return Problem(422, "file-name", f"the file name {name!r} {reason}", hint)


def _taken(name: str) -> Problem:
    return Problem(409, "name-taken", f"there is a {name!r} already", "send another file_name")
