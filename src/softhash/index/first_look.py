"""A first look at a collection: features of some of its pictures, and a model fitted to them.

The model that comes with softhash leaves most of its bits open. A new index fits them to its own
pictures, keeps the result as its model, and never changes it: codes stay comparable. The pictures
that were looked at need not be encoded again.
"""

import time
from collections import defaultdict
from collections.abc import Callable, Sequence
from typing import TYPE_CHECKING, NamedTuple, Unpack

from softhash.index.encoding import KnownFeatures
from softhash.model.config import FP32
from softhash.model.default_model import default_model, fit_default_model
from softhash.model.engine_choice import AUTO

if TYPE_CHECKING:
    from softhash.data.image_set import ImageSet
    from softhash.model.encoding import EncodeOptions
    from softhash.model.hasher import Hasher

PICTURES = 4000  # that are looked at, at most


class FirstLook(NamedTuple):
    """What a first look found.

    Attributes:
        hasher: fitted to the collection.
        features: of the pictures that were looked at, by their positions in the collection.
        seconds: how long it took.

    """

    hasher: "Hasher"
    features: KnownFeatures
    seconds: float = 0.0


def look_at(
    images: "ImageSet",
    report: Callable[[str], None] = lambda note: None,
    *,
    engine: str = FP32,
    **options: Unpack["EncodeOptions"],
) -> FirstLook:
    """Look at up to 4,000 pictures of a collection, and fit the default model to them.

    Pictures that cannot be read are passed over.

    Args:
        images: the collection.
        report: called with a line before work that takes seconds.
        engine: of the model; `auto` for what suits this machine, see `Hasher.with_engine`.
        options: those of `Hasher.encode`.

    """
    from softhash.model.hasher import Hasher

    started = time.monotonic()
    chosen = choose_evenly(images.file_names, PICTURES)
    plain = Hasher.load(default_model(report))
    plain = plain.with_engine(engine, options.get("device", AUTO))
    found = plain.encode_readable(images.select(chosen), "features", **options)
    places = (chosen[i] for i in found.positions.tolist())
    features = dict(zip(places, found.values, strict=True))
    fitted = fit_default_model(found.values).with_engine(plain.engine)
    return FirstLook(fitted, features, time.monotonic() - started)


def choose_evenly(file_names: Sequence[str], count: int) -> list[int]:
    """Return positions of so many files, about as many of every folder.

    A folder with fewer than its share is taken whole, and the others share what it leaves. Within a
    folder, files are taken at equal steps.

    Args:
        file_names: with `/` between their parts.
        count: how many at most.

    >>> choose_evenly(["a/1", "a/2", "a/3", "a/4", "b/1"], 3)
    [0, 2, 4]

    """
    folders = defaultdict(list)
    for position, name in enumerate(file_names):
        folders[name.rpartition("/")[0]].append(position)
    chosen, left = list[int](), min(count, len(file_names))
    smallest_first = sorted(folders.values(), key=len)
    for done, positions in enumerate(smallest_first):
        # Rounded down, so that the last and largest folders make up for it.
        share = min(len(positions), left // (len(smallest_first) - done))
        chosen += [positions[i * len(positions) // share] for i in range(share)]
        left -= share
    return sorted(chosen)
