"""What a method states about itself is all that tables, figures, recipes and grids know of it."""

import sys

import pytest

from softhash import UsageError
from softhash.experiments.grid import expand
from softhash.plots.styles import assign_styles, bar_colour, display_name, plot_rank
from softhash.training import methods
from softhash.training.methods import METHODS, create, describe, is_shallow, method_class, registry
from softhash.training.methods.idhn import IDHN
from softhash.training.methods.method import LAST, Method
from softhash.training.recipe import MODES, Recipe

DROPPED = '''
"""A method whose file was just put there."""

from typing import ClassVar

from softhash.training.methods.losses import quantisation_l1
from softhash.training.methods.method import Defaults, Line, Method, Shallow


class Shared(Method):
    """Code that two methods share is not a method."""


class Dropped(Shared):
    """Pushes outputs to the corners."""

    name, title, order = "dropped", "DrOpPeD", 105
    line = Line("#123456", ":", "x", bold=True)
    defaults: ClassVar[Defaults] = {"finetune": {"epochs": 7}}

    def forward(self, u, labels, index):
        return quantisation_l1(u)


class Fitted(Shallow):
    """Leaves the head as it is."""

    name = "fitted"

    def fit_head(self, head, features, labels):
        pass
'''


@pytest.fixture
def _dropped_in(tmp_path, monkeypatch):
    """Put a file into the package of methods, as far as Python can tell."""
    (tmp_path / "dropped_in.py").write_text(DROPPED)
    monkeypatch.setattr(methods, "__path__", [*methods.__path__, str(tmp_path)])
    monkeypatch.setattr(registry, "METHODS", registry._built_in())
    yield
    sys.modules.pop("softhash.training.methods.dropped_in")


@pytest.mark.usefixtures("_dropped_in")
def test_a_file_is_all_that_a_new_method_takes():
    assert create("dropped", 8, 3).bits == 8
    assert describe()["dropped"] == "Pushes outputs to the corners."
    assert display_name("dropped") == "DrOpPeD"
    assert sorted(["lsh", "dropped", "idhn"], key=plot_rank) == ["idhn", "dropped", "lsh"]
    (style,) = assign_styles(["dropped"])
    assert (style.colour, style.line, style.marker, style.width) == ("#123456", ":", "x", 2.6)
    assert bar_colour("dropped") == "#123456"
    assert Recipe.with_defaults(method="dropped", mode="finetune").epochs == 7
    assert Recipe.with_defaults(method="dropped").epochs == 40
    assert (is_shallow("dropped"), is_shallow("fitted")) == (False, True)
    grid = {"method": ["dropped", "fitted"]}
    assert [cell.mode for cell in expand({"mode": "finetune", "grid": grid})] == [
        "finetune",
        "frozen",
    ]


@pytest.mark.usefixtures("_dropped_in")
def test_what_a_method_leaves_out_has_a_default():
    assert display_name("fitted") == "fitted"
    assert plot_rank("fitted") == (LAST, "fitted")
    assert assign_styles(["fitted", "dropped"])[0] != assign_styles(["dropped"])[0]
    assert Recipe.with_defaults(method="fitted").epochs == 40
    assert set(registry.METHODS) == set(METHODS) | {"dropped", "fitted"}  # and not Shared


def test_every_built_in_method_has_a_title_a_place_and_a_look_of_its_own():
    kinds = METHODS.values()
    for fact in ("title", "order", "line"):
        assert len({getattr(kind, fact) for kind in kinds}) == len(METHODS), fact
    assert all(kind.order < LAST and kind.line for kind in kinds)
    assert [name for name, kind in METHODS.items() if kind.line.bold] == ["idhn", "softhash"]


@pytest.mark.parametrize("mode", MODES)
@pytest.mark.parametrize("name", METHODS)
def test_defaults_are_settings_of_a_recipe(name, mode):
    recipe = Recipe.with_defaults(method=name, mode=mode).as_dict()
    assert METHODS[name].defaults.keys() <= set(MODES)
    assert METHODS[name].defaults.get(mode, {}).items() <= recipe.items()


def test_a_variant_of_a_method_does_not_pass_for_it():
    class Variant(IDHN):
        """Nothing of its own."""

    assert (Variant.name, Variant.title) == ("", "")
    assert Variant.order == IDHN.order
    with pytest.raises(UsageError, match='Variant has no name; state one: name = "variant"'):
        method_class(Variant)

    class Named(IDHN):
        """A name alone."""

        name = "named"

    assert Named.title == "named"
    assert method_class(Named) is Named


@pytest.mark.parametrize("wrong", [3, object, Method(4, 2)])
def test_what_is_not_a_method_raises(wrong):
    with pytest.raises(UsageError, match="give a name, or a subclass of Method"):
        method_class(wrong)


def test_a_class_is_recorded_by_its_name_and_brings_its_defaults():
    class Mine(IDHN):
        """A method that nobody registered."""

        name = "mine"
        defaults = {"frozen": {"epochs": 5}}  # noqa: RUF012

    recipe = Recipe.with_defaults(method=Mine, bits=8)
    assert (recipe.method, recipe.epochs, recipe.bits) == ("mine", 5, 8)
    assert Recipe.with_defaults(method=Mine, epochs=6).epochs == 6
    assert create(Mine, 8, 3, alpha="4/q").alpha == 0.5
    with pytest.raises(UsageError, match="recipe key method is 3; it takes a str"):
        Recipe.with_defaults(method=3)
