"""A model's folder: read with suspicion, written whole or not at all."""

import hashlib
from collections.abc import Mapping
from pathlib import Path

from softhash.errors import AlreadyExistsError, InputError
from softhash.files import (
    hash_file,
    neighbour,
    rename_folder,
    replace_folder,
    sweep,
    sync_folder,
    write_synced,
)
from softhash.model._json import MAX_BYTES
from softhash.model.card import write_card
from softhash.model.config import NAME as CONFIG_NAME
from softhash.model.config import ModelConfig

CONFIG = CONFIG_NAME
WEIGHTS, GRAPH, CARD = "model.safetensors", "model.onnx", "README.md"
LABELS = "labels.safetensors"  # where the model names likely labels
LOG = "log.jsonl"  # of the training run, where there was one
FILES = (CONFIG, WEIGHTS, GRAPH, LABELS, CARD, LOG)


def sha256(data: bytes) -> str:
    """Return the SHA-256 of some bytes, in hexadecimal."""
    return hashlib.sha256(data).hexdigest()


def read_config(folder: Path) -> ModelConfig:
    """Read the settings, after a look whether everything is there."""
    if not _exists(folder) or not folder.is_dir():
        what = "is not a folder" if folder.exists() else "does not exist"
        raise InputError(f"{folder} {what}", "give a model's folder, as train writes it")
    missing = [name for name in (CONFIG, WEIGHTS, GRAPH) if not (folder / name).is_file()]
    if missing:
        raise InputError(
            f"{folder} lacks {', '.join(missing)}", "is it a model's folder, copied completely?"
        )
    config = ModelConfig.from_json(_read(folder / CONFIG, MAX_BYTES + 1), str(folder / CONFIG))
    if others := sorted(set(config.sha256) - set(FILES)):
        raise InputError(f"{folder / CONFIG} has a SHA-256 of {others[0][:80]!r}", "it is damaged")
    return config


def read_part(folder: Path, name: str, config: ModelConfig) -> bytes:
    """Read the weights or the graph, and make sure that they are what was saved.

    Args:
        folder: the model's.
        name: of the file.
        config: the model's settings, which have the SHA-256 of each file.

    """
    data = _read(folder / name)
    _compare(folder / name, sha256(data), config)
    return data


def check_part(folder: Path, name: str, config: ModelConfig) -> None:
    """Make sure that a part is what was saved, without keeping it in memory.

    Args:
        folder: the model's.
        name: of the file.
        config: the model's settings, which have the SHA-256 of each file.

    """
    _compare(folder / name, hash_file(folder / name), config)


def _compare(path: Path, found: str | None, config: ModelConfig) -> None:
    if found is None or found != config.sha256.get(path.name):
        raise InputError(
            f"{path} is not what was saved with this model, it has another SHA-256: damaged, or "
            "from another model",
            "copy the folder again; one in the cache can be deleted, and is made again",
        )


def _read(path: Path, most: int = -1) -> bytes:
    try:
        with path.open("rb") as file:
            return file.read(most)
    except OSError as error:
        raise InputError(f"{path} cannot be read: {error.strerror}") from error


def _exists(folder: Path) -> bool:
    """Look for a folder; a model that had stepped aside when a process was killed comes back."""
    if not folder.exists():
        sweep(folder.resolve().parent)
    return folder.exists()


def check_free(folder: Path, *, force: bool) -> None:
    """Raise unless a model may be written there; cheap enough to ask before training."""
    if not _exists(folder):
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
    folder: Path,
    config: ModelConfig,
    parts: Mapping[str, bytes],
    *,
    force: bool = False,
    log: str = "",
) -> None:
    """Write a model: its parts, and the settings and the card that go with them.

    Args:
        folder: where to; it appears whole or not at all.
        config: the settings, which get the SHA-256 of the parts.
        parts: weights, graph and, where it has one, the label classifier, by file name.
        force: replace an older model.
        log: of the training run, where there was one.

    """
    config = config.with_sha256({name: sha256(data) for name, data in parts.items()})
    readme = write_card(folder.resolve().name, config)
    contents = {CONFIG: config.to_json().encode(), **parts, CARD: readme.encode()}
    contents |= {LOG: log.encode()} if log else {}
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
        with neighbour(folder) as new:
            new.mkdir()
            for name, content in contents.items():
                write_synced(new / name, [content])
            sync_folder(new)
            (replace_folder if force else rename_folder)(new, folder)
    except OSError as error:
        raise InputError(f"cannot write {folder}: {error.strerror or error}") from error
