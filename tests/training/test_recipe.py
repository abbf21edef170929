import pytest

from softhash import InputError, UsageError
from softhash.training.recipe import Recipe


def test_a_recipe_goes_to_toml_and_back(tmp_path):
    recipe = Recipe.with_defaults(mode="finetune", bits=24, settings={"alpha": 0.5})
    (tmp_path / "r.toml").write_text(recipe.to_toml())
    assert Recipe.read(tmp_path / "r.toml") == recipe
    assert Recipe.read(tmp_path / "r.toml", bits=12) == recipe.changed(bits=12)


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
        ({"mode": "froze"}, "unknown mode 'froze'; did you mean 'frozen'"),
        ({"schedule": "cosin"}, "did you mean 'cosine'"),
        ({"settings": [1]}, "settings is .* takes a table"),
    ],
)
def test_wrong_values_are_named(values, message):
    with pytest.raises(UsageError, match=message):
        Recipe.with_defaults(**values)


def test_files_that_are_no_recipe_are_named(tmp_path):
    (tmp_path / "bad.toml").write_text("bits = = 3")
    with pytest.raises(InputError, match=r"bad\.toml is not TOML"):
        Recipe.read(tmp_path / "bad.toml")
    with pytest.raises(InputError, match="cannot be read"):
        Recipe.read(tmp_path / "absent.toml")
