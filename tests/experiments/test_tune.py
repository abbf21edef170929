"""Random search: the same draws for all methods, judged on the train set, measured once."""

import numpy as np
import pytest
from made_inputs import made_inputs

from softhash import UsageError
from softhash.experiments.bench_run import BenchRun
from softhash.experiments.feature_file import SavedFeatures, describe_network
from softhash.experiments.grid import expand_variants
from softhash.experiments.results import read_results
from softhash.experiments.tune import RANGES, draw_trials, validation_split
from softhash.training.options import Options
from softhash.training.recipe import Recipe

CONTENT = {
    "hidden": 8,
    "epochs": 2,
    "grid": {"method": ["idhn", "lsh", "dhn", "float"], "bits": [8], "seed": [0, 1]},
}


def bench_run(folder, **options):
    inputs = made_inputs(pictures=120)
    saved = SavedFeatures(inputs, describe_network(Recipe()))
    return BenchRun(folder, inputs.split, Options(device="cpu"), saved=saved, **options)


def test_all_methods_get_the_same_draws_of_the_recipe_and_their_own_of_the_settings():
    drawn = {
        name: draw_trials(Recipe(method=name, bits=16), classes=5, count=20)
        for name in ("idhn", "dhn", "softhash")
    }
    for key in RANGES["frozen"]:
        values = [[getattr(trial, key) for trial in trials] for trials in drawn.values()]
        assert values[0] == values[1] == values[2]
        assert len(set(values[0])) > 2
    settings = [trial.settings for trial in drawn["idhn"][1:]]
    assert len({one["gamma"] for one in settings}) == 19
    assert all(0.0062 <= 4 * one["gamma"] <= 0.1005 for one in settings)  # of 0.1/16, rounded
    assert all(trial.settings["ndcg_weight"] <= 1 for trial in drawn["softhash"][1:])
    assert drawn["idhn"][0] == Recipe(method="idhn", bits=16)
    assert drawn["idhn"] == draw_trials(Recipe(method="idhn", bits=16), classes=5, count=20)


def test_draws_stay_in_their_ranges():
    trials = draw_trials(Recipe(method="dhn", mode="finetune", bits=16), classes=5, count=60)
    rates = np.array([trial.head_rate for trial in trials[1:]])
    assert rates.min() >= 5e-4
    assert rates.max() <= 1e-2
    assert 0.3 < np.mean(np.log(rates) < np.log(5e-4 * 1e-2) / 2) < 0.7  # even in the logarithm
    assert {trial.augment for trial in trials[1:]} == {False, True}


def test_the_best_trial_on_the_train_set_is_measured_once_per_seed(tmp_path):
    run = bench_run(tmp_path, command="softhash bench a.toml --tune 3")
    assert run.tune(expand_variants(CONTENT), 3) == []
    trials, rows = read_results(tmp_path / "trials"), read_results(tmp_path)
    assert [row["recipe"]["method"] for row in trials] == ["idhn"] * 3 + ["dhn"] * 3
    inside = validation_split(run.split)
    assert {row["contract"]["split"] for row in trials} == {inside.sha256}
    assert set(inside.images.file_names) >= set(inside.members["query"])
    for role in ("train", "query", "database"):
        assert set(inside.members[role]) <= set(run.split.members["train"])
    assert {row["contract"]["split"] for row in rows} == {run.split.sha256}
    assert [(row["recipe"]["method"], row["recipe"]["seed"]) for row in rows] == [
        ("idhn", 0), ("idhn", 1), ("dhn", 0), ("dhn", 1),
    ]  # fmt: skip
    assert {row["variant"] for row in rows} == {"tuned"}
    assert {row["command"] for row in [*trials, *rows]} == {"softhash bench a.toml --tune 3"}
    for method in ("idhn", "dhn"):
        found = [row for row in trials if row["recipe"]["method"] == method]
        best = max(found, key=lambda r: r["metrics"]["map@5000"] + r["metrics"]["ndcg@100"])
        chosen = next(row for row in rows if row["recipe"]["method"] == method)
        assert chosen["recipe"] == best["recipe"]


def test_a_second_call_runs_nothing_again(tmp_path):
    seen = []
    for _ in range(2):
        seen.append(0)
        run = bench_run(tmp_path, on_cell=lambda *_: seen.append(seen.pop() + 1))
        run.tune(expand_variants(CONTENT), 2)
    assert seen == [8, 0]


def test_parts_together_are_the_whole(tmp_path):
    cells = expand_variants(CONTENT)
    assert bench_run(tmp_path / "whole").run(cells) == []
    for number in (1, 2, 3):
        assert bench_run(tmp_path / "parts", part=(number, 3)).run(cells) == []
    whole, parts = read_results(tmp_path / "whole"), read_results(tmp_path / "parts")
    key = lambda row: (row["recipe"]["method"], row["recipe"]["seed"])  # noqa: E731
    assert sorted(map(key, whole)) == sorted(map(key, parts))
    metrics = {key(row): row["metrics"] for row in whole}
    assert all(row["metrics"] == metrics[key(row)] for row in parts)
    assert all(row["seconds"]["side_by_side"] == 3 for row in parts)
    assert all("side_by_side" not in row["seconds"] for row in whole)
    assert bench_run(tmp_path / "parts").run(cells) == []
    assert not (tmp_path / "parts" / "results.jsonl").exists()  # nothing was left to run


def test_parts_tune_each_method_as_a_whole(tmp_path):
    for number in (1, 2):
        assert bench_run(tmp_path, part=(number, 2)).tune(expand_variants(CONTENT), 2) == []
    assert len(read_results(tmp_path / "trials")) == 4
    assert len(read_results(tmp_path)) == 4


def test_curves_are_kept_for_the_first_seed_of_a_length_alone(tmp_path):
    content = {**CONTENT, "grid": {"method": ["lsh"], "bits": [8, 16], "seed": [0, 1]}}
    bench_run(tmp_path, curves=[8]).run(expand_variants(content))
    having = [row["recipe"] for row in read_results(tmp_path) if row.get("curves")]
    assert [(recipe["bits"], recipe["seed"]) for recipe in having] == [(8, 0)]


def test_no_trials_are_refused():
    with pytest.raises(UsageError, match="0 trials are none"):
        draw_trials(Recipe(method="idhn"), classes=5, count=0)


def test_trials_of_another_split_do_not_choose(tmp_path):
    first = bench_run(tmp_path)
    first.tune(expand_variants(CONTENT), 3)
    inputs = made_inputs(pictures=120, seed=1)
    saved = SavedFeatures(inputs, describe_network(Recipe()))
    for place in (tmp_path, tmp_path / "alone"):
        BenchRun(place, inputs.split, Options(device="cpu"), saved=saved).tune(
            expand_variants(CONTENT), 3
        )
    chosen, alone = (
        [
            row["recipe"]
            for row in read_results(place)
            if row["contract"]["split"] == inputs.split.sha256
        ]
        for place in (tmp_path, tmp_path / "alone")
    )
    assert len(chosen) == 4
    assert chosen == alone


def test_the_number_of_parts_may_change(tmp_path):
    assert bench_run(tmp_path).tune(expand_variants(CONTENT), 2) == []
    for number in (1, 2):
        assert bench_run(tmp_path, part=(number, 2)).tune(expand_variants(CONTENT), 2) == []
    assert len(read_results(tmp_path / "trials")) == 4


def test_every_recipe_of_a_grid_is_tuned_once(tmp_path):
    grid = {"method": ["idhn"], "bits": [8], "seed": [0], "standardise": [True, False]}
    run = bench_run(tmp_path)
    assert run.tune(expand_variants({**CONTENT, "grid": grid}), 2) == []
    assert len(read_results(tmp_path / "trials")) == 4
    assert sorted(row["recipe"]["standardise"] for row in read_results(tmp_path)) == [False, True]


def test_variants_are_not_tuned(tmp_path):
    content = {**CONTENT, "variants": {"linear": {"hidden": 0}}}
    with pytest.raises(UsageError, match="the variant 'linear' cannot be tuned"):
        bench_run(tmp_path).tune(expand_variants(content), 2)
