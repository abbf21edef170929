"""Files that appear whole or not at all."""

import os
import tempfile
from pathlib import Path

from softhash.errors import InputError


def write_whole(path: Path, content: str | bytes, *, force: bool = False) -> None:
    """Write a file through a neighbour that takes its name when it is complete and on disk."""
    if path.exists() and not force:
        raise InputError(f"{path} exists; remove it, or say --force to overwrite it")
    data = content.encode() if isinstance(content, str) else content
    try:
        handle, name = tempfile.mkstemp(dir=path.parent, prefix=f".{path.name}.")
    except OSError as error:
        raise InputError(f"cannot write {path}: {error.strerror}") from error
    try:
        with os.fdopen(handle, "wb") as file:
            file.write(data)
            file.flush()
            os.fsync(file.fileno())
        Path(name).replace(path)
    except OSError as error:
        raise InputError(f"cannot write {path}: {error.strerror}") from error
    finally:
        Path(name).unlink(missing_ok=True)
