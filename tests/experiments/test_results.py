import json

import pytest

from softhash.errors import InputError
from softhash.experiments.results import read_results

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
        (["a list"], "row 1 is no result"),
        ({"recipe": {}}, "row 1 is no result .* 'metrics'"),
        (ROW | {"recipe": {"bitz": 12}}, "row 1 is no result .* 'bitz'"),
        (ROW | {"contract": {}}, "row 1 is no result .* 'split'"),
    ],
)
def test_what_is_no_row_is_named(row, message, tmp_path):
    with pytest.raises(InputError, match=message):
        read_results(write(tmp_path / "r.jsonl", row))


def test_nothing_to_read_is_said(tmp_path):
    with pytest.raises(InputError, match="has no rows of results"):
        read_results(tmp_path)
    with pytest.raises(InputError, match=r"no.jsonl does not exist"):
        read_results(tmp_path / "no.jsonl")
