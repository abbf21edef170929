"""SSH against numpy's eigenvectors of the printed matrix."""

import numpy as np
import pytest
import torch

from softhash.model.heads import Head
from softhash.training.methods import create
from softhash.training.methods.ssh import adjusted_covariance, directions

RNG = np.random.default_rng(0)
N, D, BITS = 60, 10, 6
LABELS = (RNG.random((N, 4)) < 0.4).astype(int)
X = RNG.standard_normal((N, D)) @ np.diag(np.linspace(2, 0.5, D)) + LABELS @ RNG.normal(size=(4, D))
ETA = 0.3


def printed_matrix():
    """X_l S X_lᵀ + η' X Xᵀ of centred pictures, pair by pair, all labelled."""
    x = X - X.mean(0)
    matrix = np.zeros((D, D))
    for i in range(N):
        matrix += ETA * N * np.outer(x[i], x[i])  # η' = η n²/n of the means
        for j in range(N):
            s = 1 if (LABELS[i] & LABELS[j]).any() else -1
            matrix += s * np.outer(x[i], x[j])
    return matrix


def head_weight(bits, **settings):
    method = create("ssh", bits, 4, eta=ETA, **settings)
    head = Head(D, bits, **method.head_options(0, 0.0))
    method.fit_head(head, torch.tensor(X), torch.tensor(LABELS))
    return head.output.weight.detach().double().numpy()


def test_orthogonal_directions_are_the_top_eigenvectors():
    values, vectors = np.linalg.eigh(printed_matrix())
    expected = vectors[:, np.argsort(-values)[:BITS]].T
    products = head_weight(BITS, orthogonal=True) @ expected.T
    np.testing.assert_allclose(np.abs(products), np.eye(BITS), atol=1e-5)


def test_relaxed_directions_are_their_image_under_the_root():
    matrix = torch.tensor(printed_matrix()) / N**2
    values, vectors = np.linalg.eigh(matrix.numpy())
    rho = max(-1.01 * values[0], 1e-3 * values[-1])
    root = np.linalg.cholesky(np.eye(D) + matrix.numpy() / rho)
    expected = (root @ vectors[:, ::-1][:, :BITS]).T
    found = head_weight(BITS)
    signs = np.sign((found * expected).sum(1, keepdims=True))
    np.testing.assert_allclose(found * signs, expected, rtol=1e-4, atol=1e-4)


def test_relaxed_directions_solve_their_equation_when_there_are_d():
    """(WWᵀ − 1 − M/ρ) W = 0, the stationary point of the paper's relaxation."""
    x = torch.tensor(X - X.mean(0))
    s = 2.0 * (torch.tensor(LABELS @ LABELS.T) > 0) - 1
    matrix = adjusted_covariance(x, x, s, 0.0)  # has negative eigenvalues
    values = np.linalg.eigvalsh(matrix.numpy())
    assert values[0] < 0
    w = directions(matrix, D, orthogonal=False).numpy().T
    rho = max(-1.01 * values[0], 1e-3 * values[-1])
    np.testing.assert_allclose(w @ w.T, np.eye(D) + matrix.numpy() / rho, atol=1e-8)


@pytest.mark.parametrize("orthogonal", [True, False])
def test_more_bits_than_features_get_random_directions(orthogonal):
    torch.manual_seed(0)
    weight = head_weight(D + 5, orthogonal=orthogonal)
    assert np.linalg.matrix_rank(weight[:D]) == D
    assert (np.abs(weight[D:]).sum(axis=1) > 1).all()
