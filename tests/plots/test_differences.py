"""Tested differences in tables: made rows whose values of single queries are known."""

import json

import numpy as np
import pytest
from made_rows import made_row

from softhash.errors import InputError
from softhash.experiments.per_query import QUERY_METRICS, row_key, save_per_query
from softhash.plots.differences import (
    Differences,
    compare_rows,
    find_file,
    find_folder,
    read_differences,
    write_differences,
)
from softhash.plots.groups import group_rows
from softhash.plots.markup import LATEX_HEAD, to_html, to_latex, to_markdown
from softhash.plots.places import BEST, LEVEL
from softhash.plots.tables import comparison_table, overview_table

CUTS = (20, 100, 5000)
QUERIES = 60
HARD = np.random.default_rng(0).uniform(0.3, 0.7, QUERIES)  # what methods share
LEADS = {"idhn": 0.2, "dhn": 0.0, "lsh": 0.0}  # a clear lead
LEVEL_PAIR = {"idhn": 0.1, "dhn": 0.0999, "lsh": 0.0}  # the first two are level


def saved_row(folder, shift, seed=0, noise=0.01, **recipe):
    """Return a row, with values of single queries that average to its metrics."""
    key = [seed, recipe.get("bits", 48), *map(ord, recipe["method"])]
    values = HARD + shift + np.random.default_rng(key).normal(0, noise, QUERIES)
    row = made_row(float(values.mean()), cuts=CUTS, seed=seed, **recipe)
    save_per_query(folder, row, dict.fromkeys(QUERY_METRICS, values))
    return row


def made_rows(folder, shifts, seeds=(0, 1), **recipe):
    return [
        saved_row(folder, shift, seed, method=method, **recipe)
        for method, shift in shifts.items()
        for seed in seeds
    ]


def tables_of(rows, folder, metric="map", cut="5000"):
    (group,) = group_rows(rows)
    tested = Differences(compare_rows(rows, folder))
    return comparison_table(group, metric, cut, "expected", tested)


def places(table, column=0):
    return {label: cells[column] and cells[column].place for label, cells in table.rows}


def test_every_competing_line_is_compared_with_the_best_of_its_column(tmp_path):
    rows = made_rows(tmp_path, LEVEL_PAIR) + made_rows(tmp_path, LEADS, seeds=(0,), bits=12)
    rows.append(made_row(0.99, method="float", cuts=CUTS))
    lines = compare_rows(rows, tmp_path)
    assert len(lines) == 2 * len(QUERY_METRICS) * 3
    assert list(lines[0]) == [
        "split", "mode", "bits", "metric", "method", "best", "difference", "low", "high", "p",
        "level", "seeds", "queries", "replicates",
    ]  # fmt: skip
    found = {(one["bits"], one["metric"], one["method"]): one for one in lines}
    one = found[48, "ndcg@20", "LSH"]
    means = {
        method: np.mean(
            [r["metrics"]["map@5000"] for r in rows[:6] if r["recipe"]["method"] == method]
        )
        for method in LEVEL_PAIR
    }
    assert one["difference"] == pytest.approx(means["lsh"] - max(means.values()), abs=2e-4)
    assert one["low"] < one["difference"] < one["high"] < 0
    assert (one["level"], one["p"], one["seeds"], one["queries"]) == (False, 0.0, 2, QUERIES)
    assert (one["split"], one["mode"], one["replicates"]) == ("ab12", "frozen", 10_000)
    assert found[48, "map@5000", "DHN"]["level"]
    assert not found[12, "map@5000", "DHN"]["level"]
    assert {one["best"] for one in lines if one["bits"] == 12} == {"IDHN"}


def test_a_lead_is_bold_and_a_tie_is_marked_alike(tmp_path):
    lead = tables_of(made_rows(tmp_path / "lead", LEADS), tmp_path / "lead")
    assert places(lead) == {"IDHN": BEST, "DHN": 0, "LSH": 0}
    assert "in bold what leads its column" in lead.caption
    assert not [note for note in lead.notes if "bootstrap" in note]
    tie = tables_of(made_rows(tmp_path / "tie", LEVEL_PAIR), tmp_path / "tie")
    assert places(tie) == {"IDHN": LEVEL, "DHN": LEVEL, "LSH": 0}
    assert len([note for note in tie.notes if "paired bootstrap" in note]) == 1


def test_the_three_languages_print_a_tie_without_calling_it_a_lead(tmp_path):
    table = tables_of(made_rows(tmp_path, LEVEL_PAIR), tmp_path)
    mean = f"{dict(table.rows)['DHN'][0].mean:.4f}"
    assert f"| DHN | {mean}≈ ± " in to_markdown(table)
    assert f'<span class="level">{mean}</span> ± ' in to_html(table)
    assert rf"\textcolor{{gray}}{{{mean}}} $\pm$" in to_latex(table)
    assert "xcolor" in LATEX_HEAD
    assert "**" not in to_markdown(table)
    assert "<strong>" not in to_html(table)
    assert "textbf" not in to_latex(table)
    assert "≈" not in to_latex(table)


def test_without_tested_differences_tables_say_so(tmp_path):
    (group,) = group_rows(made_rows(tmp_path, LEVEL_PAIR))
    for tested in (None, Differences([])):
        table = comparison_table(group, "map", "5000", "expected", tested)
        assert "best in bold, second underlined, differences not tested" in table.caption
        assert BEST in places(table).values()
    known = Differences(compare_rows(group.rows, tmp_path))  # which are of other ties
    assert "not tested" in comparison_table(group, "map", "5000", "stable", known).caption


def test_columns_that_were_not_tested_are_named_and_not_marked(tmp_path):
    rows = made_rows(tmp_path, LEADS)
    (group,) = group_rows(rows)
    tested = Differences(compare_rows(rows, tmp_path))
    measures = [("map", "5000"), ("precision", "100")]
    table = overview_table(group, 48, measures, "expected", tested)
    assert "not tested, so not marked: precision@100" in table.caption
    assert places(table, 0)["IDHN"] == BEST
    assert set(places(table, 1).values()) == {0}


def test_a_column_with_a_line_that_was_not_tested_is_not_tested(tmp_path):
    rows = made_rows(tmp_path, LEADS)
    (tmp_path / f"{row_key(rows[-1])}.npy").unlink()  # one seed of LSH
    assert {line["method"] for line in compare_rows(rows, tmp_path)} == {"IDHN", "DHN"}
    assert "differences not tested" in tables_of(rows, tmp_path).caption


def test_differences_of_other_rows_do_not_count(tmp_path):
    rows = made_rows(tmp_path, LEADS)
    tested = Differences(compare_rows(rows, tmp_path))
    (fewer,) = group_rows([row for row in rows if row["recipe"]["seed"] == 0])
    (without_best,) = group_rows([row for row in rows if row["recipe"]["method"] != "idhn"])
    changed = [
        row | {"metrics": {name: value - 0.05 for name, value in row["metrics"].items()}}
        if row["recipe"]["method"] == "dhn"
        else row
        for row in rows
    ]
    for group in (fewer, without_best, *group_rows(changed)):
        table = comparison_table(group, "map", "5000", "expected", tested)
        assert "differences not tested" in table.caption


def test_the_first_bits_of_a_longer_code_are_a_way_to_use_it_and_do_not_compete(tmp_path):
    whole, short = (saved_row(tmp_path, 0.1, method="idhn", bits=bits) for bits in (64, 16))
    values = HARD + 0.2
    save_per_query(tmp_path, whole, dict.fromkeys(QUERY_METRICS, values), first_bits=16)
    metrics = dict.fromkeys(whole["metrics"], float(values.mean()))
    rows = [whole | {"prefixes": {"16": {"metrics": metrics}}}, short]
    table = tables_of(rows, tmp_path)
    first = "IDHN, first bits of 64"
    assert places(table, 0) == places(table, 1) == {"IDHN": 0, first: 0}
    rows += made_rows(tmp_path, {"lsh": -0.1}, seeds=(0,), bits=64)
    rows += made_rows(tmp_path, {"lsh": -0.1}, seeds=(0,), bits=16)
    for column in (0, 1):
        assert places(tables_of(rows, tmp_path), column) == {"IDHN": BEST, first: 0, "LSH": 0}


def test_values_of_another_run_are_refused(tmp_path):
    rows = made_rows(tmp_path, LEADS)
    rows[0]["metrics"]["map@5000"] += 0.1
    with pytest.raises(InputError, match=r"average to map@5000 .* but their row has"):
        compare_rows(rows, tmp_path)


def test_tested_differences_are_kept_as_they_are(tmp_path):
    rows = made_rows(tmp_path / "per-query", LEVEL_PAIR)
    lines = compare_rows(rows, find_folder(tmp_path))
    write_differences(find_file(tmp_path), lines)
    first = (tmp_path / "significance.json").read_bytes()
    assert read_differences(tmp_path / "significance.json") == lines
    assert len(first.splitlines()) == len(lines) + 2
    again = compare_rows(rows[::-1], find_folder(tmp_path / "rows.jsonl"))
    order = {"metric": 0, "method": 1}
    by_name = sorted(again, key=lambda line: [line[key] for key in order])
    assert by_name == sorted(lines, key=lambda line: [line[key] for key in order])


@pytest.mark.parametrize(
    ("content", "message"),
    [
        ("{}", "is not a list of tested differences; give what"),
        ('[{"split": "a"}]', "is not a list of tested differences"),
        ("[3]", "is not a list of tested differences"),
        ("[", "is not JSON"),
    ],
)
def test_a_file_of_something_else_is_refused(content, message, tmp_path):
    (tmp_path / "s.json").write_text(content)
    with pytest.raises(InputError, match=message):
        read_differences(tmp_path / "s.json")


def test_a_line_with_a_wrong_kind_of_value_is_refused(tmp_path):
    (line, *_) = compare_rows(made_rows(tmp_path, LEADS), tmp_path)
    for key, value in (("level", 1), ("bits", True), ("bits", "48"), ("p", None)):
        (tmp_path / "s.json").write_text(json.dumps([line | {key: value}]))
        with pytest.raises(InputError, match="is not a list of tested differences"):
            read_differences(tmp_path / "s.json")
