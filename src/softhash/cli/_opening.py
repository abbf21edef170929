"""An index opened for writing by a command, or made where there is none."""

from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import TYPE_CHECKING

from softhash.errors import InputError

if TYPE_CHECKING:
    from softhash.index import HammingIndex
    from softhash.model.hasher import Hasher


@contextmanager
def open_or_create(
    location: str,
    model: Path | None,
    bits: int | None = None,
    *,
    engine: str = "auto",
    device: str = "auto",
    fit: "Callable[[], Hasher] | None" = None,
    of_codes: bool = False,
    made_by: str = "",
) -> "Iterator[HammingIndex]":
    """Open an index for writing, or make a new one.

    Args:
        location: of the index.
        model: folder of the model for a new index; the shipped one by default.
        bits: length of the codes; the model's by default.
        engine: of the model of a new index; an existing one has its own, and another is refused.
        device: where a new index is made, for the engine `auto`.
        fit: makes the model of a new index where none is named.
        of_codes: whether codes exist already, and a model is not needed.
        made_by: SHA-256 of the weights of the model that made them, where it is known.

    """
    from softhash.cli._models import load_hasher, shorten
    from softhash.index import HammingIndex

    def default(bits: int | None) -> "Hasher":
        return shorten(fit(), bits) if fit else load_hasher(None, bits, engine, device)

    hasher = load_hasher(model, bits) if model else None
    if hasher and not of_codes:
        _check_takes_pictures(hasher)
    if exists(location):
        opened = _open(location, hasher, bits, engine)
    elif hasher is None and of_codes:
        opened = _create_for_codes(location, bits, made_by)
    else:
        if hasher and not (of_codes and engine == "auto"):  # codes that exist are as they are
            hasher = hasher.with_engine(engine, device)
        hasher = hasher or default(bits)
        opened = HammingIndex.create(location, hasher)
    with opened:
        interrupted = opened.store.meta.model and not opened.store.model_folder.exists()
        if interrupted and not of_codes:  # before the model was kept
            opened.keep_model(hasher or default(opened.bits))
        yield opened


def _create_for_codes(location: str, bits: int | None, made_by: str) -> "HammingIndex":
    from softhash.index import HammingIndex

    if not made_by:
        return HammingIndex.create(location, bits=bits)
    from softhash.data.shards.code_file import About
    from softhash.index.code_import import create_for_codes

    return create_for_codes(location, About(bits or 0, made_by))


def _open(location: str, hasher: "Hasher | None", bits: int | None, engine: str) -> "HammingIndex":
    """Open an index for writing, unless its codes are of another length or engine than asked for.

    Args:
        location: of the index.
        hasher: the model that was named.
        bits: length of the codes, where one was given.
        engine: that was asked for, or `auto` for that of the index.

    """
    from softhash.index import HammingIndex

    opened = HammingIndex.open(location, writable=True)
    try:
        if bits not in (None, opened.bits):
            raise InputError(
                f"{opened.store.location} holds codes of {opened.bits} bits, not of {bits}",
                f"leave --bits out, or make a new index of {bits} bits with another -o",
            )
        if hasher and engine != "auto" and not opened.store.meta.model:  # of codes alone
            hasher = hasher.with_engine(engine)
        opened = HammingIndex(opened.store, hasher)
        _check_engine(opened, engine)
        return opened
    except BaseException:
        opened.close()
        raise


def _check_engine(opened: "HammingIndex", engine: str) -> None:
    if engine != "auto" and opened.has_model and opened.hasher.engine != engine:
        raise InputError(
            f"{opened.store.location} was made with the engine {opened.hasher.engine}, "
            f"not {engine}",
            "leave --engine out, or make a new index with another -o",
        )


def exists(location: str) -> bool:
    """Return whether there is something to open; a new index may be made in an empty folder."""
    from softhash.errors import IndexDamagedError
    from softhash.index import HammingIndex

    if "://" not in location:
        path = Path(location)
        return path.exists() and not (path.is_dir() and not any(path.iterdir()))
    try:
        HammingIndex.open(location).close()
    except IndexDamagedError:  # which opening it again will report
        return True
    except InputError:
        return False
    return True


def _check_takes_pictures(hasher: "Hasher") -> None:
    if hasher.backbone is None:
        raise InputError(
            "this model hashes features, not pictures",
            "make codes with Hasher.encode in Python, and give them with --codes",
        )
