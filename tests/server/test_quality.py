"""The report, against the same numbers computed from the index by hand."""

import numpy as np
import pytest
from serving import is_problem, open_client

from softhash import evaluate_codes
from softhash.server import quality as module


def arrays(index, ids):
    items = index.store.get(list(ids))
    names = list(index.store.labels())
    labels = np.array([[name in item.entry.labels for name in names] for item in items], np.uint8)
    return np.array([list(item.code) for item in items], np.uint8), labels


@pytest.fixture(scope="module")
def report(client):
    answer = client.get("/api/v1/report")
    assert answer.status_code == 200, answer.text
    return answer.json()


def list_queries(report):
    return {one["item"]["id"] for one in report["best"] + report["worst"]}


def test_metrics_are_those_of_the_codes(report, index):
    # 40 labelled items give 8 queries, of which all are shown
    queries = sorted(list_queries(report))
    assert len(queries) == report["contract"]["queries"] == 8
    database = [id for id in range(40) if id not in queries]
    (a, c), (b, d) = arrays(index, queries), arrays(index, database)
    right = evaluate_codes(a, b, c, d, bits=12, at=(10, "all"))
    for name, value in right.metrics.items():
        assert report["metrics"][name] == pytest.approx(value)
        assert report["standard_errors"][name] == pytest.approx(right.standard_errors[name])
    scores = dict(zip(queries, right.per_query["map@all"], strict=True))
    for one in report["best"] + report["worst"]:
        assert one["average_precision"] == pytest.approx(scores[one["item"]["id"]])
    shown = [one["average_precision"] for one in report["best"]]
    assert shown == sorted(shown, reverse=True)
    shown = [one["average_precision"] for one in report["worst"]]
    assert shown == sorted(shown)
    assert max(shown) <= min(one["average_precision"] for one in report["best"])


def test_curves_and_contract_tell_how_it_was_measured(report):
    assert report["curves"]["n"] == [1, 2, 5, 10, 20, 32]
    assert set(report["curves"]) == {"n", "acg", "ndcg", "precision", "recall"}
    assert report["curves"]["recall"][-1] == 1.0
    contract = report["contract"]
    assert (contract["database"], contract["items_left_out"], contract["bits"]) == (32, 0, 12)


def test_hits_of_a_query_are_its_nearest_among_the_others(report, index):
    queries = list_queries(report)
    for one in report["worst"]:
        ranking = index.search(id=one["item"]["id"], k=39)
        right = [hit for hit in ranking if hit.id not in queries][:8]
        assert [(hit["id"], hit["distance"]) for hit in one["hits"]] == [
            (hit.id, hit.distance) for hit in right
        ]
        assert [set(hit["shared"]) for hit in one["hits"]] == [set(hit.shared) for hit in right]


def test_a_report_is_computed_again_when_the_index_changed(writer, writable, monkeypatch):
    calls = []
    honest = module.load

    def counted(index):
        calls.append(index.store.version)
        return honest(index)

    monkeypatch.setattr(module, "load", counted)
    first, second = (writer.get("/api/v1/report").json() for _ in range(2))
    assert first == second
    assert len(calls) == 1
    writable.remove(0)
    third = writer.get("/api/v1/report").json()
    assert len(calls) == 2
    total = third["contract"]["database"] + third["contract"]["queries"]
    assert total == 5


def test_no_more_is_loaded_than_fits(index, monkeypatch):
    monkeypatch.setattr(module, "MAX_ITEMS", 25)
    monkeypatch.setattr(module, "PAGE", 10)
    report = module.quality(index)
    assert report["contract"]["database"] + report["contract"]["queries"] == 25
    assert report["contract"]["items_left_out"] == 15
    monkeypatch.setattr(module, "MAX_CELLS", 10 * len(index.store.labels()))
    assert len(module.load(index).ids) == 10


def test_without_labels_there_is_no_report(writable):
    entries = {id: entry._replace(labels=()) for id, entry in writable.store.scan()}
    writable.store.revise(entries)
    with open_client(writable) as client:
        told = is_problem(client.get("/api/v1/report"), 422, "no-labels")
        assert "metadata.csv" in told["hint"]
        writable.store.revise({0: entries[0]._replace(labels=("alone",))})
        is_problem(client.get("/api/v1/report"), 422, "no-labels")
