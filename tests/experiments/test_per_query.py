import json
from hashlib import sha256

import numpy as np
import pytest

from softhash.errors import InputError
from softhash.evaluation.evaluate import evaluate_codes
from softhash.experiments.per_query import (
    QUERY_METRICS,
    check_means,
    load_per_query,
    row_key,
    save_per_query,
)
from softhash.experiments.results import append_row, read_results
from softhash.training.recipe import Recipe

ROW = {
    "recipe": Recipe(method="idhn", bits=12, settings={"alpha": "5/q"}).as_dict(),
    "metrics": {"map@5000": 0.5},
    "contract": {"split": "ab12"},
}


def made_values(queries=7, seed=0):
    random = np.random.default_rng(seed)
    values = {name: random.random(queries) for name in (*QUERY_METRICS, "recall@20")}
    for one in values.values():
        one[2] = np.nan  # a query without a label
    return values


def test_values_come_back_in_half_precision_without_queries_that_have_no_label(tmp_path):
    values = made_values()
    save_per_query(tmp_path / "per-query", ROW, values)
    loaded = load_per_query(tmp_path / "per-query", ROW)
    assert loaded.shape == (len(QUERY_METRICS), 6)
    for name, line in zip(QUERY_METRICS, loaded, strict=True):
        known = [float(np.float16(value)) for value in values[name] if value == value]
        assert line.tolist() == known
    (file,) = (tmp_path / "per-query").iterdir()
    assert np.load(file, allow_pickle=False).dtype == np.float16


def test_a_report_has_every_metric_also_in_a_database_smaller_than_the_cut_offs(tmp_path):
    random = np.random.default_rng(1)
    codes = [random.integers(256, size=(n, 2), dtype=np.uint8) for n in (9, 40)]
    labels = [(random.random((n, 4)) < 0.5).astype(np.uint8) for n in (9, 40)]
    labels[0][3] = 0
    report = evaluate_codes(*codes, *labels, bits=16, at=[20, 100, 5000])
    save_per_query(tmp_path, ROW, report.per_query)
    loaded = load_per_query(tmp_path, ROW)
    assert loaded.shape[1] == labels[0].any(axis=1).sum()
    check_means(loaded, report.metrics)
    with pytest.raises(InputError, match=r"average to ndcg@20 .* but their row has"):
        check_means(loaded, {**report.metrics, "ndcg@20": report.metrics["ndcg@20"] + 0.01})


def test_a_row_has_the_same_key_when_it_is_read_back(tmp_path):
    append_row(tmp_path / "results.jsonl", ROW)
    (row,) = read_results(tmp_path)
    assert row_key(row) == row_key(ROW)
    identity = json.dumps([ROW["recipe"], "ab12"], sort_keys=True).encode()
    assert row_key(row) == sha256(identity).hexdigest()[:16]


def test_rows_of_other_seeds_splits_and_first_bits_have_files_of_their_own(tmp_path):
    again = ROW | {"recipe": ROW["recipe"] | {"seed": 1}}
    elsewhere = ROW | {"contract": {"split": "cd34"}}
    wanted = {}
    for seed, row in enumerate((ROW, again, elsewhere)):
        for bits in (None, 8):
            values = made_values(seed=seed + 10 * (bits or 0))
            save_per_query(tmp_path, row, values, first_bits=bits)
            wanted[seed, bits] = (row, values["acg@20"][0])
    assert len(list(tmp_path.iterdir())) == 6
    for (_, bits), (row, value) in wanted.items():
        loaded = load_per_query(tmp_path, row, first_bits=bits)
        assert loaded[QUERY_METRICS.index("acg@20"), 0] == np.float16(value)


def test_a_second_run_of_a_cell_replaces_its_values(tmp_path):
    for seed in (0, 1):
        save_per_query(tmp_path, ROW, made_values(seed=seed))
    assert load_per_query(tmp_path, ROW)[0, 0] == np.float16(made_values(seed=1)["map@5000"][0])


def test_a_row_without_values_has_none(tmp_path):
    assert load_per_query(tmp_path, ROW) is None
    assert load_per_query(tmp_path / "nowhere", ROW) is None


def test_what_cannot_be_saved_is_named(tmp_path):
    values = made_values()
    with pytest.raises(InputError, match="no values of single queries for ndcg@20"):
        save_per_query(tmp_path, ROW, {k: v for k, v in values.items() if k != "ndcg@20"})
    with pytest.raises(InputError, match="do not have the same queries"):
        save_per_query(tmp_path, ROW, values | {"acg@20": np.ones(7)})
    assert not list(tmp_path.iterdir())


@pytest.mark.parametrize(
    ("array", "message"),
    [
        (np.zeros((4, 7), np.float16), r"has shape \(4, 7\), not \(9, queries\)"),
        (np.zeros(5, np.float16), r"has shape \(5,\)"),
        (np.zeros((9, 0), np.float16), r"has shape \(9, 0\)"),
        (np.zeros((9, 7), np.float32), "holds float32"),
        (np.full((9, 7), np.inf, np.float16), "not finite"),
        (np.array([[{}] * 7] * 5), "Python objects"),
    ],
)
def test_a_file_with_something_else_in_it_is_refused(array, message, tmp_path):
    np.save(tmp_path / f"{row_key(ROW)}.npy", array, allow_pickle=True)
    with pytest.raises(InputError, match=f"{message}.*; remove it and its row, and run the cell"):
        load_per_query(tmp_path, ROW)


def test_a_file_that_was_cut_off_is_refused(tmp_path):
    save_per_query(tmp_path, ROW, made_values())
    (file,) = tmp_path.iterdir()
    whole = file.read_bytes()
    for length in (0, 5, 40, len(whole) - 3):
        file.write_bytes(whole[:length])
        with pytest.raises(InputError, match="is not a readable"):
            load_per_query(tmp_path, ROW)
