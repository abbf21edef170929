"""Lines that are not a method of their own: first bits, float features, named variants."""

import pytest
from made_rows import made_row

from softhash.plots.groups import group_rows
from softhash.plots.markup import to_markdown
from softhash.plots.retrieval import find_answers
from softhash.plots.tables import comparison_table, overview_table

HIT = {"query": "q.jpg", "nearest": ["a.jpg"]}


def nested_row(bits, value, prefixes, **recipe):
    parts = {str(n): made_row(v)["metrics"] for n, v in prefixes.items()}
    row = made_row(value, bits=bits, hits=[HIT], **recipe)
    return row | {"prefixes": {n: {"metrics": part} for n, part in parts.items()}}


def float_row(value=0.9):
    row = made_row(value, method="float", hits=[HIT])
    return row | {"contract": row["contract"] | {"bits": 40960, "distance": "cosine of floats"}}


def cells_of(table):
    return {label: [cell and cell.mean for cell in cells] for label, cells in table.rows}


def test_first_bits_of_the_longest_codes_are_a_line_of_their_own():
    rows = [nested_row(16, 0.5, {}), nested_row(32, 0.6, {16: 0.1}),
            nested_row(64, 0.7, {16: 0.4, 32: 0.55})]  # fmt: skip
    (group,) = group_rows(rows)
    table = comparison_table(group, "map", "5000", "expected")
    assert cells_of(table) == {
        "IDHN": [0.5, 0.6, 0.7],
        "IDHN, first bits of 64": [0.4, 0.55, 0.7],
    }
    assert [answer.label for answer in find_answers(group, "q.jpg")[1]] == ["IDHN"]


def test_first_bits_fill_the_lengths_that_a_method_was_not_trained_for():
    rows = [nested_row(64, v, {16: v / 2}, seed=s) for s, v in enumerate((0.6, 0.8))]
    (group,) = group_rows(rows)
    table = comparison_table(group, "map", "5000", "expected")
    assert cells_of(table) == {
        "IDHN": [None, pytest.approx(0.7)],
        "IDHN, first bits of 64": pytest.approx([0.35, 0.7]),
    }
    overview = overview_table(group, 64, [("map", "5000")], "expected")
    assert cells_of(overview) == {"IDHN": pytest.approx([0.7])}
    assert table.caption.startswith("mean ± standard deviation of 2 seeds")


def test_float_features_stand_last_beside_every_length_and_do_not_compete():
    rows = [float_row(), *(made_row(v, bits=b) for b, v in ((16, 0.5), (32, 0.6)))]
    (group,) = group_rows([*rows, made_row(0.4, method="lsh", bits=32)])
    assert group.bits == [16, 32]
    table = comparison_table(group, "map", "5000", "expected")
    assert list(cells_of(table).items())[-1] == ("float features", [0.9, 0.9])
    text = to_markdown(table)
    assert "**0.6000**" in text
    assert "**0.9" not in text
    assert "ranked by cosine of floats, 5,120 bytes each" in text
    assert [answer.label for answer in find_answers(group, "q.jpg")[1]] == ["float features"]


def test_float_features_stand_beside_methods_that_were_fine_tuned_on_the_same_network():
    (group,) = group_rows([made_row(mode="finetune"), float_row()])
    assert [entry.label for entry in group.entries] == ["IDHN", "float features"]


def test_a_named_variant_keeps_its_name_and_the_rest_is_told_apart_by_what_differs():
    before = [made_row(hidden=0, seed=s) | {"variant": "before"} for s in (0, 1)]
    (group,) = group_rows([made_row(), *before])
    assert {entry.label for entry in group.entries} == {"IDHN", "IDHN (before)"}
    swept = [made_row(settings={"alpha": a}) | {"variant": f"v{a}"} for a in (1.0, 2.0, 3.0)]
    (group,) = group_rows(swept)
    assert not group.sweeps
    assert [entry.label for entry in group.entries] == ["IDHN (v1.0)", "IDHN (v2.0)", "IDHN (v3.0)"]


def test_an_overview_has_all_measures_of_the_methods_that_have_that_length():
    rows = [made_row(0.5, bits=16), made_row(0.6, bits=32), made_row(0.4, method="dhn", bits=16)]
    (group,) = group_rows([*rows, float_row()])
    table = overview_table(group, 32, [("map", "5000"), ("ndcg", "100")], "expected")
    assert table.columns == ["MAP@5000", "NDCG@100"]
    assert cells_of(table) == {"IDHN": [0.6, 0.6], "float features": [0.9, 0.9]}
    assert table.title.startswith("32 bits, 4 bytes: VOC2012")
