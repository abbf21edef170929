"""The model that a command works with, shortened where fewer bits are asked for."""

from collections.abc import Iterable
from pathlib import Path
from typing import TYPE_CHECKING

from softhash.cli._output import say, warn

if TYPE_CHECKING:
    from softhash.data.image_set import ImageSet
    from softhash.index.first_look import FirstLook
    from softhash.model.encoding import EncodeOptions
    from softhash.model.hasher import Hasher


def load_hasher(
    folder: Path | None,
    bits: int | None = None,
    engine: str | None = None,
    device: str = "auto",
) -> "Hasher":
    """Load a model, or the shipped one, for codes of its own length or of its first bits.

    Args:
        folder: the model's.
        bits: how many of the first bits are kept; all by default.
        engine: what computes; the model's own by default.
        device: where, for the engine `auto`.

    """
    from softhash.model.default_model import default_model
    from softhash.model.hasher import Hasher

    hasher = shorten(Hasher.load(folder or default_model(say)), bits)
    return hasher.with_engine(engine, device) if engine else hasher


def shorten(hasher: "Hasher", bits: int | None) -> "Hasher":
    """Return a hasher of the first bits, or the same one where no number is given."""
    if bits is None:
        return hasher
    short = hasher.shortened(bits)
    warn_of_lengths(hasher, bits)
    return short


def first_look(
    images: "ImageSet", *, engine: str, batch_size: int | None = None, device: str = "auto"
) -> "FirstLook":
    """Fit the shipped model to a collection, and show how far that is.

    Args:
        images: the collection.
        engine: of the model, or `auto`.
        batch_size: pictures at once.
        device: where pictures are encoded.

    """
    from softhash.cli._progress import show_progress
    from softhash.index.first_look import look_at

    with show_progress("first look", "pictures") as progress:
        options: EncodeOptions = {"batch_size": batch_size, "device": device, "progress": progress}
        return look_at(images, say, engine=engine, **options)


def warn_of_lengths(hasher: "Hasher", *lengths: int) -> None:
    """Print a note where first bits of codes are used that the model was not trained for."""
    trained = {*hasher.lengths, hasher.bits}
    if others := [bits for bits in lengths if bits not in trained]:
        warn(
            f"this model was trained for {_listed(sorted(trained))} bits, not for "
            f"{_listed(others)}: one that is trained for that length has better codes of it"
        )


def _listed(lengths: Iterable[int]) -> str:
    return ", ".join(map(str, lengths))
