"""TALR against the project's own metrics on binary codes, against loops, and by differences."""

from itertools import permutations

import numpy as np
import pytest
import torch
from finite_differences import loss_and_gradient, slopes
from soft_rankings import soft_loss

from softhash import pack
from softhash.errors import UsageError
from softhash.evaluation.evaluate import evaluate_codes
from softhash.training.methods import create
from softhash.training.methods._listwise import _sum_by_group, members

BITS, CLASSES = 8, 5
RNG = np.random.default_rng(7)
LABELS = (RNG.random((40, CLASSES)) < 0.3).astype(int)
CODES = RNG.choice([-1.0, 1.0], (40, BITS))
CODES[5:9] = CODES[4]  # ties at distance 0


def scores(name, u, labels, **settings):
    method = create(name, u.shape[1], labels.shape[1], **settings)
    shared = torch.tensor(labels @ labels.T * 1.0).fill_diagonal_(0)
    return method.scores(torch.tensor(u), shared).numpy()


@pytest.mark.parametrize(("name", "metric"), [("talr-ap", "map@all"), ("talr-ndcg", "ndcg@all")])
def test_score_of_binary_codes_is_the_metric_that_we_report(name, metric):
    """Each item ranks the others, itself left out, ties in all orders."""
    found = scores(name, CODES, LABELS)
    packed = pack(CODES)
    for i in np.flatnonzero(LABELS.any(axis=1)):
        rest = np.arange(len(CODES)) != i
        sides = packed[i : i + 1], packed[rest], LABELS[i : i + 1], LABELS[rest]
        report = evaluate_codes(*sides, bits=BITS, at="all", ties="expected")
        assert found[i] == pytest.approx(report.metrics[metric], rel=1e-9)
    assert found.std() > 0.05


def test_ap_of_ties_is_the_mean_over_all_orders():
    """By enumeration: five items, of which three are tied."""
    u = np.array([[1, 1, 1, 1], [1, 1, 1, -1], [1, 1, -1, 1], [1, -1, 1, 1], [-1, -1, 1, 1.0]])
    labels = np.array([[1, 0], [1, 0], [0, 1], [0, 1], [1, 1]])
    relevant = {1: 1, 2: 0, 3: 0, 4: 1}
    values = []
    for order in permutations([1, 2, 3]):
        hits = np.array([relevant[i] for i in (*order, 4)])
        values.append(np.sum(hits * np.cumsum(hits) / np.arange(1, 5)) / hits.sum())
    assert scores("talr-ap", u, labels)[0] == pytest.approx(np.mean(values), rel=1e-12)


@pytest.mark.parametrize("bins", [BITS, BITS // 2])
@pytest.mark.parametrize("name", ["talr-ap", "talr-ndcg"])
def test_value_and_gradient_are_those_of_the_loops(name, bins):
    u, labels = np.random.default_rng(1).uniform(-0.98, 0.98, (9, BITS)), LABELS[:9]
    loss, gradient = loss_and_gradient(create(name, BITS, CLASSES, bins=bins), u, labels)
    assert loss == pytest.approx(soft_loss(u, labels, name, bins), rel=1e-5)
    expected = slopes(lambda v: soft_loss(v, labels, name, bins), u)
    np.testing.assert_allclose(gradient, expected, rtol=1e-3, atol=1e-6)


@pytest.mark.parametrize("name", ["talr-ap", "talr-ndcg"])
def test_perfect_rankings_score_one(name):
    labels = np.eye(2, dtype=int).repeat(3, axis=0)
    u = np.where(labels[:, :1], 1.0, -1.0).repeat(BITS, axis=1)
    np.testing.assert_allclose(scores(name, u, labels), 1)


def test_bins_are_those_of_the_authors_and_checked():
    assert [create("talr-ap", bits, 2).settings()["bins"] for bits in (12, 48)] == [12, 24]
    with pytest.raises(UsageError, match="give 1 to 8"):
        create("talr-ap", 8, 2, bins=9)


def test_the_product_that_a_gpu_computes_adds_up_the_same_groups():
    generator = torch.Generator().manual_seed(0)
    values = torch.rand((7, 4, 30), generator=generator, dtype=torch.float64)
    group = torch.randint(0, 5, (7, 30), generator=generator)
    by_product = values @ members(group, 5).to(values.dtype)
    torch.testing.assert_close(_sum_by_group(values, group, 5), by_product)
    by_hand = values[2, 1, group[2] == 3].sum()
    torch.testing.assert_close(by_product[2, 1, 3], by_hand)
