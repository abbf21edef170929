"""Features of queries and of a database, encoded together with their codes."""

from dataclasses import replace
from typing import TYPE_CHECKING, NamedTuple, Unpack

import numpy as np
import numpy.typing as npt

from softhash.codes import pack, row_bytes
from softhash.hamming.cosine import Rows, quantise

if TYPE_CHECKING:
    from softhash.data.image_set import ImageSet
    from softhash.data.loading import Broken
    from softhash.model.encoding import Encoded, EncodeOptions
    from softhash.model.hasher import Hasher


class FeaturePair(NamedTuple):
    """Features of queries as they are, and of a database as an index keeps them."""

    queries: npt.NDArray[np.floating]  # (q, d)
    database: Rows  # (n, d)


def encode_with_features(
    hasher: "Hasher", query: "ImageSet", database: "ImageSet", **options: Unpack["EncodeOptions"]
) -> "tuple[Encoded, Encoded, FeaturePair]":
    """Encode queries as outputs and a database as codes, and both as features, in one pass each.

    Args:
        hasher: the model.
        query: the pictures to search with.
        database: the pictures to search in.
        options: those of `Hasher.encode`.

    """
    asked = hasher.encode_readable(query, "both", **options)
    u, features = np.split(asked.values, [hasher.bits], axis=1)
    codes = [np.empty((0, row_bytes(hasher.bits)), np.uint8)]
    rows = [np.empty((0, features.shape[1]), np.int8)]
    positions, broken = [np.empty(0, np.int64)], list["Broken"]()
    for part in hasher.stream(database, "both", **options):  # a part is rounded before the next
        codes.append(pack(part.values[:, : hasher.bits]))
        rows.append(quantise(part.values[:, hasher.bits :])[0])
        positions.append(part.positions)
        broken += part.broken
    found = replace(
        asked,
        values=np.concatenate(codes),
        positions=np.concatenate(positions),
        broken=tuple(broken),
    )
    return replace(asked, values=u), found, FeaturePair(features, np.concatenate(rows))
