"""What a picture looks like, as ``softhash search`` tells it, against sums by hand."""

import json
import math
import re
import subprocess
import sys

import numpy as np
import pytest
from command import run
from safetensors.numpy import load_file

from softhash.cli._answer import Answer, looks_like
from softhash.cli._hits_page import hits_page
from softhash.data import scenes
from softhash.data.image_set import ImageSet
from softhash.index import HammingIndex, SearchResult
from softhash.model.hasher import Hasher


@pytest.fixture(scope="module")
def picture(tmp_path_factory):
    folder = tmp_path_factory.mktemp("likely") / "photos"
    scenes.write(folder, count=8, size=64, workers=1)
    return folder / "scene-00004.png"


@pytest.fixture(scope="module")
def location(picture, telling_model):
    """An index whose own model tells labels."""
    location = picture.parent.with_name("telling.index")
    with HammingIndex.create(location, Hasher.load(telling_model)) as index:
        index.add(ImageSet.read(picture.parent), device="cpu")
    return location


@pytest.fixture(scope="module")
def likely(picture, telling_model):
    """(label, probability) of the picture, the most probable first."""
    parts = load_file(telling_model / "labels.safetensors")
    hasher = Hasher.load(telling_model)
    features = hasher.features(picture, device="cpu")[0].astype(np.float64)
    values = [
        1 / (1 + math.exp(-sum(w * x for w, x in zip(row, features, strict=True)) - b))
        for row, b in zip(parts["weight"], parts["bias"], strict=True)
    ]
    named = [(n, p) for n, p in zip(hasher.classes, values, strict=True) if p >= 0.3]
    assert len(named) == 3
    return sorted(named, key=lambda one: -one[1])


def _told(*arguments):
    done = run("search", *arguments)
    assert (done.returncode, done.stderr) == (0, "")
    return done.stdout


def test_a_line_above_the_table_tells_what_a_picture_looks_like(picture, location, likely):
    first, *rest = _told(picture, "-i", location, "-k", 2).splitlines()
    assert first == "looks like: " + ", ".join(f"{name} {100 * p:.0f} %" for name, p in likely)
    assert not any("looks like" in line for line in rest)
    assert sum("scene-" in line for line in rest) == 2


def test_json_has_the_probabilities_in_their_order(picture, location, likely):
    query = json.loads(_told(picture, "-i", location, "--json"))["query"]
    assert list(query["likely"]) == [name for name, _ in likely]
    assert list(query["likely"].values()) == pytest.approx([p for _, p in likely], abs=1e-4)


def test_the_page_has_it_with_the_query(picture, location, likely, tmp_path):
    page = tmp_path / "hits.html"
    assert run("search", picture, "-i", location, "--html", page).returncode == 0
    cards = page.read_text().split("<li ")[1:]
    told = ", ".join(f"{name} <span>{100 * p:.0f} %</span>" for name, p in likely)
    assert f"looks like: {told}</div>" in cards[0]
    assert not any("looks like" in card for card in cards[1:])


def test_items_and_codes_are_not_guessed_at(location):
    for asked in (["--id", 3], ["--code", "abc"]):
        assert "looks like" not in _told(*asked, "-i", location)
        assert "likely" not in json.loads(_told(*asked, "-i", location, "--json"))["query"]


def test_a_model_without_an_opinion_says_nothing(picture, location, tiny_model, tmp_path):
    given, page = [picture, "-i", location, "-m", tiny_model, "-k", 3], tmp_path / "hits.html"
    told = json.loads(_told(*given, "--json"))
    assert "likely" not in told["query"]
    assert len(told["hits"]) == 3
    assert "looks like" not in _told(*given)
    assert run("search", *given, "--html", page).returncode == 0
    assert "looks like" not in page.read_text()


def test_a_search_that_tells_labels_does_without_torch(picture, location):
    code = (
        "import sys; from softhash.cli._app import app\n"
        "app(sys.argv[1:], standalone_mode=False)\n"
        "print({'torch', 'matplotlib', 'onnx'} & set(sys.modules), file=sys.stderr)"
    )
    arguments = ["search", str(picture), "-i", str(location)]
    done = subprocess.run([sys.executable, "-c", code, *arguments], capture_output=True, text=True)
    assert done.stdout.startswith("looks like: ")
    assert done.stderr.strip() == "set()"


def test_nothing_is_told_as_certain_and_labels_are_text():
    likely = {"<b>": 0.99996, "sea": 0.9901, "sky": 0.99, "[red]": 0.3}
    result = SearchResult(b"\0", likely=likely)
    assert looks_like(result) == "looks like: <b> > 99 %, sea > 99 %, sky 99 %, [red] 30 %"
    text = hits_page(Answer("a.jpg", result, ()))
    assert "<b>" not in text
    assert re.search(r"looks like: &lt;b&gt; <span>&gt; 99 %.*\[red\] <span>30 %", text)
