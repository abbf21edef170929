"""DSDH: its loss and ridge regression against float64 loops, its codes by enumeration."""

from itertools import product

import numpy as np
import pytest
import torch
from finite_differences import loss_and_gradient, slopes

from softhash.errors import UsageError
from softhash.training.methods import create

BITS, CLASSES, ITEMS = 5, 4, 12
RNG = np.random.default_rng(6)
LABELS = (RNG.random((ITEMS, CLASSES)) < 0.4).astype(int)
U = RNG.normal(0, 0.3, (ITEMS, BITS))
SETTINGS = {"mu": 0.3, "nu": 0.2, "eta": 0.05}  # classification and outputs both have a say


def started(**settings):
    method = create("dsdh", BITS, CLASSES, **{**SETTINGS, **settings})
    method.start(torch.tensor(LABELS))
    return method.double()


def signs(n=ITEMS):
    return RNG.choice([-1.0, 1.0], (n, BITS))


def objective(b, w, u, y=LABELS):
    """What W and B are to lower."""
    fit = SETTINGS["mu"] * np.sum((y - b @ w) ** 2) + SETTINGS["nu"] * np.sum(w**2)
    return fit + SETTINGS["eta"] * np.sum((b - u) ** 2)


def classifier(method, b):
    return method.classifier(torch.tensor(b), torch.tensor(LABELS).double()).numpy()


def descended(method, b, w, u=U):
    tensors = (torch.tensor(values) for values in (b, w, LABELS.astype(float), u))
    return method.descended(*tensors).numpy()


def test_the_classifier_is_where_the_slope_of_its_objective_is_zero():
    b = signs()
    w = classifier(started(), b)
    np.testing.assert_allclose(slopes(lambda v: objective(b, v, U), w), 0, atol=1e-7)


def test_neither_update_raises_the_objective():
    for _ in range(20):
        b, w = signs(), RNG.normal(0, 0.5, (BITS, CLASSES))
        method, values = started(sweeps=1), [objective(b, w, U)]
        for _ in range(5):
            w = classifier(method, b)
            values.append(objective(b, w, U))
            b = descended(method, b, w)
            values.append(objective(b, w, U))
        assert (np.diff(values) <= 1e-12).all()
        assert values[-1] < values[0]


def test_a_column_of_the_codes_is_the_best_there_is():
    """After the last column was set, no other signs in it, of all there are, cost less."""
    w, n = RNG.normal(0, 0.5, (BITS, CLASSES)), 6
    b = descended(started(sweeps=1), signs(), w)[:n]
    best = min(
        objective(np.column_stack([b[:, :-1], column]), w, U[:n], LABELS[:n])
        for column in product([-1, 1], repeat=n)
    )
    assert objective(b, w, U[:n], LABELS[:n]) == pytest.approx(best, rel=1e-12)


def test_codes_settle_where_no_single_bit_can_be_bettered():
    w = RNG.normal(0, 0.5, (BITS, CLASSES))
    b = descended(started(sweeps=50), signs(), w)
    for place in np.ndindex(b.shape):
        turned = b.copy()
        turned[place] *= -1
        assert objective(turned, w, U) >= objective(b, w, U) - 1e-12


def test_dsdh_is_that_of_the_loops_and_pulls_outputs_to_the_codes():
    method, batch = started(), np.array([3, 8, 1, 6])
    old = signs()
    method.codes, method.outputs = torch.tensor(old), torch.tensor(U)
    new = RNG.normal(0, 0.3, (4, BITS))
    loss, gradient = loss_and_gradient(method, new, LABELS[batch], batch)
    b, w = method.codes.numpy()[batch], classifier(method, old)
    assert set(np.unique(b)) == {-1, 1}
    assert (b != np.sign(new)).any()  # the labels were heard
    expected = reference(new, batch, b, w)
    assert loss == pytest.approx(expected, rel=1e-9)
    expected = slopes(lambda u: reference(u, batch, b, w), new)
    np.testing.assert_allclose(gradient, expected, rtol=1e-5, atol=1e-8)


def reference(u, batch, b, w):
    """The whole loss, for codes and a classifier that are given."""
    everybody = U.copy()
    everybody[batch] = u
    total = 0.0
    for i in range(ITEMS):
        for j in range(ITEMS):
            if i in batch or j in batch:  # ordered pairs, as in the paper
                theta = float(everybody[i] @ everybody[j]) / 2
                similar = float(LABELS[i] @ LABELS[j] > 0)
                total += (np.log(1 + np.exp(theta)) - similar * theta) / ITEMS
    for i, row in enumerate(u):
        total += SETTINGS["mu"] * np.sum((LABELS[batch[i]] - b[i] @ w) ** 2)
        total += SETTINGS["eta"] * np.sum((b[i] - row) ** 2)
    return total / len(u) + SETTINGS["nu"] * np.sum(w**2) / ITEMS


def test_a_first_code_is_the_sign_of_its_output():
    method = started()
    loss_and_gradient(method, U, LABELS)  # W is 0 while no code is known
    np.testing.assert_array_equal(method.codes.numpy(), np.sign(U))


def test_a_ridge_of_nothing_is_refused():
    with pytest.raises(UsageError, match="nu is 0; it weighs"):
        started(nu=0)
