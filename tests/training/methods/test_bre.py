"""BRE: its objective by a loop, its line search by a dense scan, and that no step raises it."""

import numpy as np
import pytest
import torch

from softhash.training.methods.bre import Embedding, draw_pairs

N, M, BITS = 40, 5, 3
RNG = np.random.default_rng(0)
K = RNG.standard_normal((N, M))
LABELS = (RNG.random((N, 4)) < 0.35).astype(int)


def embedding():
    torch.manual_seed(0)
    made = Embedding(torch.tensor(K), *draw_pairs(torch.tensor(LABELS), 6), BITS)
    made.weight.copy_(torch.tensor(np.random.default_rng(2).standard_normal((BITS, M))))
    made.refresh()
    return made


def objective(made, weight):
    """Σ (d − ‖b_i − b_j‖²/4q)², pair by pair."""
    b = np.where(K @ weight.T > 0, 1, -1)
    total = 0.0
    for i, j in zip(made.first.tolist(), made.second.tolist(), strict=True):
        distance = 0 if (LABELS[i] & LABELS[j]).any() else 1
        total += (distance - ((b[i] - b[j]) ** 2).sum() / (4 * BITS)) ** 2
    return total


def test_pairs_are_of_both_kinds_and_never_of_one_picture():
    made = embedding()
    pairs = np.stack([made.first, made.second])
    assert (pairs[0] != pairs[1]).all()
    shared = (LABELS @ LABELS.T > 0) & ~np.eye(N, dtype=bool)
    unshared = LABELS @ LABELS.T == 0
    np.fill_diagonal(unshared, False)
    expected = np.minimum(shared.sum(1), 6) + np.minimum(unshared.sum(1), 6)
    np.testing.assert_array_equal(np.bincount(pairs[0], minlength=N), expected)
    assert len(np.unique(pairs, axis=1).T) == pairs.shape[1]


def test_objective_is_that_of_a_loop_over_pairs():
    made = embedding()
    assert made.objective().item() == pytest.approx(objective(made, made.weight.numpy()))


@pytest.mark.parametrize("bit", range(BITS))
@pytest.mark.parametrize("anchor", range(M))
def test_line_search_is_as_good_as_a_dense_scan(bit, anchor):
    made = embedding()
    before = made.weight.numpy().copy()
    made.improve(bit, anchor)
    reached = objective(made, made.weight.numpy())
    assert made.objective().item() == pytest.approx(reached)
    assert (made.weight.numpy() != before).sum() <= 1
    thresholds = -(K @ before[bit] - before[bit, anchor] * K[:, anchor]) / K[:, anchor]
    scanned = []
    for value in np.concatenate([thresholds - 1e-7, thresholds + 1e-7, [-1e6, 1e6]]):
        weight = before.copy()
        weight[bit, anchor] = value
        scanned.append(objective(made, weight))
    assert reached == pytest.approx(min(scanned))


def test_no_step_raises_the_objective_and_many_lower_it():
    made = embedding()
    heights = [made.objective().item()]
    for _ in range(3):
        for bit in range(BITS):
            for anchor in range(M):
                made.improve(bit, anchor)
                heights.append(made.objective().item())
    assert (np.diff(heights) <= 1e-12).all()
    assert heights[-1] < 0.8 * heights[0]
    assert heights[-1] == pytest.approx(objective(made, made.weight.numpy()))


def test_a_column_of_zeros_changes_nothing():
    made = embedding()
    made.k[:, 2] = 0
    made.refresh()
    before = made.objective().item()
    made.improve(1, 2)
    assert made.objective().item() == pytest.approx(before)
