"""The folder of a local index: what its files are called, and how it appears.

::

    index.json     format, version, bits: written once
    items.sqlite   items, labels and counts: the truth, from which the next two can be made again
    codes.bin      one record per slot: the code, padded with zeros to whole 64-bit words
    labels-1.bin   one record per slot: bit 0 for an item that exists, bit n for label n;
                   the number is how many 64-bit words a record has
    write.lock     locked by the process that writes
    confirmed      how many changes were confirmed
    model/         the model that made the codes, where it is kept
"""

import json
import shutil
import sqlite3
import tempfile
from pathlib import Path

from softhash.errors import IndexDamagedError, InputError
from softhash.files import rename_folder, sync_folder, write_whole
from softhash.index.local._database import ITEMS, create_database
from softhash.index.local._lock import CONFIRMED, LOCK
from softhash.index.store import Meta

INDEX, CODES, MODEL = "index.json", "codes.bin", "model"
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
            rename_folder(new, target)
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
    for name in (CODES, labels_file(1), LOCK, CONFIRMED):
        (new / name).touch()
    new.chmod(0o755)
    sync_folder(new)


def read_bits(folder: Path) -> int:
    """Look whether a folder is an index that this version can read; return its codes' length."""
    if not folder.is_dir():
        what = "is not a folder" if folder.exists() else "does not exist"
        raise InputError(f"{folder} {what}", "give an index's folder, as softhash index writes it")
    if not (folder / INDEX).exists():
        raise InputError(
            f"{folder} is not an index, it has no {INDEX}", "make one with softhash index"
        )
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
