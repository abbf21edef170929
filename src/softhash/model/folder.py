"""A model's folder: read with suspicion, written whole or not at all."""

import contextlib
import hashlib
import os
import shutil
import tempfile
from collections.abc import Mapping
from pathlib import Path

from softhash.errors import AlreadyExistsError, InputError
from softhash.files import sync_folder
from softhash.model.card import write_card
from softhash.model.config import ModelConfig

CONFIG, WEIGHTS, GRAPH, CARD = "config.json", "model.safetensors", "model.onnx", "README.md"
LABELS = "labels.safetensors"  # where the model names likely labels
LOG = "log.jsonl"  # of the training run, where there was one
FILES = (CONFIG, WEIGHTS, GRAPH, LABELS, CARD, LOG)


def sha256(data: bytes) -> str:
    """Return the SHA-256 of some bytes, in hexadecimal."""
    return hashlib.sha256(data).hexdigest()


def read_config(folder: Path) -> ModelConfig:
    """Read the settings, after a look whether everything is there."""
    if not folder.is_dir():
        what = "is not a folder" if folder.exists() else "does not exist"
        raise InputError(f"{folder} {what}", "give a model's folder, as train writes it")
    missing = [name for name in (CONFIG, WEIGHTS, GRAPH) if not (folder / name).is_file()]
    if missing:
        raise InputError(
            f"{folder} lacks {', '.join(missing)}", "is it a model's folder, copied completely?"
        )
    return ModelConfig.from_json(_read(folder / CONFIG), str(folder / CONFIG))


def read_part(folder: Path, name: str, config: ModelConfig) -> bytes:
    """Read the weights or the graph, and make sure that they are what was saved.

    Args:
        folder: the model's.
        name: of the file.
        config: the model's settings, which have the SHA-256 of each file.

    """
    data = _read(folder / name)
    expected = config.sha256.get(name)
    if sha256(data) != expected:
        raise InputError(
            f"{folder / name} is not what was saved with this model ({len(data):,} bytes, another "
            "SHA-256): damaged, or from another model",
            "copy the folder again",
        )
    return data


def _read(path: Path) -> bytes:
    try:
        return path.read_bytes()
    except OSError as error:
        raise InputError(f"{path} cannot be read: {error.strerror}") from error


def check_free(folder: Path, *, force: bool) -> None:
    """Raise unless a model may be written there; cheap enough to ask before training."""
    if not folder.exists():
        return
    if not folder.is_dir():
        raise InputError(f"{folder} is a file", "a model is a folder: give another name")
    present = {path.name for path in folder.iterdir()}
    if not present:
        return
    if not force:
        raise AlreadyExistsError(f"{folder} exists", "to replace it, pass force=True")
    others = sorted(present - set(FILES))
    if others or CONFIG not in present:
        raise InputError(
            f"{folder} is not replaced, it holds more than a model: "
            f"{', '.join((others or sorted(present))[:3])}",
            "give another name or empty it",
        )


def write_model(
    folder: Path, config: ModelConfig, parts: Mapping[str, bytes], *, force: bool = False
) -> None:
    """Write a model: its parts, and the settings and the card that go with them.

    Args:
        folder: where to; it appears whole or not at all.
        config: the settings, which get the SHA-256 of the parts.
        parts: weights, graph and, where it has one, the label classifier, by file name.
        force: replace an older model.

    """
    config = config.with_sha256({name: sha256(data) for name, data in parts.items()})
    readme = write_card(folder.resolve().name, config)
    contents = {CONFIG: config.to_json().encode(), **parts, CARD: readme.encode()}
    write(folder, contents, force=force)


def write(folder: Path, contents: Mapping[str, bytes], *, force: bool = False) -> None:
    """Write all files into a neighbour that takes the folder's name when they are on disk.

    Args:
        folder: where to.
        contents: of the files, by name.
        force: whether an older model is replaced.

    """
    check_free(folder, force=force)
    folder = folder.resolve()  # a link stays a link; what it leads to is replaced
    try:
        folder.parent.mkdir(parents=True, exist_ok=True)
        new = Path(tempfile.mkdtemp(dir=folder.parent, prefix=f".{folder.name}."))
        try:
            for name, content in contents.items():
                _write_synced(new / name, content)
            new.chmod(0o755)
            sync_folder(new)
            _replace(folder, new)
            sync_folder(folder.parent)
        finally:
            shutil.rmtree(new, ignore_errors=True)
    except OSError as error:
        raise InputError(f"cannot write {folder}: {error.strerror or error}") from error


def _write_synced(path: Path, content: bytes) -> None:
    with path.open("wb") as file:
        file.write(content)
        file.flush()
        os.fsync(file.fileno())
    path.chmod(0o644)


def _replace(folder: Path, new: Path) -> None:
    """Rename `new` to `folder`; what was there steps aside, and comes back if that fails."""
    if not folder.exists():
        new.rename(folder)
        return
    away = Path(tempfile.mkdtemp(dir=folder.parent, prefix=f".{folder.name}.old."))
    aside = away / folder.name
    try:
        folder.rename(aside)
        new.rename(folder)
    except BaseException:  # an interrupt too must not leave the place empty
        with contextlib.suppress(OSError):
            if not folder.exists():
                aside.rename(folder)
            away.rmdir()
        raise
    shutil.rmtree(away, ignore_errors=True)
