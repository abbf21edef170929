"""DPSH against float64 loops and finite differences, and its memory against the batch alone."""

import numpy as np
import pytest
import torch
from finite_differences import loss_and_gradient, slopes

from softhash.training.methods import create
from softhash.training.methods.losses import label_overlap, pair_cross_entropy

BITS, ITEMS = 6, 10
RNG = np.random.default_rng(5)
LABELS = (RNG.random((ITEMS, 4)) < 0.4).astype(int)
U = RNG.normal(0, 1, (ITEMS, BITS))
BATCH = np.array([7, 2, 4])


def started(name="dpsh", **settings):
    method = create(name, BITS, 4, **settings)
    method.start(torch.tensor(LABELS))
    return method


def reference(u, remembered, eta):
    """The paper's ordered pairs (i, j) of the train set in which i, j or both are in the batch."""
    everybody = remembered.copy()
    everybody[BATCH] = u
    total = 0.0
    for i in range(ITEMS):
        for j in range(ITEMS):
            if i in BATCH or j in BATCH:
                theta = float(everybody[i] @ everybody[j]) / 2
                similar = float(LABELS[i] @ LABELS[j] > 0)
                total += np.log(1 + np.exp(theta)) - similar * theta
    return total / (len(u) * ITEMS) + eta * np.mean((np.sign(u) - u) ** 2)


@pytest.mark.parametrize("settings", [{}, {"eta": 2.0}])
def test_dpsh_is_that_of_the_loops(settings):
    method = started(**settings)
    method.outputs = torch.tensor(U)
    new = RNG.normal(0, 1, (3, BITS))
    loss, gradient = loss_and_gradient(method, new, LABELS[BATCH], BATCH)
    eta = settings.get("eta", 0.3)
    assert loss == pytest.approx(reference(new, U, eta), rel=1e-9)
    expected = slopes(lambda u: reference(u, U, eta), new)
    np.testing.assert_allclose(gradient, expected, rtol=1e-5, atol=1e-9)


def test_memory_of_the_batch_is_renewed_and_the_rest_stays():
    method = started()
    method.outputs = torch.tensor(U)
    new = RNG.normal(0, 1, (3, BITS))
    loss_and_gradient(method, new, LABELS[BATCH], BATCH)
    expected = U.copy()
    expected[BATCH] = new
    np.testing.assert_array_equal(method.outputs.numpy(), expected)
    assert not method.outputs.requires_grad


def test_a_batch_of_the_whole_train_set_is_scored_as_if_there_were_no_memory():
    method = started()
    order = RNG.permutation(ITEMS)
    loss, gradient = loss_and_gradient(method, U[order], LABELS[order], order)
    u, labels = torch.tensor(U[order], requires_grad=True), torch.tensor(LABELS[order])
    alone = pair_cross_entropy(u @ u.T / 2, label_overlap(labels)).mean()
    alone = alone + 0.3 * (u.sign() - u).square().mean()
    alone.backward()
    assert loss == pytest.approx(alone.item(), rel=1e-9)
    np.testing.assert_allclose(gradient, u.grad.numpy(), rtol=1e-9)
