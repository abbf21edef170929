"""The folder of a local index: what its files are called, and how it appears.

::

    index.json     format, version, bits: written once
    items.sqlite   items, labels and counts: the truth, from which the next two can be made again
    codes.bin      one record per slot: the code, padded with zeros to whole 64-bit words
    labels-1.bin   one record per slot: bit 0 for an item that exists, bit n for label n;
                   the number is how many 64-bit words a record has
    features-N.bin one record per slot: N features as int8, where they are kept; see `_features`
    likely-X.bin   one record per slot: likely labels, where the model has a label classifier X;
                   see `_likely`
    facts-1.bin    one record per slot: date, camera and place of a photograph, see `_facts`;
    cameras.json   the names of the cameras
    multi-index.bin  tables of the codes, where they are kept; see `_tables`
    write.lock     locked by the process that writes
    confirmed      how many changes were confirmed
    model/         the model that made the codes, where it is kept
"""

import json
import sqlite3
from pathlib import Path
from typing import Any, NamedTuple

from softhash.codes import MAX_BITS
from softhash.errors import IndexDamagedError, InputError
from softhash.files import neighbour, rename_folder, sync_folder, write_whole
from softhash.index.local._database import ITEMS, create_database
from softhash.index.local._lock import CONFIRMED, LOCK
from softhash.index.store import Meta

INDEX, CODES, MODEL = "index.json", "codes.bin", "model"
FORMAT, VERSION = "softhash index", 2
MAX_BYTES = 1 << 16  # of index.json, which has about 60


class About(NamedTuple):
    """What index.json says: the version of the format, and the length of the codes."""

    version: int
    bits: int


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
        with neighbour(target) as new:
            _fill(new, meta)
            rename_folder(new, target)
    except (OSError, sqlite3.Error) as error:
        reason = getattr(error, "strerror", None) or error
        raise InputError(f"cannot make an index at {folder}: {reason}") from error


def _fill(new: Path, meta: Meta) -> None:
    new.mkdir()
    write_about(new, meta.bits)
    for name in (ITEMS, CODES, labels_file(1), LOCK, CONFIRMED):
        (new / name).touch()  # SQLite would not let the umask decide who may write
    create_database(new, meta)
    sync_folder(new)


def write_about(folder: Path, bits: int) -> None:
    """Write index.json, or replace it."""
    about = {"format": FORMAT, "version": VERSION, "bits": bits}
    write_whole(folder / INDEX, json.dumps(about, indent=2) + "\n", force=True)


def read_about(folder: Path) -> About:
    """Look whether a folder is an index that this version can read; return what it says."""
    if not folder.is_dir():
        what = "is not a folder" if folder.exists() else "does not exist"
        raise InputError(f"{folder} {what}", "give an index's folder, as softhash index writes it")
    if not (folder / INDEX).exists():
        raise InputError(
            f"{folder} is not an index, it has no {INDEX}", "make one with softhash index"
        )
    about = _read_json(folder / INDEX)
    if about.version > VERSION:
        raise InputError(
            f"{folder} has format version {about.version}, this softhash reads up to {VERSION}",
            "update it",
        )
    if not (folder / ITEMS).exists():
        raise IndexDamagedError(
            f"{folder / ITEMS} is missing, and with it the items", "copy the folder again, whole"
        )
    return about


def _read_json(path: Path) -> About:
    try:
        with path.open("rb") as file:
            found = json.loads(file.read(MAX_BYTES))
    except OSError as error:
        raise InputError(f"{path} cannot be read: {error.strerror}") from error
    except (ValueError, RecursionError):
        found = None
    about: dict[str, Any] = found if isinstance(found, dict) else {}
    form, version, bits = about.get("format"), about.get("version"), about.get("bits")
    if isinstance(form, str) and form != FORMAT:
        raise InputError(f"{path} says '{form[:40]}', not '{FORMAT}'", "give an index's folder")
    if (
        form != FORMAT
        or type(version) is not int
        or type(bits) is not int
        or version < 1
        or not 1 <= bits <= MAX_BITS
    ):
        raise IndexDamagedError(
            f"{path} is damaged: it does not say format, version and bits", "copy it from a backup"
        )
    return About(version, bits)
