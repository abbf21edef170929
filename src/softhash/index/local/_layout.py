"""The folder of a local index: what its files are called, how it appears, and who may write.

::

    index.json     format, version, bits: written once
    items.sqlite   items, labels and counts: the truth, from which the next two can be made again
    codes.bin      a record a slot: the code, padded with zeros to whole 64-bit words
    labels-1.bin   a record a slot: bit 0 says that an item is there, bit n that it has label n;
                   the number is how many 64-bit words a record has
    write.lock     locked by whoever writes; says how many changes were confirmed
    model/         the model that made the codes, where it is kept
"""

import contextlib
import fcntl
import json
import os
import shutil
import sqlite3
import tempfile
from pathlib import Path

from softhash.errors import IndexBusyError, IndexDamagedError, InputError
from softhash.files import sync_folder, write_whole
from softhash.index.local._database import ITEMS, create_database
from softhash.index.store import Meta

INDEX, CODES, LOCK, MODEL = "index.json", "codes.bin", "write.lock", "model"
FORMAT, VERSION = "softhash index", 1


def labels_file(words: int) -> str:
    """Name the file of label records of so many words."""
    return f"labels-{words}.bin"


def create(folder: Path, meta: Meta) -> None:
    """Make an empty index in a neighbour that takes the folder's name when it is on disk."""
    if folder.exists() and not folder.is_dir():
        raise InputError(f"{folder} is a file", "an index is a folder: give another name")
    if folder.exists() and any(folder.iterdir()):
        raise InputError(f"{folder} exists and is not empty", "give another name, or remove it")
    target = folder.resolve()  # a link stays a link
    try:
        target.parent.mkdir(parents=True, exist_ok=True)
        new = Path(tempfile.mkdtemp(dir=target.parent, prefix=f".{target.name}."))
        try:
            _fill(new, meta)
            new.rename(target)  # over an empty folder, which POSIX allows
            sync_folder(target.parent)
        finally:
            shutil.rmtree(new, ignore_errors=True)
    except (OSError, sqlite3.Error) as error:
        reason = getattr(error, "strerror", None) or error
        raise InputError(f"cannot make an index at {folder}: {reason}") from error


def _fill(new: Path, meta: Meta) -> None:
    about = {"format": FORMAT, "version": VERSION, "bits": meta.bits}
    write_whole(new / INDEX, json.dumps(about, indent=2) + "\n")
    create_database(new, meta)
    for name in (CODES, labels_file(1), LOCK):
        (new / name).touch()
    new.chmod(0o755)
    sync_folder(new)


def read_bits(folder: Path) -> int:
    """Look whether a folder is an index that this version can read; return its codes' length."""
    if not folder.is_dir():
        what = "is no folder" if folder.exists() else "does not exist"
        raise InputError(f"{folder} {what}", "give an index's folder, as softhash index writes it")
    if not (folder / INDEX).exists():
        raise InputError(f"{folder} is no index, it has no {INDEX}", "make one with softhash index")
    form, version, bits = _read_about(folder / INDEX)
    if form != FORMAT:
        raise InputError(
            f"{folder / INDEX} says '{form}', not '{FORMAT}'", "give an index's folder"
        )
    if version > VERSION:
        raise InputError(
            f"{folder} has format version {version}, this softhash reads up to {VERSION}",
            "update it",
        )
    if not (folder / ITEMS).exists():
        raise IndexDamagedError(
            f"{folder / ITEMS} is missing, and with it the items", "copy the folder again, whole"
        )
    return bits


def _read_about(path: Path) -> tuple[str, int, int]:
    try:
        about = json.loads(path.read_bytes())
        form, version, bits = str(about["format"]), int(about["version"]), int(about["bits"])
    except OSError as error:
        raise InputError(f"{path} cannot be read: {error.strerror}") from error
    except (ValueError, KeyError, TypeError) as error:
        raise IndexDamagedError(
            f"{path} is damaged: it does not say format, version and bits", "copy it from a backup"
        ) from error
    return form, version, bits


def take_lock(folder: Path) -> int:
    """Become the one that writes; the system lets go when the handle is closed, or the process."""
    try:
        handle = os.open(folder / LOCK, os.O_RDWR | os.O_CREAT, 0o644)
    except OSError as error:
        raise InputError(
            f"{folder} cannot be written to: {error.strerror}",
            "open it for reading only, or change its permissions",
        ) from error
    try:
        fcntl.flock(handle, fcntl.LOCK_EX | fcntl.LOCK_NB)
    except OSError as error:
        os.close(handle)
        raise IndexBusyError(
            f"{folder} is being written to by another process",
            "wait until it is done, or open it for reading",
        ) from error
    return handle


def confirm(handle: int, change: int) -> None:
    """Note, beside the database, that it holds so many changes: its log cannot get lost unseen."""
    with contextlib.suppress(OSError):  # a note that is behind does no harm
        os.pwrite(handle, b"%020d\n" % change, 0)


def confirmed(folder: Path) -> int:
    """Read how many changes were confirmed at least; to be asked before the database is."""
    try:
        return int((folder / LOCK).read_bytes())
    except (OSError, ValueError):
        return 0


def check_confirmed(folder: Path, change: int, at_least: int) -> None:
    """Raise when the database is behind what was confirmed."""
    if change < at_least:
        raise IndexDamagedError(
            f"{folder / ITEMS}-wal was lost or damaged, and with it the last {at_least - change:,} "
            f"of {at_least:,} changes",
            f"copy the folder again, whole, or delete {LOCK} to go on without them",
        )


def release_lock(handle: int) -> None:
    """Let others write."""
    with contextlib.suppress(OSError):
        os.close(handle)
