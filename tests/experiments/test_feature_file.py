"""Features in a file: the same split on another machine, and clear errors about bad files."""

import json

import numpy as np
import pytest
from made_inputs import made_inputs
from safetensors.torch import save_file

from softhash.errors import AlreadyExistsError, InputError, UsageError
from softhash.experiments.feature_file import describe_network, load_features, save_features
from softhash.experiments.inputs import shared_key
from softhash.model import backbones
from softhash.model.weights import fingerprint
from softhash.training.fit import build_hasher
from softhash.training.recipe import Recipe


@pytest.fixture
def file(tmp_path):
    save_features(made_inputs(), Recipe(), tmp_path / "features.npz")
    return tmp_path / "features.npz"


def arrays_of(file):
    with np.load(file) as found:
        return dict(found)


def test_a_file_brings_back_split_names_and_labels_and_features_in_half_precision(file):
    before, saved = made_inputs(), load_features(file)
    after = saved.inputs
    assert after.split.sha256 == before.split.sha256
    assert after.split.options == before.split.options
    assert after.names == before.names
    assert (after.split.images.root.name, after.split.images.classes) == ("photos", tuple("abcde"))
    for part in ("labels", "train", "query", "database"):
        assert getattr(after, part).equal(getattr(before, part))
    assert after.inputs.equal(before.inputs.half().float())
    assert saved.network == {"backbone": "efficientnet_lite0", "weights": "default", "size": 0}


def test_nothing_is_overwritten_and_too_large_features_are_refused(file, tmp_path):
    inputs = made_inputs()
    with pytest.raises(AlreadyExistsError):
        save_features(inputs, Recipe(), file)
    inputs.inputs[0, 0] = 70_000
    with pytest.raises(InputError, match="too large for half precision"):
        save_features(inputs, Recipe(), tmp_path / "new.npz")


@pytest.mark.parametrize(
    ("recipe", "message"),
    [
        (Recipe(backbone="alexnet"), "of backbone 'efficientnet_lite0', and the recipe has 'alex"),
        (Recipe(size=227), "of size 0, and the recipe has 227"),
        (Recipe(mode="finetune"), "needs pictures instead of features"),
    ],
)
def test_features_of_another_network_are_refused(file, recipe, message):
    with pytest.raises(UsageError, match=message):
        load_features(file).check([Recipe(), recipe])


def _facts(**changed):
    def change(arrays):
        facts = json.loads(arrays["facts"].tobytes())
        arrays["facts"] = np.frombuffer(json.dumps({**facts, **changed}).encode(), np.uint8)

    return change


def _array(name, value):
    return lambda arrays: arrays.update({name: value})


@pytest.mark.parametrize(
    ("change", "message"),
    [
        (_facts(kind="split"), "its kind is not 'softhash features 1'"),
        (_facts(sha256="0" * 64), "another was saved"),
        (_facts(classes=list("abcdefghi")), "its labels do not fit 9 classes"),
        (_facts(file_names=[1] * 60), "file names are not text"),
        (_facts(network={"backbone": 3}), "is damaged: recipe key backbone is 3"),
        (_array("facts", np.frombuffer(b"[", np.uint8)), "is not a file of features"),
        (_array("query", np.array([0, 99])), "'query' does not list some of 60 pictures"),
        (_array("rows", np.zeros(57, np.int64)), "'rows' lists a picture twice"),
        (_array("train", np.zeros(2)), "'train' does not list"),
        (_array("features", np.full((57, 8), np.nan, np.float16)), "finite numbers"),
        (_array("features", np.zeros((3, 8), np.float16)), r"shape \(3, 8\) for"),
        (_array("features", np.zeros((57, 8))), "half precision"),
        (lambda arrays: arrays.pop("labels"), "it lacks 'labels'"),
    ],
)
def test_a_file_that_makes_no_sense_is_refused(file, change, message):
    arrays = arrays_of(file)
    change(arrays)
    np.savez(file, **arrays)
    with pytest.raises(InputError, match=message) as error:
        load_features(file)
    assert "--save-features" in str(error.value)


def test_a_file_that_cannot_be_read_is_refused(file, tmp_path):
    whole = file.read_bytes()
    np.savez_compressed(tmp_path / "compressed.npz", **arrays_of(file))
    np.savez(tmp_path / "objects.npz", facts=np.array([{}], dtype=object))
    (tmp_path / "cut.npz").write_bytes(whole[: len(whole) // 2])
    middle = whole.find(b"features.npy") + 400
    damaged = whole[:middle] + bytes([whole[middle] ^ 1]) + whole[middle + 1 :]
    (tmp_path / "flipped.npz").write_bytes(damaged)
    wrong = {
        "compressed": "is compressed", "objects": "cannot be read", "cut": "cannot be read",
        "flipped": "cannot be read", "gone": "does not exist",
    }  # fmt: skip
    for name, message in wrong.items():
        with pytest.raises(InputError, match=message):
            load_features(tmp_path / f"{name}.npz")


def test_a_file_may_have_more_classes_than_codes_have_bits(tmp_path):
    inputs = made_inputs(classes=1100)
    save_features(inputs, Recipe(), tmp_path / "many.npz")
    assert load_features(tmp_path / "many.npz").inputs.labels.equal(inputs.labels)


def test_features_of_drawn_weights_are_of_one_seed():
    alike = [describe_network(Recipe(weights="random", seed=seed)) for seed in (0, 1)]
    assert alike[0] != alike[1]
    assert shared_key(Recipe(weights="random", seed=0)) != shared_key(
        Recipe(weights="random", seed=1)
    )
    assert shared_key(Recipe(seed=0)) == shared_key(Recipe(seed=1))


def recipes_of(weights):
    """Two recipes that differ in their seed alone."""
    return [Recipe(weights=str(weights), seed=seed) for seed in (0, 1)]


def write_weights(file, layers=""):
    """Write the weights of those layers of the default backbone whose names begin so."""
    state = backbones.build("efficientnet_lite0").state_dict()
    save_file({name: value for name, value in state.items() if name.startswith(layers)}, file)
    return file


@pytest.mark.parametrize(("layers", "shared"), [("", True), ("_conv_stem", False)])
def test_features_of_a_weights_file_are_of_one_seed_where_it_lacks_layers(tmp_path, layers, shared):
    recipes = recipes_of(write_weights(tmp_path / "own.safetensors", layers))
    backbones_of = [fingerprint(build_hasher(one).network, "backbone.") for one in recipes]
    for one in (backbones_of, *([f(r) for r in recipes] for f in (shared_key, describe_network))):
        assert (one[0] == one[1]) == shared


def test_features_of_a_weights_file_serve_every_seed_where_the_file_is_not(tmp_path):
    weights, file = write_weights(tmp_path / "own.safetensors"), tmp_path / "own.npz"
    recipes = recipes_of(weights)
    save_features(made_inputs(), recipes[0], file)
    weights.unlink()
    load_features(file).check(recipes)
    with pytest.raises(UsageError, match=r"of weights '.*own.safetensors', and the recipe has 'd"):
        load_features(file).check([Recipe()])
    assert shared_key(recipes[0]) != shared_key(recipes[1])  # nobody knows what it had
    with pytest.raises(InputError, match="is not there"):
        describe_network(recipes[0])


@pytest.mark.parametrize("layers", ["", "_conv_stem"])
def test_features_of_layers_drawn_at_random_are_refused_for_another_seed(tmp_path, layers):
    weights = write_weights(tmp_path / "own.safetensors", layers) if layers else "random"
    recipes, file = recipes_of(weights), tmp_path / "own.npz"
    save_features(made_inputs(), recipes[1], file)
    load_features(file).check(recipes[1:])
    with pytest.raises(UsageError, match="the features are of seed 1, and the recipe has 0"):
        load_features(file).check(recipes)


def test_a_weights_file_that_has_changed_is_read_again(tmp_path):
    file = tmp_path / "own.safetensors"
    recipes = recipes_of(write_weights(file))
    assert shared_key(recipes[0]) == shared_key(recipes[1])
    write_weights(file, "_conv_stem")
    assert shared_key(recipes[0]) != shared_key(recipes[1])


def test_a_file_that_has_no_seed_of_its_weights_is_of_seed_0(file):
    arrays = arrays_of(file)
    _facts(network={"weights": "own.safetensors"})(arrays)
    np.savez(file, **arrays)
    saved, recipes = load_features(file), recipes_of("own.safetensors")
    saved.check(recipes[:1])
    with pytest.raises(UsageError, match="of seed 0"):
        saved.check(recipes)
