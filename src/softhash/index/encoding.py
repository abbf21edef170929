"""Pictures encoded for an index: those whose features are known by the head alone, others whole."""

from collections.abc import Generator, Iterator, Mapping, Sequence
from contextlib import closing
from dataclasses import replace
from typing import TYPE_CHECKING, Any, Unpack

import numpy as np
from numpy.typing import NDArray

from softhash.codes import pack
from softhash.model.encoding import Encoded

if TYPE_CHECKING:
    from softhash.data.image_set import ImageSet
    from softhash.model.encoding import EncodeOptions
    from softhash.model.hasher import Hasher

AT_ONCE = 256  # pictures whose features are known

KnownFeatures = Mapping[int, NDArray[np.float32]]  # by position in a collection


def encode_pictures(
    hasher: "Hasher",
    images: "ImageSet",
    positions: Sequence[int],
    kind: str,
    known: KnownFeatures,
    **options: Unpack["EncodeOptions"],
) -> Generator[Encoded, None, None]:
    """Encode pictures of a collection batch by batch; what is yielded has their positions in it.

    Args:
        hasher: what encodes.
        images: the collection.
        positions: of the pictures to encode.
        kind: `codes`, or `both` for outputs and features.
        known: features of some pictures.
        options: those of `Hasher.encode`.

    """
    yield from _encode_known(hasher, [at for at in positions if at in known], kind, known)
    rest = [at for at in positions if at not in known]
    if not rest:
        return
    with closing(hasher.stream(images.select(rest), kind=kind, **options)) as parts:
        for part in parts:
            broken = tuple(replace(one, position=rest[one.position]) for one in part.broken)
            yield Encoded(part.values, np.array(rest, np.int64)[part.positions], broken)


def _encode_known(
    hasher: "Hasher", positions: Sequence[int], kind: str, known: KnownFeatures
) -> Iterator[Encoded]:
    if not positions:
        return
    head = hasher.head_only()
    for start in range(0, len(positions), AT_ONCE):
        some = positions[start : start + AT_ONCE]
        features = np.stack([known[at] for at in some])
        u = head.outputs(features)
        values: NDArray[Any] = pack(u) if kind == "codes" else np.hstack((u, features))
        yield Encoded(values, np.array(some, np.int64), ())
