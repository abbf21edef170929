"""Codes that were trained for several lengths are measured at each of them."""

import numpy as np
import pytest
from made_inputs import made_inputs

from softhash.codes import pack
from softhash.evaluation.evaluate import evaluate_codes
from softhash.experiments.cells import CUTS, run_cell, train_cell
from softhash.training.options import Options
from softhash.training.recipe import Recipe


def recipe(**settings):
    made = Recipe.with_defaults(method="softhash", bits=16, epochs=1, batch_size=16)
    return made.changed(settings=settings)


def test_a_row_has_the_metrics_of_the_first_bits_of_nested_codes():
    inputs, options = made_inputs(), Options(device="cpu")
    chosen = recipe(lengths=[4, 8])
    row = run_cell(chosen, inputs, options)
    assert list(row["prefixes"]) == ["4", "8"]
    u, labels = train_cell(chosen, inputs, options).outputs, inputs.labels.numpy()
    for bits in (4, 8):
        q, d = inputs.query.numpy(), inputs.database.numpy()
        codes = pack(np.ascontiguousarray(u[:, :bits]))
        report = evaluate_codes(codes[q], codes[d], labels[q], labels[d], bits=bits, at=CUTS)
        part = row["prefixes"][str(bits)]
        assert part["metrics"] == pytest.approx(report.metrics)
        assert part.keys() == {"metrics", "metrics_stable", "curves"}
    assert row["contract"]["bits"] == 16


def test_a_row_of_codes_of_one_length_has_no_prefixes():
    assert "prefixes" not in run_cell(recipe(lengths=[]), made_inputs(), Options(device="cpu"))
