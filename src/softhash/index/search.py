"""From what is asked for to a search result; what can be wrong is checked first."""

from collections.abc import Sequence
from typing import TYPE_CHECKING, NamedTuple

from softhash.errors import UsageError, unknown_name
from softhash.hamming.rescoring import BITS, FEATURES, choose_rescoring
from softhash.index.features import need_features
from softhash.index.likely import kept_likely
from softhash.index.query import Window
from softhash.index.result import SearchResult
from softhash.index.retrieval import find_hits, list_hits
from softhash.index.stages import may_search_in_two_stages
from softhash.index.store import Store
from softhash.index.sure import check_can_be_sure
from softhash.index.target import Target, build_query
from softhash.index.where import (
    EVERYTHING,
    LIKELY,
    Label,
    Likely,
    Where,
    leaves,
    literals,
    with_likely,
)

if TYPE_CHECKING:
    from softhash.index.hamming_index import HammingIndex


class Filter(NamedTuple):
    """Which items count, and which hits.

    Attributes:
        where: label logic, as it was asked for.
        given_only: whether likely labels do not count.
        likely_from: the probability from which on they do, where the index keeps them.
        at_least: leave out hits that are less sure; None for none.

    """

    where: Where = EVERYTHING
    given_only: bool = False
    likely_from: float = LIKELY
    at_least: float | None = None

    def check(self) -> None:
        """Raise unless probabilities are probabilities."""
        for name in ("likely_from", "at_least"):
            value = getattr(self, name)
            if value is not None and not 0 <= value <= 1:
                raise UsageError(f"{name} is {value}", "give a probability, from 0 to 1")

    def expand(self, store: Store) -> Where:
        """Return the label logic with likely labels, where they count and are kept."""
        if self.given_only or self.where == EVERYTHING or kept_likely(store) is None:
            return self.where
        return with_likely(self.where, self.likely_from)


def run_search(
    index: "HammingIndex",
    target: Target,
    window: Window,
    kept: Filter,
    *,
    labels: Sequence[str] | None = None,
    rescore: bool | str = False,
    exact: bool = True,
) -> SearchResult:
    """Search an index; everything that can be wrong is checked before a picture is encoded.

    Args:
        index: what is searched.
        target: what is searched for.
        window: the part of the ranking that is wanted.
        kept: the items and hits that count.
        labels: the target's labels; None to look them up in the index.
        rescore: what to rank the nearest again by: "bits", which True means, or "features".
        exact: whether all codes are compared in full. Rescoring by bits takes so many of the
            nearest that they always are.

    """
    store, way = index.store, choose_rescoring(rescore)
    window.check()
    kept.check()
    if target.is_empty and kept.where != EVERYTHING:
        return _list(store, window, kept, rescore=way)
    target.check(way)
    if len(target.words):
        _check_without_distances("words", window, kept)
    where, asked = kept.expand(store), target.find_words(store)
    check_labels(store, where)
    if kept.at_least is not None:
        alone = target.outputs is not None and target.features is None
        check_can_be_sure(store, by_code=target.code is not None or alone)
    if way == FEATURES:
        need_features(store)
    query = build_query(index, target, labels, way)
    in_full = exact or query.rescore == BITS or not may_search_in_two_stages(index)
    query = query._replace(exact=in_full, asked=asked)
    hits = find_hits(store, query, window, where, kept.at_least)
    known = query.code, query.labels, query.likely
    first, shown = window.offset + 1, str(kept.where)
    return SearchResult(*known, hits, first, query.itself, shown, None, *asked)


def _list(store: Store, window: Window, kept: Filter, *, rescore: str) -> SearchResult:
    """Answer a search by labels alone."""
    _check_without_distances("labels", window, kept, rescore)
    where = kept.expand(store)
    check_labels(store, where)
    hits, (total,) = list_hits(store, window, where), store.count(where)
    first, shown = window.offset + 1, str(kept.where)
    return SearchResult(b"", hits=hits, first=first, where=shown, total=total)


def _check_without_distances(what: str, window: Window, kept: Filter, rescore: str = "") -> None:
    """Raise UsageError for what only a search by distance has."""
    wrong = {
        "rescoring": rescore,
        "a largest distance": window.radius is not None,
        "how sure hits are": kept.at_least is not None,
    }
    for name, is_asked in wrong.items():
        if is_asked:
            hint = "search for a picture, an item or a code, or leave it out"
            raise UsageError(f"{name} means nothing for {what} alone", hint)


def check_labels(store: Store, where: Where) -> None:
    """Raise UsageError for a label that no item has, and the model does not name either."""
    words = _words_of_model(store, where)
    asked = [name for name in dict.fromkeys(n for n, _ in literals(where)) if name not in words]
    counts = store.count(*map(Label, asked)) if asked else []  # counting all labels may take long
    for label, count in zip(asked, counts, strict=True):
        if not count:
            known = sorted({*store.labels(), *words})
            if not known:
                raise UsageError(
                    f"no item has the label '{label}': the items of this index have no labels",
                    "search without labels, or index a collection that has some",
                )
            raise unknown_name("label", label, known)


def _words_of_model(store: Store, where: Where) -> frozenset[str]:
    """Return the labels that the model names, where likely labels are asked for."""
    asked = any(isinstance(leaf, Likely) for leaf, _ in leaves(where))
    kept = kept_likely(store) if asked else None
    return frozenset(kept.words if kept is not None else ())
