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
    fit: "Callable[[], Hasher] | None" = None,
    of_codes: bool = False,
    made_by: str = "",
) -> "Iterator[HammingIndex]":
    """Open an index for writing, or make a new one.

    Args:
        location: of the index.
        model: folder of the model for a new index; the shipped one by default.
        bits: length of the codes; the model's by default.
        fit: makes the model of a new index where none is named.
        of_codes: whether codes exist already, and a model is not needed.
        made_by: SHA-256 of the weights of the model that made them, where it is known.

    """
    from softhash.cli._models import load_hasher, shorten
    from softhash.index import HammingIndex

    def default(bits: int | None) -> "Hasher":
        return shorten(fit(), bits) if fit else load_hasher(None, bits)

    hasher = load_hasher(model, bits) if model else None
    if hasher and not of_codes:
        _check_takes_pictures(hasher)
    if exists(location):
        opened = _open(location, hasher, bits)
    elif hasher is None and of_codes:
        opened = _create_for_codes(location, bits, made_by)
    else:
        opened = HammingIndex.create(location, hasher or default(bits))
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


def _open(location: str, hasher: "Hasher | None", bits: int | None) -> "HammingIndex":
    """Open an index for writing, unless its codes are of another length than asked for."""
    from softhash.index import HammingIndex

    opened = HammingIndex.open(location, writable=True)
    try:
        if bits not in (None, opened.bits):
            raise InputError(
                f"{opened.store.location} holds codes of {opened.bits} bits, not of {bits}",
                f"leave --bits out, or make a new index of {bits} bits with another -o",
            )
        return HammingIndex(opened.store, hasher)
    except BaseException:
        opened.close()
        raise


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
