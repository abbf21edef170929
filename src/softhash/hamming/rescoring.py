"""The nearest items ranked again, by more than the bits that differ.

Two ways: `bits` weighs each bit by how sure the query is of it (`asymmetric`), and costs no
storage; `features` compares with features kept beside the codes (`cosine`). Both leave what comes
after a pool of the nearest in its place.
"""

import numpy as np
import numpy.typing as npt

from softhash.errors import unknown_name

BITS, FEATURES = "bits", "features"

Floats = npt.NDArray[np.float64]
Positions = npt.NDArray[np.int64]


def choose_rescoring(asked: bool | str) -> str:
    """Return the way that was asked for, "" for none; True means by bits.

    >>> choose_rescoring(True), choose_rescoring("features"), choose_rescoring(False)
    ('bits', 'features', '')
    """
    if isinstance(asked, bool):
        return BITS if asked else ""
    if asked not in ("", BITS, FEATURES):
        raise unknown_name("way to rescore", asked, (BITS, FEATURES))
    return asked


def reranked(distances: Floats) -> tuple[Positions, Floats]:
    """Rank items, which come in (Hamming distance, id) order, by other distances.

    Returns their positions in the new order, and their distances. Items at equal distances stay in
    the order they came in. An item without a distance, NaN, keeps its place.

    >>> reranked(np.array([2.0, 2.5, 0.75]))
    (array([2, 0, 1]), array([0.75, 2.  , 2.5 ]))
    >>> reranked(np.array([2.0, np.nan, 0.75]))
    (array([2, 1, 0]), array([0.75,  nan, 2.  ]))
    """
    known = np.flatnonzero(~np.isnan(distances))
    order = np.arange(len(distances))
    order[known] = known[np.argsort(distances[known], kind="stable")]
    return order, distances[order]
