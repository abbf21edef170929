"""Files that appear whole or not at all."""

from collections.abc import Iterable
from pathlib import Path

from softhash.errors import AlreadyExistsError, InputError
from softhash.files.contents import sync_folder, write_synced
from softhash.files.neighbours import neighbour


def check_free(path: Path, *, force: bool = False) -> None:
    """Raise unless a file may be written there; to be asked before work that takes long."""
    if path.is_dir():
        raise InputError(f"{path} is a folder", "give the name of a file")
    if path.exists() and not force:
        raise AlreadyExistsError(f"{path} exists", "to overwrite it, pass force=True")
    if not path.parent.is_dir():
        raise InputError(f"cannot write {path}: the folder {path.parent} does not exist")


def write_whole(path: Path, content: str | bytes, *, force: bool = False) -> None:
    """Write a file through a neighbour that takes its name when it is complete and on disk."""
    check_free(path, force=force)
    try:
        write_parts(path, [content.encode() if isinstance(content, str) else content])
    except (OSError, UnicodeEncodeError) as error:  # a file's name may hold what no encoding has
        reason = getattr(error, "strerror", None) or error
        raise InputError(f"cannot write {path}: {reason}") from error


def write_parts(path: Path, parts: Iterable[bytes]) -> None:
    """Write a file as `write_whole` does, from parts; it may exist, and errors are the system's."""
    with neighbour(path) as new:
        write_synced(new, parts)
        new.replace(path)
        sync_folder(path.parent)
