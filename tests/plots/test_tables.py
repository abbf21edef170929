import re
import statistics

import pytest
from made_rows import made_row

from softhash.errors import UsageError
from softhash.plots.groups import group_rows
from softhash.plots.markup import to_html, to_latex, to_markdown
from softhash.plots.places import BEST, SECOND
from softhash.plots.tables import comparison_table, sweep_table
from softhash.plots.writing import choose_measures

VALUES = {"idhn": (0.71, 0.73), "dhn": (0.70, 0.70), "lsh": (0.4, 0.5)}


def table(metric="map", cut="5000", ties="expected", **values):
    rows = [
        made_row(value, method=method, seed=seed, **values)
        for method, each in VALUES.items()
        for seed, value in enumerate(each)
    ]
    (group,) = group_rows(rows)
    return comparison_table(group, metric, cut, ties)


def test_cells_are_means_and_sample_deviations_over_seeds():
    cells = {label: cells[0] for label, cells in table().rows}
    for method, label in (("idhn", "IDHN"), ("lsh", "LSH")):
        assert cells[label].mean == pytest.approx(sum(VALUES[method]) / 2)
        assert cells[label].deviation == pytest.approx(statistics.stdev(VALUES[method]))
    assert [cells[label].place for label in ("IDHN", "DHN", "LSH")] == [BEST, SECOND, 0]


def test_values_equal_as_shown_share_a_place():
    rows = [made_row(v, method=m) for m, v in (("idhn", 0.70001), ("dhn", 0.70002), ("sh", 0.6))]
    (group,) = group_rows(rows)
    places = [cells[0].place for _, cells in comparison_table(group, "map", "all", "expected").rows]
    assert places == [BEST, BEST, SECOND]


def test_the_tie_rule_chooses_the_metrics():
    expected, stable = (table(ties=ties).rows[0][1][0].mean for ties in ("expected", "stable"))
    assert stable == pytest.approx(expected - 0.01)


def test_what_the_paper_prints_stands_beside_and_is_marked():
    cell = table().rows[0][1][0]
    assert (cell.printed.value, cell.mark) == (0.7032, "†")
    assert "not the level" in table().notes[0]
    same = table(mode="finetune", backbone="alexnet")
    marks = {label: cells[0].mark for label, cells in same.rows}
    assert marks == {"IDHN": "", "DHN": "", "LSH": "†"}  # the paper's LSH is not fine-tuned
    assert table(cut="100").rows[0][1][0].printed is None
    assert table(bits=64).rows[0][1][0].printed is None


def test_methods_that_were_not_fine_tuned_are_named_among_those_that_were():
    tuned, fitted = made_row(mode="finetune"), made_row(method="lsh")
    (group,) = group_rows([tuned, fitted])
    notes = comparison_table(group, "map", "all", "expected").notes
    assert list(notes) == ["LSH: on features of the network as published"]
    assert not comparison_table(*group_rows([fitted]), "map", "all", "expected").notes


def test_a_doubtful_value_says_why():
    flickr = {"classes": 38, "database": 20000, "database_without_labels": 0}
    one = table("wap", contract=flickr, mode="finetune", backbone="alexnet")
    assert one.rows[0][1][0].mark == "‡"
    assert any("look swapped" in note for note in one.notes)


def test_settings_stand_beside_the_papers():
    rows = [made_row(v, settings={"alpha": a}) for a, v in (("1/q", 0.5), ("5/q", 0.7), (1.0, 0.6))]
    (group,) = group_rows(rows)
    made = sweep_table(group, group.sweeps[0], "5000", "expected")
    assert [(label, cells[0].printed.value) for label, cells in made.rows] == [
        ("1/q", 0.6374), ("5/q", 0.7032), ("1", 0.6674),
    ]  # fmt: skip


def test_an_unmeasured_cut_off_is_named():
    with pytest.raises(UsageError, match="no map@7; they were measured at 100, 5000, all"):
        table(cut="7")


def test_the_three_languages_say_the_same():
    made = table()
    markdown, latex, page = to_markdown(made), to_latex(made), to_html(made)
    assert "| IDHN | **0.7200** ± 0.0141 [0.7032†] |" in markdown
    assert "| DHN | <u>0.7000</u> ± 0.0000 [0.6928†] |" in markdown
    assert r"IDHN & \textbf{0.7200} $\pm$ 0.0141 {\scriptsize [0.7032$^\dagger$]} \\" in latex
    assert latex.count("\\toprule") == latex.count("\\bottomrule") == 1
    assert "<strong>0.7200</strong> ± 0.0141" in page
    numbers = [set(re.findall(r"\d\.\d{4}", text)) for text in (markdown, latex, page)]
    assert numbers[0] == numbers[1] == numbers[2]


def test_labels_are_escaped():
    (group,) = group_rows([made_row(method="<b>&_x"), made_row(method="idhn")])
    made = comparison_table(group, "map", "5000", "expected")
    assert "&lt;b&gt;&amp;_x" in to_html(made)
    assert r"<b>\&\_x & 0" in to_latex(made)


def test_a_cell_that_was_not_run_is_a_dash():
    (group,) = group_rows([made_row(bits=12), made_row(bits=24, method="dhn")])
    made = to_markdown(comparison_table(group, "map", "5000", "expected"))
    assert re.search(r"\| IDHN \| 0.5000.* \| – \|", made)
    assert "One seed" in made


def test_rescored_searches_stand_below_their_method():
    rows = [made_row(0.5, method="idhn"), made_row(0.6, method="dhn"), made_row(0.4, method="lsh")]
    (group,) = group_rows(rows)
    before = comparison_table(group, "map", "5000", "expected")
    rows[0]["metrics_rescored"] = dict.fromkeys(rows[0]["metrics"], 0.7)
    (group,) = group_rows(rows)
    made = comparison_table(group, "map", "5000", "expected")
    shown = [(label, cells[0].mean, cells[0].place) for label, cells in made.rows]
    order = [label for label, _ in before.rows]
    order.insert(order.index("IDHN") + 1, "IDHN, rescored")
    assert [label for label, _, _ in shown] == order
    assert ("IDHN, rescored", 0.7, 0) in shown  # methods compete, not ways to search
    assert ("DHN", 0.6, BEST) in shown
    assert ("IDHN", 0.5, SECOND) in shown
    printed = {label: cells[0].printed for label, cells in made.rows}
    assert printed["IDHN"]
    assert printed["IDHN, rescored"] is None
    stable = comparison_table(group, "map", "5000", "stable")
    assert [label for label, _ in stable.rows] == [label for label, _ in before.rows]


def test_rescored_searches_stand_below_their_setting():
    rows = [made_row(0.5, settings={"alpha": alpha}) for alpha in ("1/q", "5/q", 1.0)]
    rows[1]["metrics_rescored"] = dict.fromkeys(rows[1]["metrics"], 0.7)
    (group,) = group_rows(rows)
    made = sweep_table(group, group.sweeps[0], "5000", "expected")
    assert [label for label, _ in made.rows] == ["1/q", "5/q", "5/q, rescored", "1"]


def test_a_caption_names_the_commit_or_how_many_there_are():
    rows = [made_row(0.5), made_row(0.6, method="dhn")]
    (group,) = group_rows(rows)
    one = comparison_table(group, "map", "5000", "expected")
    assert one.caption.endswith("; in brackets what the paper prints; commit abc123")
    rows[1]["versions"] = {}
    (group,) = group_rows(rows)
    assert comparison_table(group, "map", "5000", "expected").caption.endswith("rows of 2 commits")


def test_tables_by_default_are_of_the_paper_then_of_the_first_screen():
    (group,) = group_rows([made_row(cuts=(20, 100, 5000)), made_row(seed=1, cuts=(20, 100, 5000))])
    names = [f"{metric}@{cut}" for metric, cut in choose_measures(group, (), "expected")]
    assert names == [
        "map@5000", "wap@5000", "acg@5000", "ndcg@5000", "ndcg@20", "acg@20", "precision@20",
        "ndcg@100", "acg@100",
    ]  # fmt: skip
    (older,) = group_rows([made_row(cuts=(20, 100, 5000)), made_row(seed=1)])
    assert [cut for _, cut in choose_measures(older, (), "stable")] == [*["5000"] * 4, "100", "100"]


def test_cut_offs_that_are_asked_for_have_every_metric_and_precision_at_20_alone():
    (group,) = group_rows([made_row(cuts=(20, 100, 5000))])
    names = [f"{metric}@{cut}" for metric, cut in choose_measures(group, ("100", "20"), "expected")]
    every = [f"{m}@{cut}" for m in ("map", "wap", "acg", "ndcg") for cut in ("100", "20")]
    assert names == [*every, "precision@20"]
    (older,) = group_rows([made_row()])
    with pytest.raises(UsageError, match="the rows have no map@20"):
        comparison_table(older, *choose_measures(older, ("20",), "expected")[0], "expected")
