"""Training where nobody has labelled anything, and where some pictures have labels."""

import numpy as np
import pytest
import torch

from softhash import Hasher, UsageError, fit_features
from softhash.data import scenes
from softhash.data.image_set import ImageSet
from softhash.training.fit import build_hasher, fit
from softhash.training.methods import METHODS, Method, unsupervised_methods
from softhash.training.options import Options
from softhash.training.recipe import Recipe
from softhash.training.train_set import trainable_rows


class Spread(Method):
    """Bits that vary: a loss that looks at no labels."""

    name = "spread"
    unsupervised = True

    def forward(self, u, labels, index):
        assert labels.shape == (len(u), 0)
        return u.mean(dim=0).square().mean() - u.square().mean()


RNG = np.random.default_rng(0)
FEATURES = RNG.standard_normal((60, 24)).astype(np.float32)
NONE = np.zeros((60, 0), np.uint8)


@pytest.fixture(scope="module")
def images(tmp_path_factory):
    folder = tmp_path_factory.mktemp("data") / "scenes"
    scenes.write(folder, count=24, size=48, workers=1)
    return ImageSet.read(folder)


def unlabelled(images):
    return ImageSet(images.root, images.file_names, images.labels[:, :0], (), "folder")


@pytest.mark.parametrize("name", unsupervised_methods())
def test_codes_do_not_depend_on_labels(name):
    """The same codes without labels, with labels, and with rows that lack them."""
    labels = RNG.integers(0, 2, (60, 5)).astype(np.uint8)
    labels[::3] = 0
    codes = [
        fit_features(Hasher.from_features(24, 16), FEATURES, given, method=name).encode(FEATURES)
        for given in (None, NONE, labels)
    ]
    assert np.array_equal(codes[0], codes[1])
    assert np.array_equal(codes[0], codes[2])


def test_methods_without_labels_come_best_first():
    names = unsupervised_methods()
    assert {"itq", "pca", "sh", "mkm", "lsh"} <= set(names)
    assert names.index("itq") < names.index("pca") < names.index("lsh")
    assert not {"softhash", "ssh", "ksh", "bre", "mlh"} & set(names)


@pytest.mark.parametrize("name", ["softhash", "ksh"])
def test_a_method_that_needs_labels_names_those_that_do_not(name):
    with pytest.raises(UsageError, match=f"none of the 60 pictures .* {name} learns") as raised:
        fit_features(Hasher.from_features(24, 16), FEATURES, method=name)
    assert raised.value.hint.endswith(", ".join(unsupervised_methods()))


@pytest.mark.usefixtures("tiny_backbone")
def test_every_picture_is_trained_on_and_no_labels_are_named(images, tmp_path):
    recipe = Recipe.with_defaults(method="itq", backbone="tiny", bits=8)
    warned = []
    options = Options(device="cpu", cache=tmp_path, warn=warned.append)
    hasher = fit(build_hasher(recipe), unlabelled(images), recipe=recipe, options=options)
    assert hasher.classes == ()
    assert hasher.label_classifier is None
    assert warned == []
    mean = torch.tensor(hasher.features(images).mean(axis=0))
    torch.testing.assert_close(hasher.network.head.mean, mean, rtol=1e-4, atol=1e-5)


@pytest.mark.usefixtures("tiny_backbone")
def test_likely_labels_are_learned_from_the_pictures_that_have_some(images, tmp_path):
    """Codes see all pictures; the classifier is that of the labelled ones alone."""
    recipe = Recipe.with_defaults(method="itq", backbone="tiny", bits=8)
    options = Options(device="cpu", cache=tmp_path)
    labels = images.labels.copy()
    labels[::2] = 0
    some = ImageSet(images.root, images.file_names, labels, images.classes)
    both = [
        fit(build_hasher(recipe), train, recipe=recipe, options=options)
        for train in (some, some.select(np.arange(1, len(images), 2)))
    ]
    assert np.array_equal(*(hasher.label_classifier.weight for hasher in both))
    assert not np.array_equal(*(hasher.network.head.mean for hasher in both))


def test_a_loss_without_labels_trains_a_head_and_no_network():
    hasher = Hasher.from_features(24, 16)
    before = hasher.outputs(FEATURES)
    recipe = Recipe.with_defaults(method=Spread, epochs=5)
    fit_features(hasher, FEATURES, method=Spread, recipe=recipe)
    assert np.square(hasher.outputs(FEATURES)).mean() > 2 * np.square(before).mean()
    with pytest.raises(UsageError, match="spread learns from fixed features"):
        build_hasher(recipe.changed(mode="finetune"), method=Spread)


def test_too_few_pictures_and_labels_that_teach_nothing_are_refused():
    ones = np.ones((5, 3), np.uint8)
    for name in ("itq", "idhn"):
        with pytest.raises(UsageError, match="picture is too few"):
            trainable_rows(METHODS[name], ones[:1])
    with pytest.raises(UsageError, match="the same labels"):
        trainable_rows(METHODS["idhn"], ones)
    assert trainable_rows(METHODS["itq"], ones).all()
