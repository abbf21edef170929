"""``softhash search`` by words and by several pictures, against what the index answers."""

import json
from dataclasses import replace

import numpy as np
import pytest
from command import run

from softhash.cli._answer import build_answer, how_sure, likely_shown
from softhash.cli._hits_page import hits_page
from softhash.cli.search import split_arguments
from softhash.data import scenes
from softhash.data.image_set import ImageSet
from softhash.index import HammingIndex, Hit, SearchResult
from softhash.model.hasher import Hasher
from softhash.model.sureness import Sureness


@pytest.fixture(scope="module")
def folder(tmp_path_factory):
    folder = tmp_path_factory.mktemp("worded") / "photos"
    scenes.write(folder, count=16, size=64, workers=1)
    return folder


@pytest.fixture(scope="module")
def location(folder, telling_model):
    """An index whose model finds labels likely, and knows how sure hits are."""
    hasher = Hasher.load(telling_model)
    sureness = Sureness(np.array([1.0, -3.0, 0.8, 0.5]))
    hasher.label_classifier = replace(hasher.label_classifier, sureness=sureness)
    location = folder.with_name("worded.index")
    with HammingIndex.create(location, hasher) as index:
        index.add(ImageSet.read(folder), device="cpu")
    return location


@pytest.fixture
def index(location):
    with HammingIndex.open(location) as index:
        yield index


def find(*arguments):
    done = run("search", *arguments, "--json")
    assert done.returncode == 0, done.stderr
    return json.loads(done.stdout)


def ids(found):
    return [hit["id"] for hit in found["hits"]]


def test_arguments_that_are_no_files_are_words(location, index):
    for words in (["suns and the tree"], ["sun", "tree"]):
        found = find(*words, "-i", location)
        assert ids(found) == [hit.id for hit in index.search(words=["sun", "tree"])]
        assert (found["query"]["name"], found["query"]["words"]) == ("sun, tree", ["sun", "tree"])
        assert found["settings"]["words"] == words
    table = run("search", "sun", "-i", location, "-k", 2)
    assert table.stdout.splitlines()[1].split()[:4] == ["rank", "score", "id", "file"]
    assert "labels (* asked for, ? likely)" in table.stdout


def test_words_are_added_to_a_picture_and_taken_from_it(location, index, folder):
    picture = folder / "scene-00004.png"
    found = find(picture, "-i", location, "--more", "sun", "--more", "trees", "--less", "moon")
    right = index.search(picture, more=["sun", "tree"], less="moon")
    assert ids(found) == [hit.id for hit in right]
    assert [hit["score"] for hit in found["hits"]] == [hit.score for hit in right]
    assert (found["query"]["more"], found["query"]["less"]) == (["sun", "tree"], ["moon"])


def test_several_pictures_are_one_query(location, index, folder):
    pictures = [folder / "scene-00004.png", folder / "scene-00007.png"]
    found = find(*pictures, "-i", location)
    assert ids(found) == [hit.id for hit in index.search(pictures)]
    assert found["query"]["name"] == f"{pictures[0]} and {pictures[1]}"


def test_filters_and_sure_hits_are_options(location, index):
    by_label = find("-i", location, "--label", "sky", "--given-only", "-k", 16)
    assert by_label["total"] == index.store.labels()["sky"]
    assert find("-i", location, "--label", "sky")["total"] == index.search(labels=["sky"]).total
    whole = index.search(id=3, k=16)
    least = sorted(hit.sure for hit in whole)[8]
    found = find("--id", 3, "-i", location, "-k", 16, "--at-least", least)
    assert ids(found) == [hit.id for hit in whole if hit.sure >= least]


def test_the_table_shows_how_sure_hits_are_and_which_labels_are_likely(location, index):
    lines = run("search", "--id", 3, "-i", location, "-k", 5).stdout.splitlines()
    assert lines[1].split()[:5] == ["rank", "distance", "sure", "id", "file"]
    assert "(* shared, ? likely)" in lines[1]
    rows = [line for line in lines if "scene-" in line]
    result = index.search(id=3, k=5)
    for row, hit in zip(rows, result, strict=True):
        assert how_sure(hit) in row
        given, _, likely = row.partition("? ")
        assert all(label in given for label in hit.labels)
        shown = likely_shown(hit, result)
        assert row.count("? ") == len(shown) <= 3
        assert all(f"{name}? {p}" in row for name, p in shown)
        assert bool(likely) == bool(shown)


def test_sureness_reads_as_what_it_is():
    hits = [Hit(1, 0, "a", (), (), sure=sure) for sure in (None, 1.0, 0.9999, 0.5)]
    assert [how_sure(hit) for hit in hits] == ["", "100 %", "> 99 %", "50 %"]


def test_the_page_has_likely_labels_and_how_sure_hits_are(index):
    page = hits_page(build_answer(index, index.search(id=3, k=4)))
    for hit in index.search(id=3, k=4):
        for name, p in likely_shown(hit, SearchResult(b"")):
            assert f"<i>{name}? <span>{p.replace('>', '&gt;')}</span></i>" in page
    assert page.count("sure ") == 4
    by_words = hits_page(build_answer(index, index.search(words="sun", k=4)))
    assert "Items with sun" in by_words
    assert by_words.count("score ") == by_words.count("<li ") == 4


@pytest.mark.parametrize(
    ("arguments", "code", "message"),
    [
        (["mooon"], 2, "unknown word 'mooon'; did you mean 'moon'?"),
        (["sun", "--id", "3"], 2, "words beside something else are given as more or less"),
        (["nowhere.jpg"], 1, "nowhere.jpg"),
        (["no/where"], 1, "where"),
        (["--more", "sun"], 2, "nothing to search for; give IMAGE, WORDS"),
        (["sun", "--at-least", "0.5"], 2, "means nothing for words alone"),
        (["--id", "3", "--at-least", "2"], 2, "--at-least"),
        (["--code", "abc", "--at-least", "0.5"], 2, "with the picture or an item"),
    ],
)
def test_wrong_questions_are_answered_in_one_line(location, arguments, code, message):
    done = run("search", *arguments, "-i", location)
    assert (done.returncode, done.stdout) == (code, "")
    assert message in done.stderr


def test_a_file_is_a_picture_whatever_it_is_called(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    (tmp_path / "dog").touch()
    (tmp_path / "cat").mkdir()
    pictures, words = split_arguments(["dog", "cat", "a.JPG", "x/y", "old town"])
    assert [str(path) for path in pictures] == ["dog", "a.JPG", "x/y"]
    assert words == ["cat", "old town"]
