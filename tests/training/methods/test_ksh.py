"""KSH: its eigenvector, its gradient, its residue, and what it does on a planted set."""

import numpy as np
import pytest
import torch

from softhash.model.heads import Head
from softhash.training.methods import create
from softhash.training.methods.ksh import Residue, descend, greedy_bits, inverse_root, slope

RNG = np.random.default_rng(0)
N, M, BITS = 50, 7, 6
LABELS = (RNG.random((N, 3)) < 0.4).astype(int)
S = np.where(LABELS @ LABELS.T > 0, 1.0, -1.0)
K = RNG.standard_normal((N, M))


def test_residue_is_that_of_the_pairs_less_the_bits():
    residue = Residue(torch.tensor(LABELS), BITS)
    expected = BITS * S
    y = RNG.standard_normal((N, 2))
    for _ in range(3):
        np.testing.assert_allclose(residue @ torch.tensor(y), expected @ y)
        np.testing.assert_allclose(residue @ torch.tensor(y[:, 0]), expected @ y[:, 0])
        b = RNG.choice([-1.0, 1.0], N)
        residue.add(torch.tensor(b))
        expected = expected - np.outer(b, b)


def test_start_is_the_top_generalised_eigenvector():
    """Without a descent, the first bit's weight maximises aᵀKᵀSKa over aᵀKᵀKa = n."""
    a = greedy_bits(torch.tensor(K), torch.tensor(LABELS), 1, steps=0)[0].numpy()
    values, vectors = np.linalg.eig(np.linalg.solve(K.T @ K, K.T @ S @ K))
    expected = vectors[:, values.real.argmax()].real
    assert a @ K.T @ K @ a == pytest.approx(N)
    assert abs(a @ expected) == pytest.approx(np.linalg.norm(a) * np.linalg.norm(expected))


def test_flat_directions_are_left_out():
    flat = torch.tensor(np.hstack([K, K[:, :2]]))
    root = inverse_root(flat.T @ flat)
    assert root.shape == (M + 2, M)
    np.testing.assert_allclose(root.T @ flat.T @ flat @ root, np.eye(M), atol=1e-8)


def smooth(a):
    y = 2 / (1 + np.exp(-K @ a)) - 1
    return -BITS * y @ S @ y


def test_gradient_is_that_of_finite_differences():
    a = RNG.standard_normal(M)
    value, gradient = slope(torch.tensor(K), Residue(torch.tensor(LABELS), BITS), torch.tensor(a))
    assert value.item() == pytest.approx(smooth(a))
    for i in range(M):
        step = 1e-6 * np.eye(M)[i]
        numeric = (smooth(a + step) - smooth(a - step)) / 2e-6
        assert gradient[i].item() == pytest.approx(numeric, rel=1e-5, abs=1e-4)


def test_descent_ends_lower_than_it_starts():
    start = RNG.standard_normal(M)
    residue = Residue(torch.tensor(LABELS), BITS)
    end = descend(torch.tensor(K), residue, torch.tensor(start), 500)
    assert smooth(end.numpy()) < smooth(start) - 1


def planted(n=300):
    """Two classes that no plane separates: a ball, and the shell around it."""
    rng = np.random.default_rng(1)
    x = rng.standard_normal((n, 5))
    x /= np.linalg.norm(x, axis=1, keepdims=True)
    inside = np.arange(n) % 2
    labels = np.stack([inside, 1 - inside], axis=1)
    return torch.tensor(x * (1 + 2 * inside[:, None]), dtype=torch.float32), torch.tensor(labels)


def test_planted_pairs_are_separated_and_the_objective_falls_with_every_bit():
    x, labels = planted()
    method = create("ksh", BITS, 2, anchors=60)
    head = Head(5, BITS, **method.head_options(0, 0.0)).eval()
    torch.manual_seed(0)
    method.fit_head(head, x, labels)
    b = np.sign(head(x).detach().numpy())
    s = np.where(labels @ labels.T > 0, 1.0, -1.0)
    errors = [((BITS * s - b[:, :k] @ b[:, :k].T) ** 2).sum() for k in range(BITS + 1)]
    assert (np.diff(errors) < 0).all()
    distances = (BITS - b @ b.T) / 2
    assert np.mean(distances[s > 0]) < 0.1 * BITS
    assert np.mean(distances[s < 0]) > 0.9 * BITS


def test_small_train_sets_leave_anchors_without_weight():
    x, labels = planted(20)
    method = create("ksh", BITS, 2)
    head = Head(5, BITS, **method.head_options(0, 0.0)).eval()
    method.fit_head(head, x, labels)
    assert head.output.weight.shape == (BITS, 300)
    assert (head.output.weight[:, 20:] == 0).all()
    assert (head.output.weight[:, :20] != 0).any()
