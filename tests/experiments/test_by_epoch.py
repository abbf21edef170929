"""Metrics after every epoch: those of shorter runs, and training is not touched by them."""

import pytest
from made_inputs import made_inputs

from softhash.experiments.by_epoch import MEASURES
from softhash.experiments.cells import RowOptions, run_cell, train_cell
from softhash.training.options import Options
from softhash.training.recipe import Recipe

OPTIONS = Options(device="cpu")


def recipe(**values):
    given = {"method": "idhn", "bits": 8, "hidden": 8, "epochs": 4, "batch_size": 5, **values}
    return Recipe(schedule="constant", **given)


def test_an_epoch_is_measured_as_the_last_of_a_run_that_ends_there():
    inputs = made_inputs(broken=0)  # twenty to train on: four batches are an epoch
    row = run_cell(recipe(), inputs, OPTIONS, RowOptions(each_epoch=True))
    for name in MEASURES:
        ends = [run_cell(recipe(epochs=n), inputs, OPTIONS)["metrics"][name] for n in (1, 2, 3, 4)]
        assert row["by_epoch"][name] == pytest.approx(ends, abs=1e-6)
    assert len(set(row["by_epoch"]["map@5000"])) > 1


def test_training_ends_with_the_same_weights_whether_epochs_are_measured_or_not():
    plain, watched = (
        train_cell(recipe(dropout=0.5), made_inputs(), OPTIONS, each_epoch=each)
        for each in (False, True)
    )
    assert (plain.outputs == watched.outputs).all()
    assert plain.by_epoch == {}


def test_other_reports_of_an_epoch_go_on():
    epochs = []
    options = Options(device="cpu", on_epoch=lambda figures: epochs.append(figures["epoch"]))
    train_cell(recipe(), made_inputs(), options, each_epoch=True)
    assert epochs == [1, 2, 3, 4]


@pytest.mark.parametrize("method", ["lsh", "dqn"])
def test_what_has_no_epochs_or_no_codes_before_the_end_has_no_such_metrics(method):
    row = run_cell(
        recipe(method=method, bits=12), made_inputs(), OPTIONS, RowOptions(each_epoch=True)
    )
    assert "by_epoch" not in row
