"""Readers of recipes, grids and results."""

import json
from pathlib import Path

from softhash.errors import InputError

from .reader import Reader, load_module

RECIPE = """mode = "finetune"
method = "idhn"
bits = 48
epochs = 3
head_rate = 0.001
augment = true
weights = "default"
[settings]
alpha = 0.1
gamma = "5/q"
"""
GRID = """mode = "frozen"
dropout = 0.1
[grid]
method = ["idhn", "dpsh"]
bits = [12, 24]
"settings.alpha" = ["5/q", 0.1]
[methods.dpsh]
head_rate = 1e-3
[methods.dpsh.settings]
eta = 0.1
[variants.linear]
hidden = 0
settings = { alpha = 0.2 }
"""


def _make_recipe(folder: Path) -> None:
    (folder / "recipe.toml").write_text(RECIPE)
    (folder / "grid.toml").write_text(GRID)


def _read_recipe(folder: Path) -> None:
    from softhash.training.methods import create
    from softhash.training.recipe import Recipe

    recipe = Recipe.read(folder / "recipe.toml")
    recipe.to_toml()
    json.dumps(recipe.as_dict())
    create(recipe.method, recipe.bits, 4, **recipe.settings)


def _read_grid(folder: Path) -> None:
    from softhash.cli.bench import bench

    missing = str(folder / "nothing here")
    try:
        bench(folder / "grid.toml", missing, folder / "results")
    except InputError as error:
        if missing not in error.detail:
            raise


def _make_features(folder: Path) -> None:
    from softhash.experiments.feature_file import save_features
    from softhash.training.recipe import Recipe

    inputs = load_module("experiments/made_inputs.py").made_inputs()
    save_features(inputs, Recipe(), folder / "features.npz")


def _read_features(folder: Path) -> None:
    from softhash.experiments.feature_file import load_features

    inputs = load_features(folder / "features.npz").inputs
    assert inputs.inputs[inputs.train].isfinite().all()
    assert len(inputs.names) == len(inputs.labels)


def _make_rows(folder: Path) -> None:
    made_row = load_module("plots/made_rows.py").made_row
    rows = [
        made_row(0.4 + bits / 100, bits=bits, method=m)
        for m in ("idhn", "lsh")
        for bits in (12, 24)
    ]
    rows += [made_row(0.5, bits=12, settings={"alpha": value}) for value in ("5/q", 0.1, 0.2)]
    (folder / "results.jsonl").write_text("".join(json.dumps(row) + "\n" for row in rows))


def _read_rows(folder: Path) -> None:
    from softhash.experiments.results import append_row, read_results, read_rows
    from softhash.plots.details import describe_group, list_entries
    from softhash.plots.groups import group_rows
    from softhash.plots.markup import to_html, to_latex, to_markdown
    from softhash.plots.tables import comparison_table, sweep_table

    file = folder / "results.jsonl"
    for group in group_rows(read_results(file)):
        tables = [sweep_table(group, sweep, "5000", "expected") for sweep in group.sweeps]
        tables += [comparison_table(group, "map", "5000", "stable")] if group.entries else []
        for table in tables:
            to_html(table), to_latex(table), to_markdown(table)
        describe_group(group), list_entries(group)
    rows = read_rows(file)
    append_row(file, rows[0])
    assert read_rows(file) == [*rows, rows[0]]


def _write_report(folder: Path) -> None:
    from softhash.cli.plot import plot

    plot(folder / "results.jsonl", folder / "report", format="svg", force=True)


READERS = [
    Reader("recipe", _make_recipe, {"recipe.toml": "toml"}, _read_recipe),
    Reader("grid", _make_recipe, {"grid.toml": "toml"}, _read_grid),
    Reader("features", _make_features, {"features.npz": "zip"}, _read_features),
    Reader("results", _make_rows, {"results.jsonl": "jsonl"}, _read_rows, keeps=False),
    Reader(
        "report", _make_rows, {"results.jsonl": "jsonl"}, _write_report, keeps=False, weight=0.05
    ),
]
