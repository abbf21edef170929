"""Searches in two stages: the first 64 bits of codes choose candidates, all bits rank them.

Only where the model was trained so that its first 64 bits are a code of their own, in stores that
can, without a largest distance, and unless an exact search is asked for.
"""

from collections.abc import Callable
from functools import partial
from typing import TYPE_CHECKING, Protocol, cast, runtime_checkable

from softhash.codes import Codes
from softhash.index._offers import offers
from softhash.index.items import Near
from softhash.index.kept_model import kept_model
from softhash.index.store import Store
from softhash.index.where import EVERYTHING, Where

if TYPE_CHECKING:
    from softhash.index.hamming_index import HammingIndex

FIRST_BITS = 64


@runtime_checkable
class TwoStageStore(Protocol):
    """What a `Store` may offer too."""

    def search_in_two_stages(
        self, codes: Codes, k: int, *, offset: int = 0, where: Where = EVERYTHING
    ) -> list[list[Near]]:
        """Rank items as `search` does, but for items whose first bits are far from the query's.

        These come after all others, see `softhash.hamming.two_stages`. Where two stages would not
        be faster, the ranking is that of `search`.

        Args:
            codes: packed, one row per query.
            k: how many items to return for each.
            offset: items to skip before them.
            where: the items that count.

        """


def may_search_in_two_stages(index: "HammingIndex") -> bool:
    """Return whether the store can, and the first bits of the codes are a code of their own."""
    return offers(index.store, TwoStageStore) and FIRST_BITS in index.lengths


def kept_lengths(store: Store) -> tuple[int, ...]:
    """Return the lengths that the model kept with an index was trained for; none without one."""
    return kept_model(store).lengths


def choose_search(
    store: Store, radius: int | None, *, exact: bool
) -> Callable[..., list[list[Near]]]:
    """Return what ranks items: in two stages, unless all codes are to be compared in full.

    Args:
        store: what is searched.
        radius: the largest distance, None for any.
        exact: whether two stages are out of the question.

    """
    if exact or radius is not None or not offers(store, TwoStageStore):
        return partial(store.search, radius=radius)
    return cast(TwoStageStore, store).search_in_two_stages
