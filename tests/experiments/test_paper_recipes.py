"""The shipped recipes: valid keys and names, whole sets for each data set."""

import math
from pathlib import Path

import pytest

from softhash.experiments.grid import expand, expand_variants
from softhash.experiments.references import REFERENCES
from softhash.training.methods import create
from softhash.training.recipe import read_toml

FOLDER = Path(__file__).parents[2] / "recipes" / "paper"
FILES = sorted(FOLDER.glob("*.toml"))
OURS = sorted(FOLDER.with_name("softhash").glob("*.toml"))
KINDS = (
    "methods-alexnet", "methods-frozen", "methods-finetune", "variants", "backbones",
    "alpha", "lambda", "gamma",
)  # fmt: skip


@pytest.mark.parametrize("path", FILES, ids=lambda path: path.stem)
def test_a_recipe_can_be_run(path):
    content = read_toml(path)
    recipes = expand(content)
    cells = math.prod(len(values) for values in content["grid"].values())
    assert len(set(map(repr, recipes))) == cells
    for recipe in recipes:
        create(recipe.method, recipe.bits, 20, **recipe.settings)


@pytest.mark.parametrize("path", OURS, ids=lambda path: path.stem)
def test_a_recipe_of_our_own_method_can_be_run_and_its_variants_differ(path):
    content = read_toml(path)
    cells = expand_variants(content)
    assert {name for _, name in cells} - {""} == set(content.get("variants", ()))
    for recipe, _ in cells:
        if recipe.method not in REFERENCES:
            create(recipe.method, recipe.bits, 20, **recipe.settings)


def test_every_data_set_has_every_recipe_and_the_readme_names_them():
    names = {path.stem for path in FILES}
    wanted = {f"{d}-{k}" for d in ("nuswide", "flickr", "voc2012", "iaprtc12") for k in KINDS}
    assert wanted <= names
    assert names - wanted == {"voc2012-idhn"}
    readme = (FOLDER / "README.md").read_text()
    assert all(f"`D-{kind}`" in readme for kind in KINDS)
