"""PCA-RR: what a rotation of all principal directions keeps, and ITQ's start."""

import numpy as np
import torch

from softhash.model.heads import Head
from softhash.training.methods import create


def outputs(method, x):
    head = Head(x.shape[1], method.bits, **method.head_options(0, 0.0))
    torch.manual_seed(4)
    method.fit_head(head, x, torch.zeros(len(x), 0))
    return head(x).detach().numpy()


def spread():
    rng = np.random.default_rng(0)
    return torch.tensor(rng.normal(size=(300, 6)) * [9, 5, 3, 1, 0.5, 0.2] + 7).float()


def test_all_directions_keep_every_distance():
    x = spread()
    for bits in (6, 20):  # as many bits as features, and more
        u = outputs(create("pca", bits, 0), x)
        np.testing.assert_allclose(
            np.diff(u, axis=0) @ np.diff(u, axis=0).T,
            np.diff(x, axis=0) @ np.diff(x, axis=0).T,
            atol=1e-3,
        )


def test_few_directions_keep_the_variance_that_numpy_finds():
    x = spread()
    u = outputs(create("pca", 3, 0), x)
    largest = np.linalg.eigvalsh(np.cov(x.numpy().T, bias=True))[::-1][:3].sum()
    np.testing.assert_allclose(u.var(axis=0).sum(), largest, rtol=1e-4)
    assert u.var(axis=0).min() > 0.05 * largest  # the rotation leaves no bit almost constant


def test_it_is_itq_before_its_first_iteration():
    x = spread()
    start, rotated = (outputs(create("itq", 4, 0, iterations=n), x) for n in (0, 50))
    np.testing.assert_array_equal(outputs(create("pca", 4, 0), x), start)
    assert np.square(np.sign(rotated) - rotated).sum() < np.square(np.sign(start) - start).sum()
