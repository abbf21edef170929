"""Files of an index compared with each other: which are near copies of which."""

from functools import partial

import numpy as np

from softhash.data.loading import Progress
from softhash.hamming.cosine import cosine_distances
from softhash.index._listing import Listing, Rows
from softhash.index._near_copies import (
    Fingerprints,
    Floats,
    NearCopies,
    Places,
    find_near_copies,
    with_neighbour,
)
from softhash.index._perceptual_hash import HashedFiles
from softhash.index.features import KeptFeatures, kept_features


def compare_files(
    listing: Listing, rows: Rows, hashed: HashedFiles, tolerance: int, progress: Progress
) -> NearCopies:
    """Find near copies among files of different contents; the largest picture is the original.

    Args:
        listing: of the index.
        rows: of the files.
        hashed: their perceptual hashes.
        tolerance: bits of these that may differ.
        progress: called with (hashes compared, hashes in all).

    """
    places = np.flatnonzero(hashed.counts)
    places = places[with_neighbour(hashed.hashes[places], tolerance, progress)]
    chosen, index = rows[places], listing.index
    distances = partial(_cosine_distances, kept_features(index.store), listing, chosen)
    prints = Fingerprints(hashed.hashes[places], listing.codes(chosen), index.bits, distances)
    ranks = [listing.rank(row, listing.size(row)) for row in chosen.tolist()]
    order = sorted(range(len(ranks)), key=ranks.__getitem__)
    among, found = find_near_copies(prints, order, tolerance), NearCopies.none(len(rows))
    found.first[places] = places[among.first]
    found.distances[places], found.hash_distances[places] = among.distances, among.hash_distances
    return found


def _cosine_distances(
    kept: KeptFeatures | None, listing: Listing, rows: Rows, place: int, others: Places
) -> Floats:
    """Return 1 − cosine of the features of files; NaN where they are not kept."""
    distances = np.full(1 + len(others), np.nan)
    if kept is not None:
        items = (listing.item(int(rows[i])) for i in (place, *others))
        found = kept.get([(item.id, item.entry) for item in items])
        if found.places.size and found.places[0] == 0:
            distances[found.places] = cosine_distances(found.rows[0], found.rows)
    return distances[1:]
