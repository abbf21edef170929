"""Rankings of records as sorted keys, which can be merged."""

import numpy as np

from softhash.hamming import nearest
from softhash.hamming.words import Words
from softhash.index.local._columns import Ids

Keys = Ids  # distance << 48 | id: sorting them ranks
ID_BITS = 48
PLACE = (1 << ID_BITS) - 1


def ranked(queries: Words, codes: Words, k: int, mask: Words | None) -> Keys:
    """Return keys (queries, at most k) of the nearest records.

    Args:
        queries: records (n, words).
        codes: records to search in.
        k: how many for each.
        mask: packed, of the records that count; None for all.

    """
    if not len(codes) or not len(queries) or (mask is not None and not mask.any()):
        return np.empty((len(queries), 0), np.int64)
    distances, places = nearest(queries.view(np.uint8), codes.view(np.uint8), k, mask=mask)
    return distances << ID_BITS | places  # type: ignore[no-any-return]


def renamed(keys: Keys, ids: Ids) -> Keys:
    """Replace positions by ids; ids are in order, so ranks do not change."""
    return keys >> ID_BITS << ID_BITS | ids[keys & PLACE]  # type: ignore[no-any-return]


def merged(first: Keys, second: Keys, k: int) -> Keys:
    """Rank what two parts of an index found together."""
    return np.sort(np.concatenate([first, second], axis=1), axis=1)[:, :k]
