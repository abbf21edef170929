import json

import pytest

from softhash.errors import InputError
from softhash.experiments.results import append_row, read_results, read_rows
from softhash.training.recipe import Recipe

ROW = {"recipe": {"bits": 12, "seed": 0}, "metrics": {"map@all": 0.5}, "contract": {"split": "ab"}}


def write(path, *rows):
    path.write_text("".join(json.dumps(row) + "\n" for row in rows))
    return path


def test_a_folder_is_read_whole_and_recipes_are_completed(tmp_path):
    write(tmp_path / "a.jsonl", ROW)
    write(tmp_path / "b.jsonl", ROW | {"recipe": {"bits": 24}})
    rows = read_results(tmp_path)
    assert [row["recipe"]["bits"] for row in rows] == [12, 24]
    assert rows[0]["recipe"]["weights"] == "default"
    assert read_results(tmp_path / "a.jsonl") == rows[:1]


def test_of_equal_recipes_the_last_row_counts(tmp_path):
    again = ROW | {
        "recipe": {"seed": 0, "bits": 12, "method": "softhash"},
        "metrics": {"map@all": 1},
    }
    elsewhere = ROW | {"contract": {"split": "cd"}}
    rows = read_results(write(tmp_path / "r.jsonl", ROW, elsewhere, again))
    assert [row["contract"]["split"] for row in rows] == ["cd", "ab"]
    assert rows[1]["metrics"] == {"map@all": 1}


@pytest.mark.parametrize(
    ("row", "message"),
    [
        (["a list"], "line 1 is not a result"),
        ({"recipe": {}}, "line 1 is not a result .* 'metrics'"),
        (ROW | {"recipe": {"bitz": 12}}, "line 1 is not a result .* 'bitz'"),
        (ROW | {"recipe": {"bits": "12"}}, "line 1 is not a result .* bits"),
        (ROW | {"recipe": {"settings": {"alpha": [[1]]}}}, "line 1 is not a result .* 'recipe'"),
        (ROW | {"contract": {}}, "line 1 is not a result .* 'split'"),
        (ROW | {"contract": {"split": "ab", "classes": -1}}, "line 1 .* 'contract'"),
        (ROW | {"metrics": {"map@all": "much"}}, "line 1 .* 'metrics'"),
        (ROW | {"metrics_stable": {"map@all": float("nan")}}, "line 1 .* 'metrics_stable'"),
        (ROW | {"seconds": {"train": {}}}, "line 1 .* 'seconds'"),
        (ROW | {"data": {"name": "photos"}}, "line 1 .* 'data'"),
        (ROW | {"curves": {"n": [1, 2]}}, "line 1 .* 'curves'"),
        (ROW | {"hits": [{"query": "a.jpg"}]}, "line 1 .* 'hits'"),
        (ROW | {"variant": 3}, "line 1 .* 'variant'"),
        (ROW | {"prefixes": {"x": {"metrics": {}}}}, "line 1 .* 'prefixes'"),
        (ROW | {"prefixes": {"8": {}}}, "line 1 .* 'prefixes'"),
        (ROW | {"prefixes": {"8": {"metrics": {}, "curves": {"n": 1}}}}, "line 1 .* 'prefixes'"),
    ],
)
def test_what_is_not_a_row_is_named(row, message, tmp_path):
    with pytest.raises(InputError, match=message):
        read_results(write(tmp_path / "r.jsonl", row))


@pytest.mark.parametrize(
    ("line", "message"),
    [
        (b'{"recipe": "\xff"}', "line 1 is not a result"),
        (b"[" * 100_000, "line 1 is not a result"),
        (b'{"recipe": ' + b"9" * 5000 + b"}", "line 1 is not a result"),
        (b'{"recipe": ', "line 1 is damaged"),
    ],
)
def test_a_line_that_cannot_be_read_is_named(line, message, tmp_path):
    path = tmp_path / "r.jsonl"
    path.write_bytes(line + b"\n" + json.dumps(ROW).encode() + b"\n")
    with pytest.raises(InputError, match=message):
        read_results(path)


def test_results_that_cannot_be_written_are_an_error(tmp_path):
    with pytest.raises(InputError, match=r"cannot write .*r\.jsonl: No such file"):
        append_row(tmp_path / "no" / "r.jsonl", ROW)


def test_a_folder_without_rows_raises(tmp_path):
    with pytest.raises(InputError, match="has no rows of results"):
        read_results(tmp_path)
    with pytest.raises(InputError, match=r"no.jsonl does not exist"):
        read_results(tmp_path / "no.jsonl")


@pytest.mark.parametrize(
    ("before", "rows"),
    [
        (None, []),
        ("", []),
        (json.dumps(ROW) + "\n", [ROW]),
        (json.dumps(ROW), [ROW]),  # whole, but its end of line was lost
        (json.dumps(ROW) + "\n" + json.dumps(ROW)[:20], [ROW]),
        (json.dumps(ROW)[:20], []),
    ],
)
def test_a_row_is_appended_on_a_line_of_its_own_whatever_was_cut_off(before, rows, tmp_path):
    path = tmp_path / "r.jsonl"
    if before is not None:
        path.write_text(before)
    append_row(path, ROW | {"added": True})
    recipe = Recipe(**ROW["recipe"]).as_dict()
    assert read_rows(path) == [row | {"recipe": recipe} for row in [*rows, ROW | {"added": True}]]
