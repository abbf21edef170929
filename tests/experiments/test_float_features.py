"""The reference row of float features, against a loop over sorted lists."""

import numpy as np
import pytest
from made_inputs import made_inputs

from softhash.experiments.cells import run_cell
from softhash.experiments.float_features import float_recipe
from softhash.experiments.grid import expand
from softhash.training.options import Options
from softhash.training.recipe import Recipe


def test_float_features_are_ranked_by_cosine():
    inputs = made_inputs()
    row = run_cell(float_recipe(Recipe()), inputs, Options(device="cpu"), sheets=2)
    x, y = inputs.inputs.double().numpy(), inputs.labels.numpy().astype(int)
    precision, acg, nearest = [], [], {}
    for q in inputs.query.tolist():
        near = [
            (-(x[q] @ x[d]) / np.linalg.norm(x[q]) / np.linalg.norm(x[d]), d)
            for d in inputs.database.tolist()
        ]
        first = [d for _, d in sorted(near)][:20]
        shared = [int(y[q] @ y[d]) for d in first]
        precision.append(sum(count > 0 for count in shared) / 20)
        acg.append(sum(shared) / 20)
        nearest[inputs.names[q]] = [inputs.names[d] for d in first]
    assert row["metrics"]["precision@20"] == pytest.approx(np.mean(precision))
    assert row["metrics"]["acg@20"] == pytest.approx(np.mean(acg))
    assert row["metrics_stable"]["acg@20"] == pytest.approx(np.mean(acg))
    assert [nearest[hit["query"]] for hit in row["hits"]] == [hit["nearest"] for hit in row["hits"]]
    contract = row["contract"]
    assert (contract["bits"], contract["distance"]) == (8 * 32, "cosine of float features")
    assert contract["split"] == inputs.split.sha256
    assert row["seconds"]["train"] == 0


def test_bits_seeds_and_settings_of_a_grid_make_one_cell_of_float_features():
    grid = {"method": ["lsh", "float"], "bits": [8, 16], "seed": [0, 1]}
    recipes = expand({"mode": "finetune", "size": 227, "hidden": 9, "grid": grid})
    (one,) = [recipe for recipe in recipes if recipe.method == "float"]
    assert one == Recipe(method="float", size=227)
    assert len(recipes) == 5
