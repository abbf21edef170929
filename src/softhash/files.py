"""Files that appear whole or not at all, and where what can be made again is kept."""

import os
import tempfile
from pathlib import Path

from softhash.errors import AlreadyExistsError, InputError


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
        data = content.encode() if isinstance(content, str) else content
        handle, name = tempfile.mkstemp(dir=path.parent, prefix=f".{path.name}.")
        try:
            with os.fdopen(handle, "wb") as file:
                file.write(data)
                file.flush()
                os.fsync(file.fileno())
            Path(name).chmod(0o644)
            Path(name).replace(path)
        finally:
            Path(name).unlink(missing_ok=True)
    except (OSError, UnicodeEncodeError) as error:  # a file's name may hold what no encoding has
        reason = getattr(error, "strerror", None) or error
        raise InputError(f"cannot write {path}: {reason}") from error


def sync_folder(folder: Path) -> None:
    """Make sure that the names in a folder are on disk."""
    handle = os.open(folder, os.O_RDONLY)
    try:
        os.fsync(handle)
    finally:
        os.close(handle)


def cache_folder() -> Path:
    """Return the user's folder for what can be made again, as the XDG convention has it."""
    return Path(os.environ.get("XDG_CACHE_HOME") or Path.home() / ".cache") / "softhash"
