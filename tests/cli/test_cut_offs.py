"""At which cut-offs ``evaluate`` measures where none are asked for."""

import json

import numpy as np
import pytest
from typer.testing import CliRunner

from softhash.cli._app import app


@pytest.mark.parametrize(
    ("items", "asked", "expected"),
    [
        (60, [], {"20": 20, "all": 60}),
        (750, [], {"20": 20, "100": 100, "all": 750}),
        (5000, [], {"5000": 5000, "all": 5000}),
        (750, ["--at", "5000,all"], {"5000": 750, "all": 750}),
    ],
)
def test_cut_offs_suit_the_database_unless_they_are_given(items, asked, expected, tmp_path):
    rng = np.random.default_rng(0)
    arguments = ["evaluate", "--bits", "8", "--json", "--device", "cpu", *asked]
    for side, count in (("query", 5), ("database", items)):
        for kind, values in (("codes", rng.integers(0, 256, (count, 1), np.uint8)),
                             ("labels", np.ones((count, 1), np.uint8))):  # fmt: skip
            path = tmp_path / f"{side}-{kind}.npy"
            np.save(path, values)
            arguments += [f"--{side}-{kind}", str(path)]
    done = CliRunner().invoke(app, arguments, catch_exceptions=False)
    report = json.loads(done.stdout)
    assert report["contract"]["at"] == expected
    assert f"map@{next(iter(expected))}" in report["metrics"]
