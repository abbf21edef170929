"""The estimate of a model's quality, against codes and rankings made by hand."""

import numpy as np
import pytest

from softhash import Hasher, UsageError
from softhash.training import cross_validation
from softhash.training.cross_validation import (
    METRICS,
    check_estimable,
    cross_validate,
    deal_folds,
)
from softhash.training.recipe import Recipe

RECIPE = Recipe.with_defaults(method="lsh", bits=16)


def material(n=90, classes=4, seed=0):
    rng = np.random.default_rng(seed)
    labels = (rng.random((n, classes)) < 0.4).astype(np.uint8)
    labels[:, 0] |= ~labels.any(axis=1)
    noise = rng.normal(size=(n, 12)) * 0.5
    return (labels @ rng.normal(size=(classes, 12)) + noise).astype(np.float32), labels


def test_folds_share_no_picture_and_hold_every_labelled_one_once():
    features, labels = material()
    labels[:9] = 0
    folds = list(deal_folds(features, labels, seed=1))
    assert len(folds) == 3
    for query, database in folds:
        assert not set(query) & set(database)
        assert len(query) <= 30 <= 60 <= len(database) + 1
    assert sorted(np.concatenate([query for query, _ in folds])) == list(range(9, 90))


def test_copies_of_a_picture_are_never_searched_for_among_each_other():
    features, labels = material()
    features[1::2] = features[::2]
    for query, database in deal_folds(features, labels, seed=0):
        assert not set(query // 2) & set(database // 2)


def test_of_many_pictures_one_fold_is_enough(monkeypatch):
    monkeypatch.setattr(cross_validation, "ONE_FOLD_FROM", 90)
    monkeypatch.setattr(cross_validation, "MAX_QUERIES", 7)
    [(query, database)] = deal_folds(*material(), seed=0)
    assert (len(query), len(database)) == (7, 60)


def precision(distances, relevant, first):
    """Precision by sorting, where no distances are tied."""
    order = np.argsort(distances, axis=1)[:, :first]
    return np.take_along_axis(relevant, order, axis=1).mean()


def test_features_are_ranked_by_their_cosine():
    features, labels = material()
    means = []
    for query, database in deal_folds(features, labels, RECIPE.seed):
        lengths = np.linalg.norm(features, axis=1)
        cosine = (features[query] @ features[database].T) / np.outer(
            lengths[query], lengths[database]
        )
        relevant = labels[query].astype(int) @ labels[database].T > 0
        means.append(precision(-cosine, relevant, 20))
    found = cross_validate(features, labels, RECIPE, device="cpu")
    assert found.features["precision@20"] == pytest.approx(np.mean(means), abs=1e-6)
    assert (found.folds, found.queries) == (3, 90)


def test_codes_are_learned_from_pictures_that_are_not_queries(monkeypatch):
    features, labels = material()
    seen = []

    def fit_features(hasher, x, y, **options):
        seen.append({row.tobytes() for row in x})
        assert options["options"].checkpoint is None

    monkeypatch.setattr(cross_validation, "fit_features", fit_features)
    cross_validate(features, labels, RECIPE, device="cpu")
    for trained, (query, _) in zip(seen, deal_folds(features, labels, RECIPE.seed), strict=True):
        assert not trained & {features[i].tobytes() for i in query}


def test_codes_that_are_worse_than_features_are_named(monkeypatch):
    features, labels = material()

    same, perfect = np.zeros((90, 2), np.uint8), np.pad(labels, ((0, 0), (0, 12)))
    monkeypatch.setattr(Hasher, "encode", lambda *_, **__: same)
    assert cross_validate(features, labels, RECIPE, device="cpu").lost == METRICS
    monkeypatch.setattr(Hasher, "encode", lambda *_, **__: np.packbits(perfect, axis=1))
    assert cross_validate(features, labels, RECIPE, device="cpu").lost == ()


@pytest.mark.parametrize(
    ("labelled", "settings", "message"),
    [
        (29, {"method": "lsh"}, "29 labelled pictures are too few"),
        (40, {"method": "idhn", "mode": "finetune"}, "takes too long to estimate"),
        (40, {"method": "dqn"}, "means nothing"),
    ],
)
def test_what_cannot_be_estimated_is_named(labelled, settings, message):
    labels = np.zeros((60, 2), np.uint8)
    labels[:labelled] = 1
    with pytest.raises(UsageError, match=message):
        check_estimable(labels, Recipe.with_defaults(**settings))


def test_queries_are_drawn_from_all_of_a_large_collection(monkeypatch):
    monkeypatch.setattr(cross_validation, "MAX_QUERIES", 40)
    features, labels = material(n=900)
    for query, database in deal_folds(features, labels, seed=0):
        assert len(query) == 40
        assert (np.diff(query) > 0).all()
        assert not np.isin(query, database).any()
        assert query.min() < 200
        assert query.max() > 700
