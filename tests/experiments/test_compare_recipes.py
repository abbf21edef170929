"""The fair comparison: every method has the same recipe, and no method has one that others lack."""

from pathlib import Path

import pytest

from softhash.experiments.grid import expand
from softhash.experiments.references import REFERENCES
from softhash.training.methods import METHODS, is_shallow
from softhash.training.methods.softhash import SoftHash
from softhash.training.recipe import read_toml

FOLDER = Path(__file__).parents[2] / "recipes" / "compare"
FILES = sorted(FOLDER.glob("*-*.toml"))
OWN = {"method", "bits", "seed", "settings"}  # what cells of a comparison may differ in
VARIANTS_OF_IDHN = {"idhn-coarse-ce", "idhn-coarse-mse", "idhn-fine-mse"}  # the paper's ablations
DIVERGES = {"dnnh": {"head_rate"}}  # fine-tuned at the common rate


@pytest.mark.parametrize("path", sorted(FOLDER.glob("*.toml")), ids=lambda path: path.stem)
def test_all_methods_are_trained_by_one_recipe(path):
    deep = [recipe for recipe in expand(read_toml(path)) if recipe.method in METHODS]
    deep = [recipe for recipe in deep if not is_shallow(recipe.method)]
    shared = deep[0].as_dict()
    for recipe in deep:
        assert recipe.settings == {}
        allowed = OWN | (DIVERGES.get(recipe.method, set()) if "finetune" in path.stem else set())
        for key, value in recipe.as_dict().items():
            assert key in allowed or value == shared[key], (recipe.method, key)


@pytest.mark.parametrize("path", FILES, ids=lambda path: path.stem)
def test_no_deep_method_is_left_out(path):
    deep = {name for name in METHODS if not is_shallow(name)} - VARIANTS_OF_IDHN
    listed = {recipe.method for recipe in expand(read_toml(path))}
    assert {name for name in listed if name in METHODS and not is_shallow(name)} == deep
    shallow = {name for name in METHODS if is_shallow(name)}
    tuned = {name for name, reference in REFERENCES.items() if reference.finetuned}
    if path.stem == "frozen-common":
        assert listed == deep | shallow | (set(REFERENCES) - tuned)
    if path.stem.startswith("finetune"):
        assert listed == deep | tuned


@pytest.mark.parametrize("mode", ["frozen", "finetune"])
def test_the_strong_recipe_is_what_our_own_method_has_by_default(mode):
    strong, common = (
        expand(read_toml(FOLDER / f"{mode}-{name}.toml"), {"method": ["softhash"], "bits": [48]})[0]
        for name in ("strong", "common")
    )
    for key, value in SoftHash.defaults[mode].items():
        assert getattr(strong, key) == value
    assert any(getattr(common, key) != value for key, value in SoftHash.defaults[mode].items())
