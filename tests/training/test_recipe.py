import json
import math

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from softhash import InputError, UsageError
from softhash.training.methods import create
from softhash.training.recipe import Recipe

TEXT = st.text(st.characters(exclude_categories=["Cs"]))  # all that a file can hold
VALUES = st.recursive(
    st.booleans() | st.integers(-(2**63), 2**63 - 1) | st.floats(allow_nan=False) | TEXT,
    lambda inner: st.lists(inner, max_size=3) | st.dictionaries(TEXT, inner, max_size=3),
    max_leaves=5,
)


def test_a_recipe_goes_to_toml_and_back(tmp_path):
    recipe = Recipe.with_defaults(mode="finetune", bits=24, settings={"alpha": 0.5})
    (tmp_path / "r.toml").write_text(recipe.to_toml())
    assert Recipe.read(tmp_path / "r.toml") == recipe
    assert Recipe.read(tmp_path / "r.toml", bits=12) == recipe.changed(bits=12)


@given(
    settings=st.dictionaries(TEXT, VALUES, max_size=4),
    weights=TEXT,
    rate=st.floats(0, allow_nan=False, allow_infinity=False),
)
def test_any_recipe_goes_to_toml_and_back(tmp_path_factory, settings, weights, rate):
    recipe = Recipe.with_defaults(settings=settings, weights=weights, head_rate=rate)
    file = tmp_path_factory.mktemp("recipe") / "r.toml"
    file.write_bytes(recipe.to_toml().encode())
    assert Recipe.read(file) == recipe


@pytest.mark.parametrize(
    "settings",
    [{"picture": "🐈\x00\\"}, {"two words": 1}, {"rate": math.inf}, {"": {"é": [1.5, "x"]}}],
    ids=["emoji", "spaces", "infinity", "nested"],
)
def test_settings_that_need_care_go_to_toml_and_back(settings, tmp_path):
    (tmp_path / "r.toml").write_bytes(Recipe.with_defaults(settings=settings).to_toml().encode())
    assert Recipe.read(str(tmp_path / "r.toml")).settings == settings


def test_a_value_that_is_not_a_number_is_written_as_such(tmp_path):
    recipe = Recipe.with_defaults(settings={"alpha": math.nan})
    (tmp_path / "r.toml").write_text(recipe.to_toml())
    assert math.isnan(Recipe.read(tmp_path / "r.toml").settings["alpha"])


def test_a_setting_that_toml_cannot_hold_raises():
    with pytest.raises(UsageError, match="cannot be written as TOML"):
        Recipe.with_defaults(settings={"bins": None}).to_toml()


def test_numbers_of_numpy_are_written_as_any_others(tmp_path):
    """As a search over settings has them; a checkpoint writes JSON, a run's folder TOML."""
    numbers = {"alpha": np.float32(0.5), "steps": np.int64(3), "soft": np.bool_(True)}
    recipe = Recipe.with_defaults(settings=numbers)
    assert json.loads(json.dumps(recipe.as_dict()))["settings"] == numbers
    (tmp_path / "r.toml").write_text(recipe.to_toml())
    assert Recipe.read(tmp_path / "r.toml").settings == {"alpha": 0.5, "steps": 3, "soft": True}


@pytest.mark.parametrize(
    ("values", "message"),
    [
        ({"bit": 48}, "unknown recipe key 'bit'; did you mean 'bits'"),
        ({"bits": "48"}, "recipe key bits is '48'; it takes a int"),
        ({"bits": 48.0}, "takes a int"),
        ({"bits": 0}, "1 to 1024 bits, not 0"),
        ({"augment": 1}, "takes a bool"),
        ({"dropout": 1.0}, "dropout is 1.0"),
        ({"head_rate": -1}, "head_rate is -1"),
        ({"epochs": 0}, "epochs is 0; give at least 1"),
        ({"head_rate": math.nan}, "head_rate is nan; give a finite number"),
        ({"weight_decay": math.inf}, "weight_decay is inf; give a finite number"),
        ({"backbone_rate": 10**400}, "backbone_rate is 1000.*; give a finite number"),
        ({"seed": 2**64}, "seed has 65 bits; give up to 63 bits"),
        ({"mode": "froze"}, "unknown mode 'froze'; did you mean 'frozen'"),
        ({"schedule": "cosin"}, "did you mean 'cosine'"),
        ({"settings": [1]}, "settings is .* takes a table"),
    ],
)
def test_wrong_values_are_named(values, message):
    with pytest.raises(UsageError, match=message):
        Recipe.with_defaults(**values)


@pytest.mark.parametrize(
    "text",
    ["a = " + "[" * 100_000, "a = " + "9" * 5000, "[a." * 3 + "]"],
    ids=["deep", "long", "cut"],
)
def test_toml_that_no_reader_gets_through_is_an_error(tmp_path, text):
    (tmp_path / "bad.toml").write_text(text)
    with pytest.raises(InputError, match=r"bad\.toml is not TOML"):
        Recipe.read(tmp_path / "bad.toml")


def test_files_that_are_not_recipes_are_named(tmp_path):
    (tmp_path / "bad.toml").write_text("bits = = 3")
    with pytest.raises(InputError, match=r"bad\.toml is not TOML"):
        Recipe.read(tmp_path / "bad.toml")
    with pytest.raises(InputError, match="cannot be read"):
        Recipe.read(tmp_path / "absent.toml")


def test_a_setting_with_the_name_of_an_argument_is_unknown():
    with pytest.raises(UsageError, match="unknown setting of method 'idhn' 'bits'"):
        create("idhn", 8, 4, bits=1)
