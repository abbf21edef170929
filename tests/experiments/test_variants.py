"""Variants of a grid: the same cells again with some keys fixed, under a name."""

import pytest

from softhash.errors import UsageError
from softhash.experiments.grid import expand_variants

CONTENT = {
    "grid": {"method": ["idhn", "dhn"], "bits": [12, 24], "settings.lambda_": [0.1]},
    "methods": {"idhn": {"dropout": 0.4, "settings": {"alpha": 1.0}}},
    "variants": {
        "linear": {"method": "idhn", "hidden": 0, "dropout": 0.2, "settings": {"lambda_": 0.0}},
        "long": {"bits": 48},
        "the same": {"method": "idhn", "bits": 12},
    },
}


def test_a_variant_fixes_keys_of_the_grid_and_wins_over_those_of_a_method():
    cells = expand_variants(CONTENT)
    names = [name for _, name in cells]
    assert names == [""] * 4 + ["linear"] * 2 + ["long"] * 2  # what is there already has no name
    linear = [recipe for recipe, name in cells if name == "linear"]
    assert [(recipe.method, recipe.bits) for recipe in linear] == [("idhn", 12), ("idhn", 24)]
    assert {(recipe.hidden, recipe.dropout) for recipe in linear} == {(0, 0.2)}
    assert linear[0].settings == {"alpha": 1.0, "lambda_": 0.0}
    assert [(r.method, r.bits) for r, name in cells if name == "long"] == [
        ("idhn", 48), ("dhn", 48),
    ]  # fmt: skip


def test_a_variant_of_a_method_that_is_not_asked_for_is_left_out():
    cells = expand_variants(CONTENT, {"method": ["dhn"], "bits": [36]})
    assert [(recipe.method, recipe.bits, name) for recipe, name in cells] == [
        ("dhn", 36, ""), ("dhn", 48, "long"),
    ]  # fmt: skip


@pytest.mark.parametrize(
    ("variants", "message"),
    [
        (3, r"variants is 3; give a table \[variants\]"),
        ({"x": 3}, r"variants.x is 3; give a table \[variants.x\]"),
        ({"x": {"epoch": 3}}, "unknown recipe key 'epoch'"),
        ({"x": {"method": "idnh"}}, "unknown method 'idnh'"),
    ],
)
def test_wrong_variants_are_refused(variants, message):
    with pytest.raises(UsageError, match=message):
        expand_variants({"method": "idhn", "grid": {"bits": [12]}, "variants": variants})
