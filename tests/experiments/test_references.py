"""Rows of references: float features against a loop, a classifier against scikit-learn's."""

import numpy as np
import pytest
import torch
from made_inputs import coloured_pictures, made_inputs
from sklearn.linear_model import LogisticRegression

from softhash.errors import UsageError
from softhash.evaluation.by_distance import evaluate_distances
from softhash.experiments.cells import RowOptions, run_cell
from softhash.experiments.grid import expand
from softhash.experiments.references import reference_recipe
from softhash.model.hasher import Hasher
from softhash.model.label_classifier import RIDGES
from softhash.training.options import Options
from softhash.training.recipe import Recipe


def test_float_features_are_ranked_by_cosine():
    inputs = made_inputs()
    recipe = reference_recipe("float", Recipe())
    row = run_cell(recipe, inputs, Options(device="cpu"), RowOptions(sheets=2))
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


def test_bits_seeds_and_settings_of_a_grid_make_one_cell_of_a_reference():
    grid = {"method": ["lsh", "float"], "bits": [8, 16], "seed": [0, 1]}
    recipes = expand({"mode": "finetune", "size": 227, "hidden": 9, "grid": grid})
    (one,) = [recipe for recipe in recipes if recipe.method == "float"]
    assert one == Recipe(method="float", size=227)
    assert len(recipes) == 5


def test_a_classifier_is_fitted_to_the_train_set_and_ranks_by_its_probabilities():
    """Against logistic regressions of scikit-learn, at the ridge that fits them best."""
    inputs = made_inputs(pictures=400)
    recipe = reference_recipe("classifier", Recipe())
    row = run_cell(recipe, inputs, Options(device="cpu"))
    x, y = inputs.inputs.double().numpy(), inputs.labels.numpy().astype(int)
    train = inputs.train.numpy()
    standard = (x - x[train].mean(0)) / x[train].std(0)
    found = []
    for ridge in RIDGES:
        fits = [LogisticRegression(C=1 / ridge).fit(standard[train], y[train, k]) for k in range(5)]
        p = np.stack([fit.predict_proba(standard)[:, 1] for fit in fits], axis=1)
        unit = p / np.linalg.norm(p, axis=1, keepdims=True)
        near = 1 - unit[inputs.query] @ unit[inputs.database].T
        sides = y[inputs.query], y[inputs.database]
        report = evaluate_distances(near, *sides, bits=160, distance="cosine", at="all")
        found.append(report.metrics["map@all"])
    assert min(abs(value - row["metrics"]["map@all"]) for value in found) < 1e-3
    assert row["contract"]["bits"] == 5 * 32
    assert row["contract"]["distance"] == "cosine of a classifier's probabilities"


def test_a_finetuned_reference_is_trained_once_for_all_lengths():
    grid = {"method": ["dhn", "float-finetuned"], "bits": [8, 16], "seed": [0]}
    recipes = expand({"mode": "finetune", "size": 64, "epochs": 3, "grid": grid})
    (one,) = [recipe for recipe in recipes if recipe.method == "float-finetuned"]
    assert (one.mode, one.epochs, one.size, one.settings) == ("finetune", 3, 64, {})
    with pytest.raises(UsageError, match="trained on pictures"):
        expand({"grid": {"method": ["float-finetuned"]}})


def test_a_finetuned_classifier_ranks_by_labels_it_has_learned():
    """Pictures of noise in a colour per class; the network as published ranks them worse."""
    inputs = coloured_pictures()
    recipe = Recipe.with_defaults(
        mode="finetune", method="dhn", size=64, epochs=8, batch_size=12, average=0.0
    )
    published = Hasher("efficientnet_lite0", 8, size=64).network.eval()
    with torch.no_grad():
        x = torch.nn.functional.normalize(published.features(inputs.inputs))
    sides = inputs.labels.numpy()[inputs.query], inputs.labels.numpy()[inputs.database]
    near = 1 - (x[inputs.query] @ x[inputs.database].T).numpy()
    before = evaluate_distances(near, *sides, bits=32, distance="cosine", at="all")
    for name in ("classifier-finetuned", "float-finetuned"):
        row = run_cell(reference_recipe(name, recipe), inputs, Options(device="cpu"))
        assert row["metrics"]["map@all"] > max(0.9, before.metrics["map@all"])
        assert row["seconds"]["train"] > 0
