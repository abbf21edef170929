"""SPQ: its error against loops, its minima against least squares, and what becomes of its code."""

import numpy as np
import pytest
import torch
from sklearn.cluster import KMeans

from softhash.model.heads import make_head
from softhash.model.quantiser import RIDGE, assign
from softhash.training.methods import create
from softhash.training.methods.spq import SparseCode

N, D, PLACES, ATOMS, LEVELS = 400, 6, 2, 8, 4
RNG = np.random.default_rng(8)
Z = RNG.standard_normal((N, D)) @ RNG.standard_normal((D, D))


def sparse_code(z=Z, places=PLACES, atoms=ATOMS, levels=LEVELS):
    torch.manual_seed(0)
    return SparseCode(torch.tensor(z), places, atoms, levels)


def error(code):
    """‖z − Σ a·d‖² by loops: an index names an atom, and a level of its place."""
    atoms, levels, total = code.atoms.numpy(), code.levels.numpy(), 0.0
    for z, indices in zip(code.z.numpy(), code.codes.numpy(), strict=True):
        for place, index in enumerate(indices):
            z = z - levels[place, index % levels.shape[1]] * atoms[index // levels.shape[1]]
        total += (z**2).sum()
    return total


def test_the_rest_is_that_of_the_loops():
    code = sparse_code()
    assert code.rest().square().sum().item() == pytest.approx(error(code), rel=1e-12)
    assert 0 < error(code) < (Z**2).sum()


@pytest.mark.parametrize(("places", "levels"), [(1, 1), (1, 4), (2, 2), (3, 1)])
def test_no_part_of_a_round_raises_the_error(places, levels):
    code = sparse_code(places=places, levels=levels)
    found = [error(code)]
    for _ in range(10):
        code.codes = assign(code.z, code.codebooks(), code.codes)
        found.append(error(code))
        code.fit_atoms()
        found.append(error(code))
        for place in range(places):
            code.fit_levels(place)
            found.append(error(code))
        code.improve()
        found.append(error(code))
    assert (np.diff(found) <= 1e-9 * found[0]).all()
    assert found[-1] < 0.95 * found[0]


def test_atoms_are_the_least_squares_with_a_ridge_about_the_old_ones():
    code = sparse_code()
    old, levels, used = code.atoms.numpy(), code.levels.numpy(), np.zeros((N, ATOMS))
    for row, indices in enumerate(code.codes.numpy()):
        for place, index in enumerate(indices):
            used[row, index // LEVELS] += levels[place, index % LEVELS]
    stacked = np.vstack([used, np.sqrt(RIDGE) * np.eye(ATOMS)])
    expected = np.linalg.lstsq(stacked, np.vstack([Z, np.sqrt(RIDGE) * old]), rcond=None)[0]
    code.fit_atoms()
    np.testing.assert_allclose(code.atoms.numpy(), expected, rtol=1e-8)


@pytest.mark.parametrize("place", range(PLACES))
def test_levels_are_where_the_error_is_flat_and_no_lower_nearby(place):
    code = sparse_code()
    code.fit_levels(place)
    lowest = error(code)
    for level in range(LEVELS):
        for step in (-1e-3, 1e-3):
            code.levels[place, level] += step
            assert error(code) > lowest
            code.levels[place, level] -= step


def test_words_without_places_and_levels_are_centroids():
    """L = 1 with one level is product quantisation: k-means, here on separated clusters."""
    z = (RNG.standard_normal((ATOMS, 1, D)) * 20 + RNG.standard_normal((1, 500, D))).reshape(-1, D)
    code = sparse_code(z, places=1, levels=1)
    for _ in range(200):
        code.improve()
    words = code.codebooks()[0].numpy()
    expected = KMeans(ATOMS, n_init=10, random_state=0).fit(z).cluster_centers_
    distances = np.linalg.norm(words[:, None] - expected, axis=-1)
    np.testing.assert_array_equal(np.sort(distances.argmin(axis=0)), np.arange(ATOMS))
    assert distances.min(axis=1).max() < 1e-2


def test_planted_sparse_sums_are_described_better_than_by_centroids():
    """Sums of two atoms with two lengths, at the same bits: 2·log₂(8) against log₂(64)."""
    atoms = np.eye(4)
    pick = RNG.integers(0, 4, (600, 2))
    z = (atoms[pick] * RNG.choice([1.0, 3.0], (600, 2, 1))).sum(axis=1)
    z = z + 0.05 * RNG.standard_normal(z.shape)
    errors = []
    for places, count, levels in [(2, 4, 2), (1, 8, 1)]:
        code = sparse_code(z, places, count, levels)
        for _ in range(30):
            code.improve()
        errors.append(error(code))
    assert errors[0] < 0.5 * errors[1]


def fitted(bits, features=10, **settings):
    method = create("spq", bits, 0, **settings)
    head = make_head(features, bits, **method.head_options(0, 0.0)).eval()
    x = torch.tensor(RNG.standard_normal((300, features)), dtype=torch.float32)
    torch.manual_seed(0)
    method.fit_head(head, x, torch.zeros(300, 0))
    return head, x


def test_distances_are_those_to_the_sums_of_words():
    head, x = fitted(12, words=8, embedding=10)
    bits = (head(x) > 0).numpy()
    books, z = head.codebooks.numpy(), head.embed(x).detach().numpy()
    # All components are kept: distances between projections are those between features.
    np.testing.assert_allclose(
        np.linalg.norm(z[0] - z[1:], axis=1), (x[0] - x[1:]).norm(dim=1).numpy(), rtol=1e-4
    )
    found = head.distances(x[:5], torch.tensor(bits)).detach().numpy()
    for item, row in enumerate(bits):
        words = [int("".join(map(str, part.astype(int))), 2) for part in row.reshape(-1, 3)]
        point = sum(book[word] for book, word in zip(books, words, strict=True))
        for query in range(5):
            assert found[query, item] == pytest.approx(((z[query] - point) ** 2).sum(), abs=1e-3)


def test_places_share_a_subspace_and_subspaces_share_nothing():
    head, _ = fitted(24, words=8, embedding=12, sparsity=3)  # 8 indices: 3, 3 and 2
    support = [tuple(book.abs().sum(0).nonzero()[:, 0].tolist()) for book in head.codebooks]
    assert support[0] == support[1] == support[2] == (0, 1, 2, 3)
    assert support[3] == support[4] == support[5] == (4, 5, 6)
    assert support[6] == support[7] == (7, 8, 9)


@pytest.mark.parametrize("bits", [1, 2, 7, 12, 13, 48, 256])
def test_codes_of_any_length_are_whole_indices(bits):
    head, x = fitted(bits, features=6, rounds=2)
    u = head(x)
    assert u.shape == (300, bits)
    assert set(u.unique().tolist()) <= {-1.0, 1.0}
    error = (head.distances(x, u > 0).diagonal()).mean()
    assert error < x.square().sum(1).mean()


@pytest.mark.parametrize("wrong", [{"words": 32}, {"words": 48}, {"words": 64, "levels": 3}])
def test_words_that_do_not_fit_raise(wrong):
    with pytest.raises(ValueError, match="do not"):
        create("spq", 12, 5, **wrong)
