"""Labels expected of a picture by all others, against refits of scikit-learn."""

import numpy as np
import pytest
import torch
from sklearn.linear_model import LogisticRegression, Ridge

from softhash.training.methods import _label_estimates
from softhash.training.methods._label_estimates import label_estimates, leave_one_out

RNG = np.random.default_rng(0)
X = RNG.normal(size=(40, 6)) * RNG.uniform(0.1, 9, 6) + 5
Y = (X[:, :3] - X[:, :3].mean(axis=0) + RNG.normal(size=(40, 3)) > 0.4).astype(np.uint8)


def found(x=X, y=Y, by=label_estimates):
    return by(torch.tensor(x), torch.tensor(y)).numpy()


def refitted(ridge, x=X, y=Y):
    """Leave each picture out, fit the rest, and predict the one that was left out."""
    x = x / x.std(axis=0)
    rows = []
    for i in range(len(x)):
        others = np.arange(len(x)) != i
        model = Ridge(alpha=ridge * len(x)).fit(x[others], y[others])
        rows.append(model.predict(x[[i]])[0])
    return np.stack(rows)


@pytest.mark.parametrize("ridge", [0.01, 1.0, 100.0])
def test_it_is_what_a_regression_without_the_picture_predicts(ridge, monkeypatch):
    monkeypatch.setattr(_label_estimates, "RIDGES", (ridge,))
    np.testing.assert_allclose(found(by=leave_one_out), refitted(ridge), atol=1e-6)


def test_of_several_ridges_the_one_that_predicts_best_is_taken():
    errors = {r: np.square(refitted(r) - Y).mean() for r in _label_estimates.RIDGES}
    best = min(errors, key=errors.get)
    np.testing.assert_allclose(found(by=leave_one_out), refitted(best), atol=1e-6)


def test_many_pictures_are_taken_in_parts(monkeypatch):
    whole = found(by=leave_one_out)
    monkeypatch.setattr(_label_estimates, "ROWS_PER_BLOCK", 7)
    np.testing.assert_allclose(found(by=leave_one_out), whole, atol=1e-9)


def test_guesses_become_probabilities_by_one_logistic_regression_for_all_labels():
    guesses = found(by=leave_one_out).reshape(-1, 1)
    model = LogisticRegression(C=1.0, tol=1e-9, max_iter=1000).fit(guesses, Y.ravel())
    expected = model.predict_proba(guesses)[:, 1].reshape(Y.shape)
    np.testing.assert_allclose(found(), expected, atol=1e-3)


def test_labels_that_features_show_clearly_hardly_change():
    """However many there are: sums of small changes would drown what is shared."""
    y = (np.random.default_rng(5).random((600, 100)) < 0.04).astype(np.uint8)
    x = y @ RNG.normal(size=(100, 150)) + 0.5 * RNG.normal(size=(600, 150))
    assert abs(found(x, y) - y).mean() < 0.005


def test_fewer_pictures_than_features_and_features_that_do_not_vary_are_handled():
    x = np.concatenate([RNG.normal(size=(5, 30)), np.ones((5, 2))], axis=1)
    for rows in (5, 2):
        values = found(x[:rows], Y[:rows])
        assert np.isfinite(values).all()
    assert np.isfinite(found(np.ones((5, 3)), Y[:5])).all()


def test_features_without_information_leave_the_base_rate():
    values = found(RNG.normal(size=(2000, 3)), (RNG.random((2000, 2)) < 0.3).astype(np.uint8))
    assert abs(values - 0.3).max() < 0.05


def test_every_label_is_looked_at_where_rows_are_left_out(monkeypatch):
    y = Y.copy()
    y[:, ::2] = 0  # of the second label alone there is something to learn
    y = y[:, :2]
    monkeypatch.setattr(_label_estimates, "MAX_ROWS", y.size // 2)
    part = found(y=y)
    present = y[:, 1] == 1
    assert part[present, 1].mean() > part[~present, 1].mean() + 0.2
