"""Bits fitted to a collection: ITQ on half-centred features, steadied by a prior."""

from itertools import pairwise

import numpy as np
import pytest

from softhash.model.fitted_bits import CENTRING, Prior, fit_bits, improved, take_turns

WIDTH, BITS = 24, 8


@pytest.fixture(scope="module")
def prior():
    draw = np.random.default_rng(1)
    lengths = np.linspace(2, 0.2, 12)[:, np.newaxis]
    directions = np.linalg.qr(draw.standard_normal((WIDTH, WIDTH))).Q[:12]
    return Prior(draw.uniform(1, 2, WIDTH), lengths * directions)


def test_drawn_features_have_the_mean_and_the_covariance_of_the_prior(prior):
    x = prior.draw(200_000)
    assert np.allclose(x.mean(axis=0), prior.mean, atol=0.02)
    covariance = (x - prior.mean).T @ (x - prior.mean) / len(x)
    assert np.allclose(covariance, prior.axes.T @ prior.axes, atol=0.05)
    assert np.array_equal(prior.draw(3), prior.draw(3))


def test_bits_of_no_pictures_are_fitted_to_the_prior_alone(prior):
    weight, bias = fit_bits(np.empty((0, WIDTH)), BITS, prior)
    assert weight.shape == (BITS, WIDTH)
    u = prior.draw(5000, seed=2) @ weight.T + bias
    assert u.std() == pytest.approx(1, abs=0.1)


def test_directions_are_equally_long_and_at_right_angles(prior):
    """A rotation of principal directions: one scale for all, nothing counted twice."""
    weight, _ = fit_bits(prior.draw(500, seed=3), BITS, prior)
    product = weight @ weight.T
    assert np.allclose(product, np.eye(BITS) * product[0, 0], atol=1e-9)


def test_features_are_centred_by_half(prior):
    x = prior.draw(20_000, seed=4)  # many, so that what is drawn beside them does not count
    weight, bias = fit_bits(x, BITS, prior)
    assert np.allclose(bias, -weight @ (CENTRING * x.mean(axis=0)), atol=0.02)


def test_each_step_lowers_the_quantisation_error(prior):
    v = prior.draw(400, seed=5)[:, :BITS]
    rotation, errors = np.eye(BITS), []
    for _ in range(20):
        u = v @ rotation
        errors.append(((np.where(u > 0, 1, -1) - u) ** 2).sum())
        rotation = improved(v, rotation)
    assert np.allclose(rotation @ rotation.T, np.eye(BITS))
    assert all(later <= before + 1e-9 for before, later in pairwise(errors))
    assert errors[-1] < errors[0]


def test_bits_keep_neighbours_that_the_prior_does_not_tell_apart(prior):
    """A collection that varies where the prior is flat: bits fitted to it find what is near."""
    draw = np.random.default_rng(6)
    flat = np.linalg.svd(prior.axes)[2][12:]  # directions in which the prior does not vary
    x = prior.mean + 3 * draw.standard_normal((2000, 12)) @ flat

    def recall(features):
        weight, bias = fit_bits(features, BITS, prior)
        signs = np.sign(x @ weight.T + bias)
        near = np.argsort(((x[:50, None] - x) ** 2).sum(axis=2), axis=1)[:, 1:51]
        found = np.argsort(-(signs[:50] @ signs.T), axis=1, kind="stable")[:, 1:201]
        pairs = zip(near, found, strict=True)
        return np.mean([np.isin(one, other).mean() for one, other in pairs])

    assert recall(x) > 2 * recall(x[:0])


@pytest.mark.parametrize(("learned", "fitted"), [(64, 192), (0, 5), (5, 0), (3, 7)])
def test_learned_and_fitted_bits_take_turns(learned, fitted):
    order = take_turns(learned, fitted)
    assert sorted(order.tolist()) == list(range(learned + fitted))
    for length in range(1, len(order) + 1):  # about the same share of both in every beginning
        share = (order[:length] < learned).sum()
        assert abs(share - length * learned / len(order)) <= 1
    for part in (order[order < learned], order[order >= learned]):
        assert np.array_equal(part, np.sort(part))  # and the first of each come first
