"""The features of an index at the command line: kept, filled in, let go."""

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


def fill_features(
    opened: "HammingIndex", *, batch_size: int | None, device: str
) -> dict[str, dict[str, int]]:
    """Compute the features that an index should have and does not, and return what was done.

    Args:
        opened: for writing; where it keeps no features, nothing is done.
        batch_size: pictures at once.
        device: where pictures are encoded.

    """
    from softhash.cli._progress import show_progress
    from softhash.index import features

    if features.kept_features(opened.store) is None:
        return {}
    missing = features.missing_features(opened)
    if missing:
        say(f"computing the features of {len(missing):,} items, of {len(opened):,}")
    options: dict[str, Any] = {"batch_size": batch_size, "device": device}
    try:
        with show_progress("features", "pictures") as progress:
            filled = features.fill_features(opened, missing, progress=progress, **options)
    except KeyboardInterrupt:
        say("stopped; codes are complete, and the same command continues with the features")
        raise
    left = len(missing) - filled
    if left:
        items = "item has" if left == 1 else "items have"
        warn(
            f"{left:,} {items} no features, since their files are gone, changed or broken; "
            "searches rank them by their bits"
        )
    return {"features": {"kept": len(opened) - left, "computed": filled, "missing": left}}
