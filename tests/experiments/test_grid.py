import pytest

from softhash.errors import UsageError
from softhash.experiments.grid import expand

GRID = {"method": ["idhn", "idhn-fine-ce"], "bits": [12, 24]}


def test_a_method_has_settings_of_its_own_and_the_others_the_files():
    own = {"head_rate": 1e-4, "settings": {"alpha": "9/q"}}
    content = {"epochs": 3, "settings": {"lambda_": 0.2}, "grid": GRID, "methods": {"idhn": own}}
    by_method = {recipe.method: recipe for recipe in expand(content)}
    assert len(expand(content)) == 4
    assert by_method["idhn"].head_rate == 1e-4
    assert by_method["idhn"].settings == {"lambda_": 0.2, "alpha": "9/q"}
    assert by_method["idhn-fine-ce"].head_rate == 3e-3
    assert by_method["idhn-fine-ce"].settings == {"lambda_": 0.2}
    assert {recipe.epochs for recipe in by_method.values()} == {3}


def test_what_the_grid_varies_wins_over_what_a_method_has():
    methods = {"idhn": {"epochs": 9, "settings": {"alpha": 1.0, "gamma": 0.5}}}
    grid = {"epochs": [1, 2], "settings.alpha": ["1/q", "5/q"]}
    recipes = expand({"method": "idhn", "grid": grid, "methods": methods})
    assert [recipe.epochs for recipe in recipes] == [1, 1, 2, 2]
    assert [recipe.settings["alpha"] for recipe in recipes] == ["1/q", "5/q"] * 2
    assert {recipe.settings["gamma"] for recipe in recipes} == {0.5}


def test_shallow_methods_are_fitted_to_features_among_fine_tuned_ones():
    grid = {"method": ["idhn", "lsh"], "bits": [12]}
    tuned, fitted = expand({"mode": "finetune", "size": 227, "grid": grid})
    assert (tuned.mode, fitted.mode) == ("finetune", "frozen")
    assert (tuned.size, fitted.size) == (227, 227)
    both = expand({"grid": {**grid, "mode": ["frozen", "finetune"]}})
    assert [(r.method, r.mode) for r in both] == [
        ("idhn", "frozen"), ("idhn", "finetune"), ("lsh", "frozen"),
    ]  # fmt: skip


def test_settings_of_a_method_that_is_not_asked_for_do_no_harm():
    methods = {"idhn-coarse-ce": {"epochs": 9}}
    assert {recipe.epochs for recipe in expand({"grid": GRID, "methods": methods})} == {40}


@pytest.mark.parametrize(
    ("content", "message"),
    [
        ({"methods": {"idnh": {}}}, "unknown method 'idnh'; did you mean 'idhn'"),
        ({"grid": {"method": ["idhn", "idnh"]}}, "unknown method 'idnh'"),
        ({"method": "idnh"}, "unknown method 'idnh'"),
        (
            {"methods": {"softhash": {"epoch": 3}}},
            "unknown recipe key 'epoch'; did you mean 'epochs'",
        ),
        ({"methods": {"idhn": 3}}, r"methods.idhn is 3; give a table \[methods.idhn\]"),
        ({"methods": {"idhn": {"method": "dhn"}}}, "it is for idhn alone"),
        ({"methods": 3}, r"methods is 3; give a table \[methods\]"),
        ({"grid": [12]}, r"grid is \[12\]; give a table \[grid\]"),
    ],
)
def test_wrong_files_are_refused_before_anything_runs(content, message):
    with pytest.raises(UsageError, match=message):
        expand(content)


@pytest.mark.parametrize(
    "content",
    [
        {"grid": [1]},
        {"settings": 5, "grid": {"bits": [12]}},
        {"grid": {"settings": [5], "settings.alpha": [1]}},
        {"methods": {"idhn": {"settings": [1]}}, "grid": {"method": ["idhn"]}},
        {"grid": {name: list(range(1, 101)) for name in ("bits", "seed", "epochs")}},
    ],
    ids=["a list", "a number", "both", "own", "a million cells"],
)
def test_a_grid_that_makes_no_sense_is_a_usage_error(content):
    with pytest.raises(UsageError):
        expand(content)
