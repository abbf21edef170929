"""What a checkpoint can be resumed with, and what that ends with."""

import numpy as np
import pytest

from softhash import Hasher, InputError, Recipe, fit, fit_features
from softhash.data.image_set import ImageSet
from softhash.errors import DivergedError
from softhash.training.fit import Options

RECIPE = {"bits": 8, "epochs": 3, "batch_size": 32, "hidden": 0, "seed": 0}


def embeddings(count=120, width=6):
    rng = np.random.default_rng(0)
    features = rng.normal(size=(count, width)).astype(np.float32)
    return features, (features[:, :3] > 0.3).astype(np.uint8)


def trained(features, labels, checkpoint, *, resume=False, method="idhn", interrupt_after=None):
    """A hasher of features; the run ends early after so many epochs, and leaves its checkpoint."""

    def on_epoch(figures):
        if figures["epoch"] == interrupt_after:
            raise KeyboardInterrupt

    options = Options(device="cpu", checkpoint=checkpoint, resume=resume, on_epoch=on_epoch)
    recipe = Recipe.with_defaults(method=method, **RECIPE)
    hasher = Hasher.from_features(features.shape[1], 8)
    return fit_features(hasher, features, labels, recipe=recipe, options=options)


@pytest.mark.parametrize("method", ["idhn", "dqn", "dsdh", "orthohash", "softhash"])
@pytest.mark.parametrize("epoch", [1, 3])  # 3: killed after the last step, before the end
def test_a_resumed_run_ends_as_it_would_have(tmp_path, method, epoch):
    features, labels = embeddings()
    whole = trained(features, labels, tmp_path / "whole", method=method)
    with pytest.raises(KeyboardInterrupt):
        trained(features, labels, tmp_path / "cut", method=method, interrupt_after=epoch)
    resumed = trained(features, labels, tmp_path / "cut", method=method, resume=True)
    assert np.array_equal(whole.encode(features), resumed.encode(features))


def test_a_checkpoint_of_other_labels_or_features_is_refused(tmp_path):
    features, labels = embeddings()
    with pytest.raises(KeyboardInterrupt):
        trained(features, labels, tmp_path / "cut", interrupt_after=1)
    for other in ((features, 1 - labels), (features * 2, labels), (features[:90], labels[:90])):
        with pytest.raises(InputError, match="another train set"):
            trained(*other, tmp_path / "cut", resume=True)
    trained(features, labels, tmp_path / "cut", resume=True)


def test_a_checkpoint_of_another_split_is_refused(tmp_path, monkeypatch):
    images = ImageSet.read("scenes").select(range(60))
    recipe = Recipe.with_defaults(method="idhn", **RECIPE)

    def train(positions, **options):
        hasher = Hasher("efficientnet_lite0", bits=8)
        given = Options(device="cpu", checkpoint=tmp_path / "run", cache=tmp_path, **options)
        return fit(hasher, images.select(positions), recipe=recipe, options=given)

    def stop(figures):
        raise KeyboardInterrupt

    with pytest.raises(KeyboardInterrupt):
        train(range(40), on_epoch=stop)
    with pytest.raises(InputError, match="another train set"):
        train(range(20, 60), resume=True)
    train(range(40), resume=True)


def test_labels_of_embeddings_are_0_and_1():
    features, labels = embeddings()
    for wrong in (labels * 255, 2 * labels.astype(np.int8) - 1, labels * np.nan):
        with pytest.raises(InputError, match="other values than 0 and 1"):
            fit_features(Hasher.from_features(6, 8), features, wrong)


@pytest.mark.parametrize("method", ["idhn", "softhash", "talr-ap"])
def test_a_run_that_diverges_says_so_whatever_the_loss_is_made_of(method):
    features, labels = embeddings()
    recipe = Recipe.with_defaults(method=method, **RECIPE | {"head_rate": 1e38})
    with pytest.raises(DivergedError, match="lower the learning rates"):
        fit_features(Hasher.from_features(6, 8), features, labels, recipe=recipe)
