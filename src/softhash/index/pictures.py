"""A picture as a search needs it, all of it from one pass through the network."""

from typing import TYPE_CHECKING, NamedTuple

import numpy as np

from softhash.codes import pack
from softhash.errors import ImageError, QueryError
from softhash.model.engines import Floats

if TYPE_CHECKING:
    from softhash.model.hasher import Hasher
    from softhash.model.inputs import Source

DEVICE = "cpu"  # where one picture is encoded: nothing is gained by a GPU, and torch is not needed


class EncodedPicture(NamedTuple):
    """What the network and the classifier say of a picture.

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
    """Encode one picture; raise ImageError where it cannot be read."""
    found = hasher.encode_readable(picture, "both", device=DEVICE)
    if found.broken:
        raise ImageError(found.broken[0].reason)
    if len(found.values) != 1:
        count = f"{len(found.values):,}"
        raise QueryError(f"a search takes one picture, not {count}", "search for each of them")
    u, features = found.values[:, : hasher.bits], found.values[:, hasher.bits :]
    likely = hasher.label_classifier.likely(features)[0] if hasher.label_classifier else {}
    return EncodedPicture(u[0], features[0], likely)
