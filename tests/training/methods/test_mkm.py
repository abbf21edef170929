"""Multi-k-means against scikit-learn's k-means, and its bits by their definition."""

import numpy as np
import torch
from sklearn.cluster import KMeans

from softhash.model.heads import Head
from softhash.training.methods import create
from softhash.training.methods.mkm import k_means

BITS, D = 7, 12


def separated(n=50):
    rng = np.random.default_rng(0)
    middles = rng.standard_normal((BITS, D)) * 10
    return (middles[:, None] + rng.standard_normal((BITS, n, D))).reshape(-1, D) + 4


def test_centroids_are_those_of_scikit_learn_on_separated_clusters():
    x = separated()
    torch.manual_seed(0)
    found = k_means(torch.tensor(x), BITS, 100).numpy()
    expected = KMeans(BITS, n_init=10, random_state=0).fit(x).cluster_centers_
    distances = np.linalg.norm(found[:, None] - expected, axis=-1)
    np.testing.assert_array_equal(np.sort(distances.argmin(axis=0)), np.arange(BITS))
    assert distances.min(axis=1).max() < 1e-6


def test_centroids_are_the_means_of_what_is_nearest_to_them():
    """On points without clusters too: Lloyd's algorithm has come to rest."""
    x = np.random.default_rng(1).standard_normal((300, 4))
    torch.manual_seed(0)
    found = k_means(torch.tensor(x), BITS, 1000).numpy()
    nearest = np.linalg.norm(x[:, None] - found, axis=-1).argmin(axis=1)
    for cluster in range(BITS):
        np.testing.assert_allclose(found[cluster], x[nearest == cluster].mean(axis=0))


def test_bits_are_on_where_a_centroid_is_nearer_than_the_mean():
    x = separated()
    method = create("mkm", BITS, 1)
    head = Head(D, BITS, **method.head_options(0, 0.0))
    torch.manual_seed(3)
    method.fit_head(head, torch.tensor(x, dtype=torch.float32), torch.zeros(len(x), 1))
    torch.manual_seed(3)
    centroids = k_means(torch.tensor(x - x.mean(0)), BITS, 100).numpy() + x.mean(0)
    others = np.random.default_rng(5).uniform(-20, 20, (400, D))
    u = head(torch.tensor(others, dtype=torch.float32)).detach().numpy()
    for row, outputs in zip(others, u, strict=True):
        squared = [((row - c) ** 2).sum() for c in centroids]
        for distance, output in zip(squared, outputs, strict=True):
            gap = np.mean(squared) - distance
            assert abs(gap) < 0.01 or (output > 0) == (gap > 0)


def test_more_bits_than_pictures_repeat_centroids():
    x = torch.randn(3, 4, dtype=torch.float64)
    torch.manual_seed(0)
    found = k_means(x, 9, 100)
    assert found.shape == (9, 4)
    assert torch.cdist(found, x).min(dim=1).values.max() < 1e-9
