"""LSMH: its objective against loops; each of its steps is the best there is, and none raises it."""

from itertools import pairwise

import numpy as np
import pytest
import torch
from scipy.stats import ortho_group

from softhash.model.heads import Head
from softhash.training.methods import create, unsupervised_methods
from softhash.training.methods.lsmh import best_basis, latent_features, objective

N, D, BITS = 60, 9, 5
RNG = np.random.default_rng(4)
X = RNG.standard_normal((N, D)) * np.linspace(2, 0.2, D)
START = ortho_group.rvs(D, random_state=1)[:, :BITS]


def loops(x, u, v, lambda_):
    """J, entry by entry."""
    total = 0.0
    for row, latent in zip(x, v, strict=True):
        for value, direction in zip(row, u, strict=True):
            total += (value - sum(direction * latent)) ** 2
        total += lambda_ * sum((np.where(latent > 0, 1, -1) - latent) ** 2)
    return total


def measured(u, v, lambda_):
    return objective(torch.tensor(X), torch.tensor(u), torch.tensor(v), lambda_).item()


@pytest.mark.parametrize("lambda_", [0.3, 10.0])
def test_objective_is_that_of_the_loops(lambda_):
    v = RNG.standard_normal((N, BITS))
    assert measured(START, v, lambda_) == pytest.approx(loops(X, START, v, lambda_), rel=1e-12)


@pytest.mark.parametrize("lambda_", [0.1, 1.0, 10.0])
def test_the_objective_falls_at_every_iteration(lambda_):
    x, basis, found = torch.tensor(X), torch.tensor(START), []
    for _ in range(15):
        v = latent_features(x @ basis, lambda_)
        found.append(loops(X, basis.numpy(), v.numpy(), lambda_))
        basis = best_basis(x, v)
        found.append(loops(X, basis.numpy(), v.numpy(), lambda_))
    assert all(later <= before + 1e-9 for before, later in pairwise(found))
    assert found[-1] < 0.9 * found[0]


def test_latent_features_and_codes_are_the_best_for_a_basis():
    """For all 2^q codes of a picture, with the minimum over v found by solving its equations."""
    lambda_ = 1.7
    v = latent_features(torch.tensor(X @ START), lambda_).numpy()
    for row, latent in zip(X, v, strict=True):
        best = np.inf
        for code in range(2**BITS):
            b = np.array([1 if code >> bit & 1 else -1 for bit in range(BITS)])
            matrix = START.T @ START + lambda_ * np.eye(BITS)
            other = np.linalg.solve(matrix, START.T @ row + lambda_ * b)
            cost = ((row - START @ other) ** 2).sum() + lambda_ * ((b - other) ** 2).sum()
            best = min(best, cost)
        cost = loops(row[None], START, latent[None], lambda_)
        assert cost == pytest.approx(best, rel=1e-9)


def test_no_other_basis_is_better_for_latent_features():
    v = RNG.standard_normal((N, BITS))
    basis = best_basis(torch.tensor(X), torch.tensor(v)).numpy()
    np.testing.assert_allclose(basis.T @ basis, np.eye(BITS), atol=1e-12)
    cost = ((X - v @ basis.T) ** 2).sum()
    for other in ortho_group.rvs(D, size=300, random_state=2):
        assert ((X - v @ other[:, :BITS].T) ** 2).sum() > cost
    near = basis + 0.01 * RNG.standard_normal((50, *basis.shape))
    for other in np.linalg.qr(near).Q:
        other = other * np.sign((other * basis).sum(axis=0))
        assert ((X - v @ other.T) ** 2).sum() > cost


@pytest.mark.parametrize("bits", [1, 5, 9, 20])
def test_the_layer_is_an_orthonormal_basis_however_many_bits(bits):
    method = create("lsmh", bits, 0)
    head = Head(D, bits, **method.head_options(0, 0.0))
    torch.manual_seed(0)
    method.fit_head(head, torch.tensor(X, dtype=torch.float32), torch.zeros(N, 0))
    weight = head.output.weight.detach().numpy()
    product = weight @ weight.T if bits <= D else weight.T @ weight
    np.testing.assert_allclose(product, np.eye(min(bits, D)), atol=1e-5)
    np.testing.assert_allclose(head.mean.numpy(), X.mean(axis=0), atol=1e-6)
    assert not head.output.bias.any()


def test_codes_lose_less_than_those_of_the_principal_directions():
    """On four corners of a square, turned: directions of most variance cut through them."""
    corners = np.array([[1, 1], [1, -1], [-1, 1], [-1, -1]]) @ ortho_group.rvs(2, random_state=5)
    x = np.repeat(corners, 30, axis=0) + 0.05 * RNG.standard_normal((120, 2))
    method = create("lsmh", 2, 0)
    head = Head(2, 2, **method.head_options(0, 0.0))
    torch.manual_seed(0)
    method.fit_head(head, torch.tensor(x, dtype=torch.float32), torch.zeros(120, 0))
    codes = (head(torch.tensor(x, dtype=torch.float32)) > 0).int().numpy().reshape(4, 30, 2)
    assert (codes == codes[:, :1]).all()
    assert len({tuple(code) for code in codes[:, 0]}) == 4


def test_itq_stays_the_first_choice_without_labels():
    assert unsupervised_methods()[0] == "itq"
    assert {"lsmh", "spq"} <= set(unsupervised_methods())
