"""Rescored searches, measured: against rankings by loops, and against what a search returns."""

import numpy as np
import pytest

from softhash import HammingIndex, InputError, evaluate, evaluate_codes, pack
from softhash.codes import unpack
from softhash.data import scenes
from softhash.data.image_set import ImageSet
from softhash.errors import UsageError
from softhash.evaluation import by_distance, measure
from softhash.evaluation.by_distance import (
    evaluate_distances,
    evaluate_feature_rescored,
    evaluate_rescored,
)
from softhash.evaluation.evaluate import evaluate_outputs
from softhash.evaluation.feature_pair import FeaturePair
from softhash.hamming import cosine
from softhash.hamming.cosine import quantise
from softhash.index import Entry, ranking
from softhash.model.hasher import Hasher

RNG = np.random.default_rng(3)
LABELS = (RNG.random((230, 6)) < 0.3).astype(np.uint8)
U = (LABELS @ RNG.normal(size=(6, 12)) + RNG.normal(size=(230, 12))).astype(np.float32)
U = np.round(2 * U) / 2  # so that different codes tie
QUERY, DATABASE = LABELS[:30], LABELS[30:]
CODES = pack(U[30:])
POOL = 70


@pytest.fixture
def small_pool(monkeypatch):
    monkeypatch.setattr(by_distance, "POOL", POOL)
    monkeypatch.setattr(ranking, "POOL", POOL)


def places(u):
    """The place of each item, equal for ties: by loops over items and bits."""
    found = []
    for item, bits in enumerate(unpack(CODES, 12)):
        weights = [abs(float(x)) for x, bit in zip(u, bits, strict=True) if (x > 0) != bool(bit)]
        found.append((len(weights), item, sum(weights)))
    return rescored_places(found)


def rescored_places(found):
    """Rank (Hamming distance, item, other distance): the first again by the other distance."""
    found = sorted(found)
    keys = [
        (rank >= POOL, other if rank < POOL else 0.0, distance)
        for rank, (distance, _, other) in enumerate(found)
    ]
    order = sorted(set(keys))
    near = np.empty(len(found))
    for key, (_, item, _) in zip(keys, found, strict=True):
        near[item] = order.index(key)
    return near


@pytest.mark.usefixtures("small_pool")
@pytest.mark.parametrize("ties", ["expected", "stable"])
def test_rescored_rankings_are_measured_as_the_definition_has_them(ties):
    near = np.stack([places(u) for u in U[:30]])
    asked = {"at": (1, 10, 69, 70, 71, 120, "all"), "ties": ties}
    by_hand = evaluate_distances(near, QUERY, DATABASE, bits=12, distance="", **asked)
    report = evaluate_rescored(U[:30], CODES, QUERY, DATABASE, **asked)
    assert report.metrics == pytest.approx(by_hand.metrics)
    for name, values in by_hand.per_query.items():
        assert report.per_query[name] == pytest.approx(values, nan_ok=True)
    assert "asymmetric" in report.contract["distance"]
    plain = evaluate_codes(pack(U[:30]), CODES, QUERY, DATABASE, bits=12, **asked)
    assert report.metrics["map@70"] != pytest.approx(plain.metrics["map@70"])


@pytest.mark.usefixtures("small_pool")
def test_what_is_measured_is_what_a_search_returns(tmp_path):
    with HammingIndex.create(tmp_path / "index", bits=12) as index:
        ids = index.add_codes(CODES, [Entry(f"{i}") for i in range(200)])
        assert ids == list(range(200))
        found = [[hit.id for hit in index.search(outputs=u, k=100, rescore=True)] for u in U[:30]]
    right = [
        np.mean([(QUERY[i] & DATABASE[item]).any() for item in row])
        for i, row in enumerate(found)
        if QUERY[i].any()
    ]
    cut = {"at": (5, 100), "ties": "stable"}
    report = evaluate_rescored(U[:30], CODES, QUERY, DATABASE, **cut)
    assert report.metrics["precision@100"] == pytest.approx(np.mean(right))


@pytest.mark.parametrize("ties", ["expected", "stable"])
def test_equal_weights_change_nothing(ties):
    signs = np.where(U[:30] > 0, 1.0, -1.0)
    asked = {"at": (7, 50, "all"), "ties": ties}
    plain = evaluate_codes(pack(U[:30]), CODES, QUERY, DATABASE, bits=12, **asked)
    rescored = evaluate_rescored(signs, CODES, QUERY, DATABASE, **asked)
    assert rescored.metrics == pytest.approx(plain.metrics)


@pytest.mark.usefixtures("small_pool")
def test_groups_of_queries_do_not_change_the_result(monkeypatch):
    whole = evaluate_rescored(U[:30], CODES, QUERY, DATABASE)
    monkeypatch.setattr(measure, "WORKING_BYTES", 1)
    assert evaluate_rescored(U[:30], CODES, QUERY, DATABASE).metrics == pytest.approx(whole.metrics)


def test_sides_that_do_not_fit_are_named():
    with pytest.raises(InputError, match="2 bytes per row, but 20 bits need 3"):
        evaluate_rescored(np.ones((30, 20)), CODES, QUERY, DATABASE)
    with pytest.raises(InputError, match="29 rows and query labels 30"):
        evaluate_rescored(U[:29], CODES, QUERY, DATABASE)


FEATURES = RNG.integers(-2, 3, (230, 3)).astype(np.float32)  # so that different items tie
PAIR = FeaturePair(FEATURES[:30], quantise(FEATURES[30:])[0])


@pytest.fixture
def small_feature_pool(monkeypatch):
    monkeypatch.setattr(cosine, "POOL", POOL)


def feature_places(query):
    """The place of each item, equal for ties: by loops, and cosines rounded to what is exact."""
    u, x = U[query], PAIR.queries[query].astype(float)
    found = []
    for item, bits in enumerate(unpack(CODES, 12)):
        far = sum((value > 0) != bool(bit) for value, bit in zip(u, bits, strict=True))
        row = PAIR.database[item].astype(float)
        norm = np.sqrt((x @ x) * (row @ row))
        found.append((far, item, round(1 - float(x @ row) / norm if norm else 1.0, 12)))
    return rescored_places(found)


@pytest.mark.usefixtures("small_feature_pool")
@pytest.mark.parametrize("ties", ["expected", "stable"])
def test_rankings_rescored_by_features_are_measured_as_the_definition_has_them(ties):
    near = np.stack([feature_places(query) for query in range(30)])
    asked = {"at": (1, 10, 69, 70, 71, 120, "all"), "ties": ties}
    by_hand = evaluate_distances(near, QUERY, DATABASE, bits=12, distance="", **asked)
    report = evaluate_feature_rescored(U[:30], CODES, QUERY, DATABASE, PAIR, **asked)
    for name, values in by_hand.per_query.items():
        assert report.per_query[name] == pytest.approx(values, nan_ok=True)
    assert "cosine of features" in report.contract["distance"]


@pytest.mark.usefixtures("small_feature_pool")
def test_what_is_measured_by_features_is_what_a_search_returns(tmp_path):
    contents = [f"{i:064x}" for i in range(1, 201)]
    entries = [Entry(f"{i}", sha256=content) for i, content in enumerate(contents)]
    asked = {"k": 100, "rescore": "features"}
    with HammingIndex.create(tmp_path / "index", bits=12) as index:
        ids = index.add_codes(CODES, entries)
        index.store.features.keep(3)
        index.store.features.put(ids, contents, FEATURES[30:])
        found = [
            index.search(outputs=u, features=x, **asked)
            for u, x in zip(U, FEATURES[:30], strict=False)
        ]
    gains = [
        [int((QUERY[i] & DATABASE[hit.id]).sum()) for hit in hits]
        for i, hits in enumerate(found)
        if QUERY[i].any()
    ]
    cut = {"at": (5, 20), "ties": "stable"}
    report = evaluate_feature_rescored(U[:30], CODES, QUERY, DATABASE, PAIR, **cut)
    for n in (5, 20):
        assert report.metrics[f"acg@{n}"] == pytest.approx(np.mean([row[:n] for row in gains]))


def test_a_report_names_what_was_rescored_and_by_what():
    asked = {"at": 10, "rescore": "features"}
    report = evaluate_outputs(U[:30], CODES, QUERY, DATABASE, features=PAIR, **asked)
    again = evaluate_feature_rescored(U[:30], CODES, QUERY, DATABASE, PAIR, at=10)
    assert report.rescored == again.metrics
    assert report.contract["rescored"] == "cosine of features within the first 200"
    assert report.contract["distance"] == "Hamming"
    with pytest.raises(UsageError, match="no features to rescore by"):
        evaluate_outputs(U[:30], CODES, QUERY, DATABASE, **asked)


def test_a_model_is_measured_with_its_own_features(tiny_model, tmp_path):
    scenes.write(tmp_path, count=40, size=48, workers=1)
    images, hasher = ImageSet.read(tmp_path), Hasher.load(tiny_model)
    query, database = images.select(range(10)), images.select(range(10, 40))
    report = evaluate(hasher, query, database, at=10, rescore="features", device="cpu")
    u, codes = hasher.outputs(query, device="cpu"), hasher.encode(database, device="cpu")
    features = [hasher.features(side, device="cpu") for side in (query, database)]
    pair = FeaturePair(features[0], quantise(features[1])[0])
    again = evaluate_feature_rescored(u, codes, query.labels, database.labels, pair, at=10)
    assert report.rescored == pytest.approx(again.metrics)
    assert report.metrics == pytest.approx(evaluate(hasher, query, database, at=10).metrics)
