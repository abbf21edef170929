"""A picture as a search needs it, all of it from one pass through the network."""

import hashlib
import os
from collections.abc import Sequence
from pathlib import Path
from typing import TYPE_CHECKING, NamedTuple

import numpy as np

from softhash.codes import pack
from softhash.errors import ImageError, QueryError
from softhash.index.store import Store
from softhash.model.engines import Floats

if TYPE_CHECKING:
    from softhash.model.hasher import Hasher
    from softhash.model.inputs import Item as Picture
    from softhash.model.inputs import Source

DEVICE = "cpu"  # where one picture is encoded: nothing is gained by a GPU, and torch is not needed


class EncodedPicture(NamedTuple):
    """What the network and the classifier say of a picture, or of the mean of several.

    Attributes:
        outputs: the real-valued u (bits,), whose signs are the code.
        features: the backbone's (d,).
        likely: labels that are likely, with probabilities, the most probable first.

    """

    outputs: Floats
    features: Floats
    likely: dict[str, float]

    @property
    def code(self) -> bytes:
        """The code, in packed bytes."""
        packed: bytes = pack(self.outputs[np.newaxis])[0].tobytes()
        return packed


def encode_picture(hasher: "Hasher", picture: "Source") -> EncodedPicture:
    """Encode a picture, or several: then outputs and features are the means of theirs.

    Raises:
        ImageError: one cannot be read.
        QueryError: there is none.

    """
    found = hasher.encode_readable(picture, "both", device=DEVICE)
    if found.broken:
        raise ImageError(found.broken[0].reason)
    if not len(found.values):
        raise QueryError("no picture to search for", "give at least one")
    mean = found.values if len(found.values) == 1 else found.values.mean(axis=0, keepdims=True)
    u, features = mean[:, : hasher.bits], mean[:, hasher.bits :]
    likely = hasher.label_classifier.likely(features)[0] if hasher.label_classifier else {}
    return EncodedPicture(u[0], features[0], likely)


def is_several(picture: "Source") -> bool:
    """Return whether more than one picture is given."""
    if isinstance(picture, np.ndarray):
        return picture.ndim == 4 and len(picture) > 1
    return isinstance(picture, list | tuple) and len(picture) > 1


def find_labels(store: Store, picture: "Picture | Sequence[Picture]") -> tuple[str, ...]:
    """Return the labels of a picture whose file is in an index, nothing for any other.

    Of several pictures, return the labels that all of them have.
    """
    if isinstance(picture, list | tuple):
        each = [find_labels(store, one) for one in picture]
        return tuple(label for label in each[0] if all(label in other for other in each))
    if isinstance(picture, str | os.PathLike):
        if not Path(picture).is_file():
            return ()
        picture = Path(picture).read_bytes()
    if not isinstance(picture, bytes):
        return ()
    found = store.find_content(hashlib.sha256(picture).hexdigest())
    return () if found is None else store.get([found])[0].entry.labels
