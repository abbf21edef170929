"""SH against its eigenfunctions: those of a box by a loop, those of a grid by its Laplacian."""

import math

import numpy as np
import pytest
import torch

from softhash.model.heads import Head
from softhash.training.methods import create
from softhash.training.methods.sh import modes

BITS = 12


def smallest_modes(sides, count, epsilon=0.1):
    """Eigenvalue, axis, k and frequency of the smallest ones but 0, after the authors' bounds."""
    found = []
    for axis, side in enumerate(sides):
        for k in range(1, math.ceil((count + 1) * side / max(sides))):
            frequency = k * math.pi / side
            found.append((1 - math.exp(-(epsilon**2) / 2 * frequency**2), axis, k, frequency))
    return sorted(found)[:count]


@pytest.mark.parametrize("sides", [[4.0], [4.1, 2.0, 0.9], [1.0, 3.3], [7.0, 6.1, 5.3, 0.01]])
def test_modes_are_those_of_the_smallest_eigenvalues_in_order(sides):
    axes, frequencies = modes(torch.tensor(sides, dtype=torch.float64), BITS)
    expected = smallest_modes(sides, BITS)
    assert axes.tolist() == [axis for _, axis, _, _ in expected]
    np.testing.assert_allclose(frequencies, [frequency for *_, frequency in expected])


def fitted(features, bits):
    method = create("sh", bits, 1)
    head = Head(features.shape[1], bits, **method.head_options(0, 0.0))
    method.fit_head(head, features, torch.zeros(len(features), 1))
    return head(features).detach().numpy()


def test_outputs_are_the_products_of_sines_of_the_paper():
    rng = np.random.default_rng(0)
    x = rng.uniform(0, 1, (3000, 3)) * [4.0, 2.0, 1.0]
    u = fitted(torch.tensor(x, dtype=torch.float32), BITS)
    variances, directions = np.linalg.eigh(np.cov(x.T))
    along = x @ directions[:, np.argsort(-variances)]
    sides = np.ptp(along, axis=0)
    for bit, (_, axis, _, frequency) in enumerate(smallest_modes(sides, BITS)):
        expected = np.sin(np.pi / 2 + frequency * (along[:, axis] - along[:, axis].min()))
        mirrored = np.sin(np.pi / 2 + frequency * (along[:, axis].max() - along[:, axis]))
        gap = min(np.abs(u[:, bit] - e).max() for e in (expected, mirrored))
        assert gap < 1e-3


def test_outputs_are_eigenvectors_of_the_laplacian_of_a_line():
    """A path graph's eigenvectors are cosines too, found without knowing so."""
    n = 400
    laplacian = 2 * np.eye(n) - np.eye(n, k=1) - np.eye(n, k=-1)
    laplacian[0, 0] = laplacian[-1, -1] = 1
    _, vectors = np.linalg.eigh(laplacian)
    u = fitted(torch.linspace(0, 1, n)[:, None], 6)
    for bit in range(6):
        correlation = np.corrcoef(u[:, bit], vectors[:, bit + 1])[0, 1]
        assert abs(correlation) > 0.999


def test_constant_features_have_finite_outputs():
    assert np.isfinite(fitted(torch.ones(5, 4), BITS)).all()
