import numpy as np
import pytest
import torch

from softhash.training.methods import losses as F  # noqa: N812

LABELS = torch.tensor(
    [[1, 1, 0, 0], [1, 0, 0, 0], [0, 0, 1, 1], [1, 1, 0, 0], [0, 0, 0, 0], [1, 1, 1, 1]]
)


def naive(similarity):
    """Compute a similarity pair by pair, from sets."""
    sets = [set(np.flatnonzero(row)) for row in LABELS.numpy()]
    return np.array([[similarity(a, b) for b in sets] for a in sets])


@pytest.mark.parametrize(
    ("function", "definition"),
    [
        (F.label_cosine, lambda a, b: len(a & b) / np.sqrt(len(a) * len(b)) if a and b else 0),
        (F.label_overlap, lambda a, b: float(bool(a & b))),
        (F.label_jaccard, lambda a, b: len(a & b) / len(a | b) if a | b else 0),
        (F.shared_labels, lambda a, b: len(a & b)),
    ],
)
def test_similarities_follow_their_definitions(function, definition):
    assert function(LABELS).numpy() == pytest.approx(naive(definition), abs=1e-6)


def test_hard_pairs_share_nothing_or_everything():
    hard = F.is_hard(F.label_cosine(LABELS)).numpy()
    sets = [set(np.flatnonzero(row)) for row in LABELS.numpy()]
    expected = [[not a & b or a == b for b in sets] for a in sets]
    assert np.array_equal(hard, expected)


def test_cross_entropy_is_stable_where_the_naive_form_is_not():
    omega = torch.tensor([-1000.0, -5.0, 0.0, 5.0, 1000.0], dtype=torch.float64)
    for s in (0.0, 0.3, 1.0):
        values = F.pair_cross_entropy(omega, torch.tensor(s, dtype=torch.float64))
        expected = np.logaddexp(0, omega.numpy()) - s * omega.numpy()
        assert values.numpy() == pytest.approx(expected)


def test_log_cosh_is_smooth_and_stable():
    u = torch.tensor([[0.0, 0.5, 1.0, -3.0, 50.0]], dtype=torch.float64)
    gap = np.abs(u.numpy()) - 1
    expected = np.mean(np.abs(gap) + np.log1p(np.exp(-2 * np.abs(gap))) - np.log(2))
    assert F.quantisation_log_cosh(u).item() == pytest.approx(expected)
