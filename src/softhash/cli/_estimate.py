"""What ``softhash train`` prints of a model's quality, where all pictures were trained on."""

from typing import TYPE_CHECKING, Any

from softhash.cli._output import say, warn
from softhash.errors import UsageError

if TYPE_CHECKING:
    from softhash.data.image_set import ImageSet
    from softhash.model.hasher import Hasher
    from softhash.training.cross_validation import Estimate
    from softhash.training.options import Options
    from softhash.training.recipe import Recipe


def estimate_quality(
    hasher: "Hasher", images: "ImageSet", recipe: "Recipe", options: "Options"
) -> dict[str, Any]:
    """Estimate how good codes of new pictures are, print it, and return what the card has of it.

    Args:
        hasher: whose backbone computes the features; those of its training are cached.
        images: the collection that was trained on.
        recipe: how.
        options: of the training.

    """
    from softhash.cli._progress import show_progress
    from softhash.training.cross_validation import check_estimable, cross_validate
    from softhash.training.distributed import rank
    from softhash.training.features import compute_features
    from softhash.training.methods import method_class
    from softhash.training.train_set import trainable_rows

    chosen = images.select(trainable_rows(method_class(recipe.method), images.labels))
    leads = rank() == 0
    try:
        check_estimable(chosen.labels, recipe)
        found = compute_features(hasher, chosen, device=options.device, cache=options.feature_cache)
        with show_progress("estimating the quality, by folds") as progress:
            estimate = cross_validate(
                found.values, chosen.labels[found.positions], recipe,
                device=options.device, progress=progress if leads else None,
            )  # fmt: skip
    except UsageError as error:  # the model itself is fine
        options.warn(f"the quality is not estimated: {error}")
        return {}
    if leads:
        _print(estimate, recipe.bits)
    return {"estimate": estimate._asdict()}


def _print(estimate: "Estimate", bits: int) -> None:
    folds = "1 fold" if estimate.folds == 1 else f"{estimate.folds} folds"
    say(f"new pictures can expect ({estimate.queries:,} queries, cross-validation by {folds}):")
    rows = {f"codes of {bits} bits": estimate.codes, "plain features": estimate.features}
    for name, metrics in rows.items():
        values = "  ".join(f"{metric} {value:.3f}" for metric, value in metrics.items())
        say(f"  {name:18} {values}")
    if estimate.lost:
        warn(
            f"this model is worse than plain features in {', '.join(estimate.lost)}: more pictures "
            "per label help, and so does `search --rescore features`"
        )
