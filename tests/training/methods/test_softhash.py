"""Our own method against loops, by differences, and on what it is for."""

import numpy as np
import pytest
import torch
from finite_differences import loss_and_gradient, slopes
from soft_rankings import soft_loss, soft_losses

from softhash.errors import UsageError
from softhash.training.methods import create
from softhash.training.methods._label_estimates import label_estimates

BITS, CLASSES = 8, 5
RNG = np.random.default_rng(3)
LABELS = (RNG.random((9, CLASSES)) < 0.35).astype(int)
OUTPUTS = RNG.uniform(-0.98, 0.98, (9, BITS))


def with_places(**settings):
    torch.manual_seed(0)
    return create("softhash", BITS, CLASSES, **settings).double()


def listed(u, places, labels=LABELS):
    """Anchors are pictures of one label that weigh less; with none of them, it is TALR."""
    whole = np.concatenate([u, np.tanh(places)])
    labels = np.concatenate([labels, np.eye(CLASSES, dtype=int)[: len(places)]])
    weight = 0.5 * len(u) / max(len(places), 1)  # of an anchor: half of all pictures', together
    assert not len(places) or weight < 1
    return whole, labels, [1.0] * len(u) + [weight] * len(places)


def reference(u, places, ndcg_weight, bins, labels=LABELS):
    """The loss of codes of one length."""
    whole, labels, weights = listed(u, places, labels)
    parts = [soft_loss(whole, labels, name, bins, weights) for name in ("ap", "ndcg")]
    return (1 - ndcg_weight) * parts[0] + ndcg_weight * parts[1]


@pytest.mark.parametrize("ndcg_weight", [0.0, 0.3, 1.0])
@pytest.mark.parametrize("anchors", [True, False])
@pytest.mark.parametrize("bins", [BITS, BITS // 2])
def test_value_and_gradients_are_those_of_the_loops(ndcg_weight, anchors, bins):
    method = with_places(ndcg_weight=ndcg_weight, anchors=anchors, bins=bins)
    places = method.places.detach().numpy().copy()
    loss, gradient = loss_and_gradient(method, OUTPUTS, LABELS)
    assert loss == pytest.approx(reference(OUTPUTS, places, ndcg_weight, bins), rel=1e-5)
    expected = slopes(lambda u: reference(u, places, ndcg_weight, bins), OUTPUTS)
    np.testing.assert_allclose(gradient, expected, rtol=1e-3, atol=1e-6)
    if anchors:
        moved = slopes(lambda p: reference(OUTPUTS, p, ndcg_weight, bins), places)
        np.testing.assert_allclose(method.places.grad.numpy(), moved, rtol=1e-3, atol=1e-6)


def test_shorter_codes_take_turns_among_the_queries():
    method = with_places(lengths=[3, 5, BITS, 99])
    assert method.lengths == (3, 5, BITS)
    places = method.places.detach().numpy()

    def nested(u):
        whole, labels, weights = listed(u, places)
        score = {
            (k, name): soft_losses(whole[:, :k], labels, name, k, weights)
            for k in (3, 5, BITS)
            for name in ("ap", "ndcg")
        }
        judged = list(score[BITS, "ap"])  # queries that have something to find
        losses = [
            np.mean([score[k, name][i] for k in (BITS, (3, 5)[i % 2]) for name in ("ap", "ndcg")])
            for i in judged
        ]
        return np.average(losses, weights=[weights[i] for i in judged])

    loss, gradient = loss_and_gradient(method, OUTPUTS, LABELS)
    assert loss == pytest.approx(nested(OUTPUTS), rel=1e-5)
    np.testing.assert_allclose(gradient, slopes(nested, OUTPUTS), rtol=1e-3, atol=1e-6)


@pytest.mark.parametrize("label_smoothing", [0.3, 1.0])
def test_soft_labels_are_ranked_by_the_expected_number_of_shared_ones(label_smoothing):
    method = with_places(label_smoothing=label_smoothing)
    features = np.random.default_rng(2).normal(size=(30, 4))
    labels = np.random.default_rng(4).random((30, CLASSES)) < 0.4
    method.study(torch.tensor(features), torch.tensor(labels))
    estimates = label_estimates(torch.tensor(features), torch.tensor(labels)).numpy()
    index = np.arange(20, 29)  # of the train set; the labels of a batch are its own
    soft_labels = (1 - label_smoothing) * labels[index] + label_smoothing * estimates[index]
    places = method.places.detach().numpy()
    expected = reference(OUTPUTS, places, 0.5, BITS, soft_labels)
    loss, gradient = loss_and_gradient(method, OUTPUTS, labels[index].astype(int), index)
    assert loss == pytest.approx(expected, rel=1e-5)
    slope = slopes(lambda u: reference(u, places, 0.5, BITS, soft_labels), OUTPUTS)
    np.testing.assert_allclose(gradient, slope, rtol=1e-3, atol=1e-6)


def test_without_smoothing_labels_stay_as_they_are():
    method = with_places(label_smoothing=0.0)
    method.study(torch.randn(9, 4), torch.tensor(LABELS))
    assert loss_and_gradient(method, OUTPUTS, LABELS)[0] == pytest.approx(
        reference(OUTPUTS, method.places.detach().numpy(), 0.5, BITS), rel=1e-5
    )


def test_anchors_give_every_picture_something_to_rank():
    """In a batch where nothing is shared, TALR is silent; here each picture has its anchor."""
    labels = np.eye(CLASSES, dtype=int)
    u = np.random.default_rng(1).uniform(-0.9, 0.9, (CLASSES, BITS))
    _, silent = loss_and_gradient(with_places(anchors=False), u, labels)
    _, heard = loss_and_gradient(with_places(), u, labels)
    assert not silent.any()
    assert (heard != 0).any(axis=1).all()


@pytest.mark.parametrize("pictures", [9, 200])
def test_anchors_never_outweigh_the_pictures(pictures):
    method = create("softhash", BITS, 50)
    weights = method._anchor_weights(torch.zeros(pictures, BITS))
    assert weights.sum() == pytest.approx(min(50, pictures / 2))


def test_settings_out_of_range_are_refused():
    with pytest.raises(UsageError, match="give 1 to 8"):
        create("softhash", 8, 2, bins=9)
    with pytest.raises(UsageError, match=r"ndcg_weight is 1\.5; give a share from 0 to 1"):
        create("softhash", 8, 2, ndcg_weight=1.5)
    with pytest.raises(UsageError, match=r"lengths is \[0\]; give numbers of bits"):
        create("softhash", 8, 2, lengths=[0])
    with pytest.raises(UsageError, match=r"label_smoothing is -0\.1; give a share"):
        create("softhash", 8, 2, label_smoothing=-0.1)
