"""How good codes of new pictures will be, where all pictures are trained on: cross-validation.

The pictures are dealt into folds. Those of each fold are searched for among all others, by codes
that were learned from the others alone, and by the cosine of the backbone's features, which learn
nothing. Both see the same queries and the same database.
"""

from collections.abc import Iterator
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from softhash.data.loading import Progress
from softhash.errors import UsageError
from softhash.evaluation.by_distance import evaluate_distances
from softhash.evaluation.evaluate import evaluate_codes
from softhash.training.fit import build_hasher, fit_features
from softhash.training.methods import method_class
from softhash.training.options import Options
from softhash.training.recipe import Recipe

FOLDS = 3
MIN_PICTURES = 30  # of fewer, folds are too small to say anything
ONE_FOLD_FROM = 1000  # pictures: one fold has queries enough then, and three take too long
MAX_QUERIES = 1000  # per fold
CUTS = (20, 100)
METRICS = ("precision@20", "ndcg@20", "map@100")
_EPSILON = 1e-12

Rows = NDArray[np.int64]


class Estimate(NamedTuple):
    """What new pictures can expect: means over queries, by the names of metrics.

    Attributes:
        codes: of searches by codes that had not been trained on the query.
        features: of the same searches by the cosine of features.
        lost: the metrics in which codes are worse, by more than chance explains.
        folds: how many times codes were learned.
        queries: how many pictures were searched for.

    """

    codes: dict[str, float]
    features: dict[str, float]
    lost: tuple[str, ...]
    folds: int
    queries: int


def cross_validate(
    features: NDArray[np.float32],
    labels: NDArray[np.uint8],
    recipe: Recipe,
    *,
    device: str = "auto",
    progress: Progress | None = None,
) -> Estimate:
    """Estimate the quality of codes that a recipe learns from features (n, d).

    Args:
        features: of pictures, of which some may have no label.
        labels: multi-hot (n, classes).
        recipe: how codes are learned.
        device: where they are.
        progress: called with (folds done, folds in all).

    Raises:
        UsageError: as `check_estimable`.

    """
    check_estimable(labels, recipe)
    folds = list(deal_folds(features, labels, recipe.seed))
    scores = []
    for done, (query, database) in enumerate(folds):
        if progress:
            progress(done, len(folds))
        codes = _learned_codes(features, labels, database, recipe, device)
        sides = labels[query], labels[database]
        measured = (
            evaluate_codes(codes[query], codes[database], *sides, bits=recipe.bits, at=CUTS),
            evaluate_distances(
                1 - _unit(features[query]) @ _unit(features[database]).T, *sides,
                bits=recipe.bits, distance="cosine of float features", at=CUTS, ties="stable",
            ),
        )  # fmt: skip
        values = [[report.per_query[name] for name in METRICS] for report in measured]
        scores.append(np.array(values))
    return _summarise(np.concatenate(scores, axis=2), len(folds))


def _summarise(scores: NDArray[np.float64], folds: int) -> Estimate:
    """Average the scores (2, metrics, queries) of codes and of features.

    A metric is lost where the mean difference is below zero by more than its standard error.
    """
    queries = scores.shape[2]
    gained = scores[0] - scores[1]
    lost = gained.mean(axis=1) < -gained.std(axis=1, ddof=1) / np.sqrt(queries)
    codes, features = (dict(zip(METRICS, row.tolist(), strict=True)) for row in scores.mean(axis=2))
    names = tuple(name for name, is_lost in zip(METRICS, lost, strict=True) if is_lost)
    return Estimate(codes, features, names, folds, queries)


def check_estimable(labels: NDArray[np.uint8], recipe: Recipe) -> None:
    """Raise UsageError where the quality of a recipe's codes cannot be estimated.

    Args:
        labels: of the pictures (n, classes), multi-hot.
        recipe: how codes are learned.

    """
    labelled = int(labels.any(axis=1).sum())
    if labelled < MIN_PICTURES:
        raise UsageError(
            f"{labelled} labelled pictures are too few to estimate the quality of codes",
            f"label at least {MIN_PICTURES}",
        )
    if recipe.mode != "frozen":
        raise UsageError(
            "the quality of a fine-tuned network takes too long to estimate",
            "measure it on pictures that it is not trained on",
        )
    build_hasher(recipe, features=1, method=method_class(recipe.method)).check_hamming()


def deal_folds(
    features: NDArray[np.float32], labels: NDArray[np.uint8], seed: int
) -> Iterator[tuple[Rows, Rows]]:
    """Yield the queries and the database of each fold; copies of a picture are in the same fold.

    Args:
        features: (n, d); equal rows are copies.
        labels: multi-hot (n, classes); a picture without labels is never a query.
        seed: what the deal depends on.

    """
    first: dict[bytes, int] = {}
    groups = np.array([first.setdefault(row.tobytes(), len(first)) for row in features])
    rng = np.random.default_rng(seed)
    fold = (rng.permutation(len(first)) % FOLDS)[groups]
    labelled = labels.any(axis=1)
    for number in range(FOLDS if labelled.sum() < ONE_FOLD_FROM else 1):
        query = np.flatnonzero((fold == number) & labelled)
        drawn = np.sort(rng.permutation(query)[:MAX_QUERIES])  # collections are often in some order
        yield drawn, np.flatnonzero(fold != number)


def _learned_codes(
    features: NDArray[np.float32],
    labels: NDArray[np.uint8],
    rows: Rows,
    recipe: Recipe,
    device: str,
) -> NDArray[np.uint8]:
    """Return codes of all pictures by a head that was trained on some of them."""
    hasher = build_hasher(recipe, features=features.shape[1])
    options = Options(device=device)
    fit_features(hasher, features[rows], labels[rows], recipe=recipe, options=options)
    return hasher.encode(features, device=device)


def _unit(rows: NDArray[np.float32]) -> NDArray[np.float32]:
    length = np.linalg.norm(rows, axis=1, keepdims=True)
    unit: NDArray[np.float32] = rows / np.maximum(length, _EPSILON)
    return unit
