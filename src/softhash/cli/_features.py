"""What an index keeps beside its codes, at the command line: kept, filled in, let go."""

from collections.abc import Callable, Sequence
from typing import TYPE_CHECKING, Any

from softhash.cli._output import say, warn

if TYPE_CHECKING:
    from softhash.index import HammingIndex

DROPPED = "features are no longer kept; codes and items stay"


def drop_features(location: str) -> None:
    """Let the features of an index go, and change nothing else."""
    from softhash.index import HammingIndex
    from softhash.index.features import drop_features as drop

    with HammingIndex.open(location, writable=True) as opened:
        drop(opened)
        say(f"{opened.store.location}: {DROPPED}")


def check_location(location: str) -> None:
    """Raise UsageError where an index at that location could not keep features."""
    from softhash.index.features import check_keeps_features
    from softhash.index.registry import choose_store

    check_keeps_features(choose_store(location), location)


def choose_features(opened: "HammingIndex", keep: bool | None) -> None:
    """Keep features or let them go; None for what the index did before."""
    from softhash.index import features

    if keep is False:
        features.drop_features(opened)
        say(DROPPED)
    elif keep:
        features.keep_features(opened)


def fill_derived(
    opened: "HammingIndex", *, batch_size: int | None, device: str
) -> dict[str, dict[str, int]]:
    """Compute what an index should keep beside its codes and does not; return what was done.

    Args:
        opened: for writing.
        batch_size: pictures at once.
        device: where pictures are encoded.

    """
    from softhash.index import facts, features, likely

    options: dict[str, Any] = {"batch_size": batch_size, "device": device}
    filled = {}
    if features.kept_features(opened.store) is not None:
        missing, without = features.missing_features(opened), "searches rank them by their bits"
        counts = _fill(opened, "features", features.fill_features, missing, without, **options)
        filled["features"] = counts
    if likely.can_keep_likely(opened.store):  # from the features, where they are kept
        missing, without = likely.missing_likely(opened), "searches by likely labels miss them"
        counts = _fill(opened, "likely labels", likely.fill_likely, missing, without, **options)
        filled["likely"] = counts
    if isinstance(opened.store, facts.FactStore):
        missing, without = facts.missing_facts(opened), "searches by date or camera miss them"
        filled["facts"] = _fill(
            opened, "photo facts", facts.fill_facts, missing, without, verb="reading"
        )
    return filled


def _fill(
    opened: "HammingIndex",
    what: str,
    fill: Callable[..., int],
    missing: Sequence[object],
    without: str,
    verb: str = "computing",
    **options: Any,
) -> dict[str, int]:
    """Compute what is missing, and print what is done.

    Args:
        opened: for writing.
        what: is computed, in words.
        fill: computes it.
        missing: the items that have none.
        without: what it means for an item to have none.
        verb: what is done.
        options: those of `fill`.

    """
    from softhash.cli._progress import show_progress

    if missing:
        items = "item" if len(missing) == 1 else "items"
        say(f"{verb} the {what} of {len(missing):,} {items}, of {len(opened):,}")
    try:
        with show_progress(what, "pictures") as progress:
            filled = fill(opened, missing, progress=progress, **options)
    except KeyboardInterrupt:
        say(f"stopped; codes are complete, and the same command continues with the {what}")
        raise
    left = len(missing) - filled
    if left:
        items = "item has" if left == 1 else "items have"
        warn(
            f"{left:,} {items} no {what}, since their files are gone, changed or broken; {without}"
        )
    return {"kept": len(opened) - left, "computed": filled, "missing": left}
