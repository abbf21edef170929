"""A new hasher gets the head that method and recipe ask for: Python trains what commands train."""

import numpy as np
import pytest
import torch

from softhash import Hasher, UsageError, fit, fit_features
from softhash.data import scenes
from softhash.data.image_set import ImageSet
from softhash.training.fit import build_hasher
from softhash.training.methods import METHODS, Shallow
from softhash.training.options import Options
from softhash.training.recipe import Recipe

pytestmark = pytest.mark.usefixtures("tiny_backbone")

BITS = 12
QUICK = {"bre": {"sweeps": 1}, "mlh": {"steps": 50}}  # settings of methods that take long
DEEP = [name for name, kind in METHODS.items() if not issubclass(kind, Shallow)]


@pytest.fixture(scope="module")
def images(tmp_path_factory):
    folder = tmp_path_factory.mktemp("data") / "scenes"
    scenes.write(folder, count=60, size=48, workers=1)
    return ImageSet.read(folder)


@pytest.fixture(scope="module")
def options(tmp_path_factory):
    return Options(device="cpu", cache=tmp_path_factory.mktemp("cache"))


@pytest.fixture(scope="module")
def embeddings():
    rng = np.random.default_rng(0)
    labels = (rng.random((60, 5)) < 0.4).astype(np.uint8)
    return (labels @ rng.normal(size=(5, 16))).astype(np.float32), labels


def quick(name, **values):
    settings = QUICK.get(name, {})
    return Recipe.with_defaults(method=name, epochs=3, settings=settings, **values)


def assert_equal_weights(one, two):
    first, second = (hasher.network.state_dict() for hasher in (one, two))
    assert first.keys() == second.keys()
    assert all(torch.equal(first[name], second[name]) for name in first)


@pytest.mark.parametrize("name", METHODS)
def test_a_new_hasher_is_trained_like_the_commands(name, images, options):
    recipe = quick(name, backbone="tiny", bits=BITS)
    commands = fit(build_hasher(recipe), images, recipe=recipe, options=options)
    python = fit(Hasher("tiny", BITS), images, method=name, recipe=quick(name), options=options)
    assert_equal_weights(python, commands)
    assert python.config == commands.config


@pytest.mark.parametrize("name", ["softhash", "dnnh", "dqn", "dlbhc"])
def test_a_new_hasher_is_fine_tuned_like_the_commands(name, images, options):
    recipe = quick(name, mode="finetune", warm_up=1, seed=4)
    whole = recipe.changed(backbone="tiny", bits=BITS)
    commands = fit(build_hasher(whole), images, recipe=whole, options=options)
    python = fit(Hasher("tiny", BITS), images, recipe=recipe, options=options)
    assert_equal_weights(python, commands)


@pytest.mark.parametrize("name", METHODS)
def test_a_new_hasher_of_features_is_trained_like_the_commands(name, embeddings):
    recipe = quick(name, bits=BITS)
    options = Options(device="cpu")
    commands = build_hasher(recipe, features=16)
    fit_features(commands, *embeddings, recipe=recipe, options=options)
    python = Hasher.from_features(16, BITS)
    fit_features(python, *embeddings, method=name, recipe=quick(name), options=options)
    assert_equal_weights(python, commands)


def test_without_a_recipe_the_methods_own_defaults_are_used(images, embeddings, options):
    recipe = Recipe.with_defaults(method="softhash", backbone="tiny", bits=BITS)
    commands = fit(build_hasher(recipe), images, recipe=recipe, options=options)
    assert_equal_weights(fit(Hasher("tiny", BITS), images, options=options), commands)
    assert commands.config["hidden"] == 1024
    assert commands.config["dropout"] == 0.7
    hasher = fit_features(Hasher.from_features(16, BITS), *embeddings, method="lsh")
    assert hasher.config["activation"] == "identity"


def test_a_hasher_that_was_used_before_is_trained_the_same(images, options):
    recipe = quick("idhn", seed=2)
    fresh, used = Hasher("tiny", BITS, seed=2), Hasher("tiny", BITS, seed=2)
    used.encode(images)
    for hasher in (fresh, used):
        fit(hasher, images, recipe=recipe, options=options)
    assert_equal_weights(fresh, used)
    assert np.array_equal(fresh.outputs(images), used.outputs(images))


@pytest.mark.parametrize("name", DEEP)
def test_options_of_the_caller_win_over_the_recipes(name, images, options):
    given = {"dropout": 0.25, "feature_dropout": 0.1, "activation": "tanh"}
    hasher = fit(Hasher("tiny", BITS, **given), images, recipe=quick(name), options=options)
    assert given.items() <= hasher.config.items()


def test_hidden_units_and_seed_of_the_caller_win_over_the_recipes(images, options):
    recipe = quick("idhn", hidden=64, seed=1)
    hasher = fit(Hasher("tiny", BITS, hidden=7, seed=5), images, recipe=recipe, options=options)
    assert (hasher.config["hidden"], hasher.config["seed"]) == (7, 5)


@pytest.mark.parametrize(
    ("method", "given", "message"),
    [
        ("lsh", {"hidden": 8}, "lsh needs a head with hidden=0, and this hasher has 8"),
        ("sh", {"activation": "tanh"}, "sh needs a head with activation='cosine'"),
        ("ksh", {"lift": "relu"}, "ksh needs a head with lift='rbf'"),
        ("idhn", {"lift": "rbf"}, "idhn needs a head with lift='relu'"),
        ("dqn", {"embedding": 7, "words": 8}, "dqn needs a head with embedding=300"),
        ("dlbhc", {"hidden": 8}, "dlbhc needs a head with hidden=0"),
    ],
)
def test_options_that_a_method_cannot_work_with_raise(method, given, message, images, options):
    with pytest.raises(UsageError, match=message):
        fit(Hasher("tiny", BITS, **given), images, method=method, options=options)


def test_a_trained_hasher_keeps_its_head_and_is_trained_further(images, options, tmp_path):
    hasher = fit(Hasher("tiny", BITS), images, recipe=quick("idhn", hidden=9), options=options)
    before = hasher.network.head.output.weight.detach().clone()
    fit(hasher, images, recipe=quick("dhn", hidden=64), options=options)
    assert (hasher.config["hidden"], hasher.config["activation"]) == (9, "softsign")
    moved = (hasher.network.head.output.weight - before).abs().max()
    assert 0 < moved < 1
    hasher.save(tmp_path / "model")
    loaded = Hasher.load(tmp_path / "model")
    for method in ("ksh", "itq", "dqn"):
        with pytest.raises(UsageError, match=f"{method} needs a head .*start from a new Hasher"):
            fit(loaded, images, method=method, options=options)


def test_training_leaves_the_callers_random_numbers_and_settings_alone(
    images, embeddings, options, monkeypatch
):
    """cuDNN's setting is only changed on a GPU: here by a method that stands in for it."""
    from softhash.training.methods.idhn import IDHN

    def start(self, labels):
        torch.backends.cudnn.benchmark = True

    monkeypatch.setattr(IDHN, "start", start)
    torch.manual_seed(11)
    np.random.seed(11)  # noqa: NPY002
    torch_state, numpy_state = torch.get_rng_state(), np.random.get_state()[1].tolist()  # noqa: NPY002
    for mode in ("frozen", "finetune"):
        recipe = quick("idhn", mode=mode)
        fit(Hasher("tiny", BITS), images, recipe=recipe, options=options)
        build_hasher(recipe.changed(backbone="tiny", method="softhash"))
    fit_features(Hasher.from_features(16, BITS), *embeddings, recipe=quick("idhn"))
    assert torch.equal(torch.get_rng_state(), torch_state)
    assert np.random.get_state()[1].tolist() == numpy_state  # noqa: NPY002
    assert torch.backends.cudnn.benchmark is False


@pytest.mark.gpu
@pytest.mark.skipif(not torch.cuda.is_available(), reason="no CUDA device")
def test_training_on_a_gpu_leaves_its_random_numbers_and_settings_alone(embeddings):
    torch.cuda.manual_seed_all(12)
    before = torch.cuda.get_rng_state()
    hasher = Hasher.from_features(16, BITS)
    fit_features(hasher, *embeddings, recipe=quick("softhash"), options=Options(device="cuda"))
    assert torch.equal(torch.cuda.get_rng_state(), before)
    assert torch.backends.cudnn.benchmark is False
