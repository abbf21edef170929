"""The tool that takes the shipped head out of a model."""

import json
import runpy
from pathlib import Path

import numpy as np
import pytest

from softhash import Hasher, UsageError
from softhash.data import scenes
from softhash.model import default_model as shipped

TOOL = Path(__file__).parents[2] / "tools" / "pack_default_model.py"


@pytest.fixture(scope="module")
def tool():
    return runpy.run_path(str(TOOL), run_name="tool")


@pytest.fixture(scope="module")
def model(tmp_path_factory):
    with pytest.MonkeyPatch.context() as patch:
        patch.setenv("XDG_CACHE_HOME", str(tmp_path_factory.mktemp("cache")))
        yield shipped.default_model()


def test_packing_keeps_the_outputs_but_for_half_precision(tool, model, tmp_path, monkeypatch):
    hasher = Hasher.load(model)
    tool["pack"](hasher, {"map@100": 0.5}, tmp_path / "packed")
    monkeypatch.setattr(shipped, "PACKED", tmp_path / "packed")
    config = json.loads((tmp_path / "packed" / "config.json").read_text())
    assert set(config["sha256"]) == {"head.safetensors", "config.json"}
    again = Hasher.load(shipped.default_model())
    scenes.write(tmp_path / "scenes", count=8, size=96, workers=1)
    pictures = sorted((tmp_path / "scenes").glob("*.png"))
    assert len(pictures) == 8
    assert np.allclose(again.outputs(pictures), hasher.outputs(pictures), atol=1e-3)
    assert again.classes == hasher.classes


def test_a_model_that_cannot_be_shipped_is_refused(tool, tmp_path):
    with pytest.raises(UsageError, match="predicts labels"):
        tool["pack"](Hasher.from_features(4, bits=8), {}, tmp_path)


def test_metrics_of_the_card_come_from_the_last_row_of_a_bench(tool, tmp_path):
    row = {"recipe": {}, "contract": {"split": "a"}}
    rows = [
        {**row, "metrics": {"map@100": 0.5}},
        {**row, "metrics": {"map@100": 0.75, "map@5000": 0.5, "map@all": 0.25}},
    ]
    text = "".join(json.dumps(one) + "\n" for one in rows)
    (tmp_path / "results.jsonl").write_text(text)
    assert tool["read_metrics"](tmp_path) == {"map@100": 0.75, "map@5000": 0.5}


def test_what_cannot_be_packed_ends_in_one_line(tool, tmp_path):
    assert tool["main"]([]).startswith("usage: ")
    assert "does not exist" in tool["main"]([str(tmp_path / "gone"), str(tmp_path)])
