"""Metrics for torchmetrics, against enumeration and torchmetrics' own where they agree."""

import subprocess
import sys

import pytest
import torch
from enumeration import all_orders, by_definition, rankings
from hypothesis import given, settings
from hypothesis import strategies as st
from torchmetrics.retrieval import RetrievalMAP, RetrievalNormalizedDCG

from softhash import InputError, TieAwareMAP, TieAwareNDCG, UsageError

BOTH = [("map", TieAwareMAP), ("ndcg", TieAwareNDCG)]
INDEXES = torch.arange(5).repeat_interleave(40)


@settings(max_examples=40, deadline=None)
@given(queries=st.lists(rankings, min_size=1, max_size=3), n=st.integers(1, 8))
def test_queries_average_over_all_orders_of_ties(queries, n):
    for name, kind in BOTH:
        metric, expected = kind(n=n), []
        for query, items in enumerate(queries):
            cut = min(n, len(items))
            every = [by_definition(gains, cut)[name] for gains in all_orders(items)]
            expected.append(sum(every) / len(every))
            distances, gains = torch.tensor(items).T
            metric.update(-distances.float(), gains, torch.full_like(gains, query))
        assert float(metric.compute()) == pytest.approx(sum(expected) / len(expected), abs=1e-6)


@pytest.mark.parametrize("k", [1, 7, None])
def test_positive_scores_without_ties_have_the_values_of_torchmetrics(k):
    generator = torch.Generator().manual_seed(0)
    scores = torch.rand(200, generator=generator) + 0.1
    gains = torch.randint(0, 3, (200,), generator=generator)
    hits = (gains > 0).long()
    pairs = [
        (TieAwareMAP(n=k), hits, RetrievalMAP(top_k=k), hits),
        (TieAwareMAP(n=k), gains, RetrievalMAP(top_k=k), hits),
        (TieAwareNDCG(n=k), hits, RetrievalNormalizedDCG(top_k=k), hits),
        (TieAwareNDCG(n=k), gains, RetrievalNormalizedDCG(top_k=k), 2**gains - 1),
    ]
    for ours, target, theirs, their_target in pairs:
        ours.update(scores, target, INDEXES)
        theirs.update(scores, their_target, INDEXES)
        assert float(ours.compute()) == pytest.approx(float(theirs.compute()), abs=1e-6)


def test_ndcg_of_ties_has_the_value_of_torchmetrics_and_map_has_not():
    generator = torch.Generator().manual_seed(1)
    scores = -torch.randint(0, 4, (200,), generator=generator).float()
    hits = torch.randint(0, 2, (200,), generator=generator)
    values = []
    for metric in (TieAwareNDCG(), RetrievalNormalizedDCG(), TieAwareMAP(), RetrievalMAP()):
        metric.update(scores, hits, INDEXES)
        values.append(float(metric.compute()))
    assert values[0] == pytest.approx(values[1], abs=1e-6)
    assert values[2] > 0.4
    assert values[3] == 0  # no score is above 0, so no item counts


def test_batches_do_not_change_the_value_and_a_query_without_hits_is_as_asked():
    scores, hits = torch.tensor([3.0, 2, 2, 1, 5]), torch.tensor([0, 1, 0, 1, 0])
    queries = torch.tensor([0, 0, 0, 0, 1])
    whole = TieAwareMAP()
    whole.update(scores, hits, queries)
    parts = TieAwareMAP()
    for some in (slice(0, 2), slice(2, 5)):
        parts.update(scores[some], hits[some], queries[some])
    alone = ((1 / 2 + 2 / 4) / 2 + (1 / 3 + 2 / 4) / 2) / 2
    assert float(whole.compute()) == pytest.approx(alone / 2)
    assert float(parts.compute()) == pytest.approx(alone / 2)
    skipping = TieAwareMAP(empty_target_action="skip")
    skipping.update(scores, hits, queries)
    assert float(skipping.compute()) == pytest.approx(alone)


def test_wrong_values_are_named():
    with pytest.raises(UsageError, match="cut-off 0"):
        TieAwareMAP(n=0)
    metric = TieAwareNDCG()
    metric.update(torch.tensor([float("nan"), 1.0]), torch.tensor([1, 0]), torch.tensor([0, 0]))
    with pytest.raises(InputError, match="NaN"):
        metric.compute()


def test_a_missing_package_is_named_with_the_line_that_installs_it():
    code = (
        "import sys; sys.modules['torchmetrics'] = None\n"
        "from softhash import MissingExtraError, TieAwareMAP\n"
        "try:\n    TieAwareMAP()\n"
        "except MissingExtraError as error:\n    print(error)\n"
    )
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True)
    line = "this needs torchmetrics; install it with: pip install 'softhash[torchmetrics]'\n"
    assert (done.returncode, done.stdout) == (0, line), done.stderr
