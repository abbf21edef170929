"""The shipped recipes: valid keys and names, whole sets for each data set."""

from pathlib import Path

import pytest

from softhash.experiments.grid import expand
from softhash.plots.styles import NAMES
from softhash.training.methods import METHODS, create
from softhash.training.recipe import read_toml

FOLDER = Path(__file__).parents[1] / "recipes" / "paper"
FILES = sorted(FOLDER.glob("*.toml"))
KINDS = (
    "methods-alexnet", "methods-frozen", "methods-finetune", "variants", "backbones",
    "alpha", "lambda", "gamma",
)  # fmt: skip


@pytest.mark.parametrize("path", FILES, ids=lambda path: path.stem)
def test_a_recipe_can_be_run(path):
    content = read_toml(path)
    grid = content["grid"]
    listed = grid.get("method", [content.get("method")])
    assert set(listed) <= set(NAMES), "a name that no method will ever have"
    there = [name for name in listed if name in METHODS] or ["idhn"]
    own = {name: v for name, v in content.get("methods", {}).items() if name in METHODS}
    recipes = expand(content | {"grid": {**grid, "method": there}, "methods": own})
    cells = len(there)
    for name, values in grid.items():
        cells *= 1 if name == "method" else len(values)
    assert len(set(map(repr, recipes))) == cells
    for recipe in recipes:
        create(recipe.method, recipe.bits, 20, **recipe.settings)


def test_every_data_set_has_every_recipe_and_the_readme_names_them():
    names = {path.stem for path in FILES}
    wanted = {f"{d}-{k}" for d in ("nuswide", "flickr", "voc2012", "iaprtc12") for k in KINDS}
    assert wanted <= names
    assert names - wanted == {"voc2012-idhn"}
    readme = (FOLDER / "README.md").read_text()
    assert all(f"`D-{kind}`" in readme for kind in KINDS)
