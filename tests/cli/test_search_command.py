"""``softhash search``, as a person runs it, against a ranking by hand."""

import html
import json
import os
import re
import subprocess
import sys

import numpy as np
import pytest
from command import run

from softhash.cli._answer import build_answer
from softhash.cli._hits_page import hits_page
from softhash.data import scenes
from softhash.data.image_set import ImageSet
from softhash.index import HammingIndex
from softhash.model.hasher import Hasher


@pytest.fixture(scope="module")
def folder(tmp_path_factory):
    folder = tmp_path_factory.mktemp("searched") / "photos"
    scenes.write(folder, count=30, size=64, workers=1)
    return folder


@pytest.fixture(scope="module")
def location(folder, tiny_model):
    location = folder.with_name("photos.index")
    with HammingIndex.create(location, Hasher.load(tiny_model)) as index:
        index.add(ImageSet.read(folder), device="cpu")
    return location


@pytest.fixture(scope="module")
def ranking(folder, location, tiny_model):
    """(distance, file name) of all pictures from scene 4, by counting bits."""
    images = ImageSet.read(folder)
    bits = np.unpackbits(Hasher.load(tiny_model).encode(images, device="cpu"), axis=1)
    distances = (bits != bits[4]).sum(axis=1)
    with HammingIndex.open(location) as index:
        ids = index.store.find_names(images.file_names)
    order = sorted(range(30), key=lambda i: (distances[i], ids[images.file_names[i]]))
    return [(int(distances[i]), images.file_names[i]) for i in order]


def _hits(*arguments):
    done = run("search", *arguments, "--json")
    assert done.returncode == 0, done.stderr
    return json.loads(done.stdout)


def _pairs(found):
    return [(hit["distance"], hit["file_name"]) for hit in found["hits"]]


def test_a_picture_is_found_with_its_labels_and_settings(folder, location, ranking):
    found = _hits(folder / "scene-00004.png", "-i", location, "-k", 7)
    assert _pairs(found) == ranking[:7]
    labels = set(found["query"]["labels"])
    assert labels
    for hit in found["hits"]:
        assert set(hit["shared"]) == labels & set(hit["labels"])
        assert hit["path"] == str(folder.resolve() / hit["file_name"])
    assert found["settings"]["k"] == 7
    assert [hit["rank"] for hit in found["hits"]] == list(range(1, 8))
    by_code = _hits("--code", found["query"]["code"], "-i", location, "-k", 7)
    assert _pairs(by_code) == ranking[:7]
    assert by_code["query"]["labels"] == []


def test_an_item_is_not_among_its_own_hits(folder, location, ranking):
    with HammingIndex.open(location) as index:
        id = index.store.find_names(["scene-00004.png"])["scene-00004.png"]
    found = _hits("--id", id, "-i", location, "-k", 1000, "--offset", 2)
    assert _pairs(found) == [one for one in ranking if one[1] != "scene-00004.png"][2:]
    assert found["hits"][0]["rank"] == 3


def test_filters_leave_out_what_is_not_wanted(folder, location, ranking):
    images = ImageSet.read(folder)
    sun, moon = images.classes.index("sun"), images.classes.index("moon")
    kept = {n for n, row in zip(images.file_names, images.labels, strict=True) if row[sun]}
    none = {n for n, row in zip(images.file_names, images.labels, strict=True) if not row[moon]}
    picture = folder / "scene-00004.png"
    found = _hits(picture, "-i", location, "-k", 30, "--label", "sun", "--not-label", "moon")
    assert _pairs(found) == [one for one in ranking if one[1] in kept & none]
    near = _hits(picture, "-i", location, "-k", 30, "--max-distance", 3)
    assert _pairs(near) == [one for one in ranking if one[0] <= 3]


def test_label_logic_leaves_out_what_it_does_not_keep(folder, location, ranking):
    images = ImageSet.read(folder)
    sun, moon, tree = (
        images.labels[:, images.classes.index(n)] > 0 for n in ("sun", "moon", "tree")
    )
    kept = [images.file_names[i] for i in np.flatnonzero(tree & (sun | ~moon))]
    logic = 'tree and ("sun" | !moon)'
    found = _hits(folder / "scene-00004.png", "-i", location, "-k", 30, "--where", logic)
    assert _pairs(found) == [one for one in ranking if one[1] in kept]
    assert found["settings"]["where"] == logic
    alone = _hits("-i", location, "--limit", 3, "--offset", 1, "--where", logic)
    assert [hit["file_name"] for hit in alone["hits"]] == sorted(kept)[1:4]
    assert (alone["total"], alone["query"]["where"]) == (len(kept), "tree & (sun | !moon)")
    assert [(hit["rank"], hit["distance"]) for hit in alone["hits"]] == [
        (n, None) for n in (2, 3, 4)
    ]


def test_a_label_alone_lists_pictures(folder, location):
    done = run("search", "-i", location, "--label", "sun", "-k", 2)
    assert done.stdout.splitlines()[1].split()[:3] == ["rank", "id", "file"]
    assert done.stdout.count("*sun") == 2
    total = int(ImageSet.read(folder).labels[:, ImageSet.read(folder).classes.index("sun")].sum())
    assert done.stderr == f"2 of {total} items\n"
    with HammingIndex.open(location) as index:
        page = hits_page(build_answer(index, index.search(labels=["sun"], k=3)))
    assert "Items with sun" in page
    assert page.count("data:image/jpeg") == 3
    assert "distance" not in page


def test_an_expression_that_cannot_be_read_is_shown_with_its_place(location):
    done = run("search", "-i", location, "--where", "日本 & & cat")
    assert (done.returncode, done.stdout) == (2, "")
    shown, caret, error = done.stderr.splitlines()
    assert (shown, caret) == ("  日本 & & cat", " " * 9 + "^")  # each of the two takes two cells
    assert error.startswith("error: a label is missing before '&' at character 6 of '日本 & & cat'")


def test_the_table_marks_shared_labels_and_a_pipe_gets_no_pictures(folder, location, ranking):
    coloured = os.environ | {"COLORTERM": "truecolor", "TERM": "xterm-kitty"}
    picture = folder / "scene-00004.png"
    done = run("search", picture, "-i", location, "-k", 3, "--thumbnails", env=coloured)
    assert done.returncode == 0, done.stderr
    assert "\x1b" not in done.stdout
    rows = [line.split() for line in done.stdout.splitlines() if "scene-" in line]
    assert [(int(row[1]), row[3]) for row in rows] == ranking[:3]
    assert all(label.startswith("*") for label in rows[0][4:])


@pytest.fixture(scope="module")
def rescored(folder, location, tiny_model):
    """(rescored distance, file name) of all pictures from scene 4, by summing over bits."""
    images = ImageSet.read(folder)
    u = Hasher.load(tiny_model).outputs(images, device="cpu")
    sums = [sum(abs(a) for a, b in zip(u[4], v, strict=True) if (a > 0) != (b > 0)) for v in u]
    distances = ((u > 0) != (u[4] > 0)).sum(axis=1)
    with HammingIndex.open(location) as index:
        ids = index.store.find_names(images.file_names)
    keys = [(float(sums[i]), distances[i], ids[name]) for i, name in enumerate(images.file_names)]
    order = sorted(range(30), key=keys.__getitem__)
    return [(keys[i][0], images.file_names[i]) for i in order]


def test_a_picture_is_rescored_where_that_is_asked_for(folder, location, ranking, rescored):
    picture = folder / "scene-00004.png"
    found = _hits(picture, "-i", location, "-k", 30, "--rescore", "bits")
    assert [hit["file_name"] for hit in found["hits"]] == [name for _, name in rescored]
    weighed = [hit["rescored"] for hit in found["hits"]]
    assert weighed == pytest.approx([distance for distance, _ in rescored], rel=1e-5, abs=1e-6)
    assert sorted(_pairs(found)) == sorted(ranking) != _pairs(found)
    assert found["settings"]["rescore"] == "bits"
    plain = _hits(picture, "-i", location, "-k", 30)
    assert not any("rescored" in hit for hit in plain["hits"])
    assert "rescore" not in plain["settings"]


def test_the_table_and_the_page_show_what_was_rescored(folder, location, rescored, tmp_path):
    asked = [
        folder / "scene-00004.png",
        "-i",
        location,
        "-k",
        5,
        "--offset",
        3,
        "--rescore",
        "bits",
    ]
    lines = run("search", *asked).stdout.splitlines()
    assert lines[1].split()[:4] == ["rank", "distance", "rescored", "id"]
    rows = [line.split() for line in lines if "scene-" in line]
    assert [(row[2], row[4]) for row in rows] == [(f"{d:.3f}", name) for d, name in rescored[3:8]]
    page = tmp_path / "hits.html"
    assert run("search", *asked, "--html", page).returncode == 0
    assert re.findall(r"distance \d+ \((.*?)\)", page.read_text()) == [row[2] for row in rows]


def test_paths_are_for_pipes(folder, location, ranking):
    picture = folder / "scene-00004.png"
    expected = [str(folder.resolve() / name) for _, name in ranking[:3]]
    lines = run("search", picture, "-i", location, "-k", 3, "--paths")
    assert lines.stdout == "".join(f"{path}\n" for path in expected)
    nul = run("search", picture, "-i", location, "-k", 3, "-0")
    assert nul.stdout == "".join(f"{path}\0" for path in expected)


def test_the_page_is_whole_and_is_not_overwritten(folder, location, ranking, tmp_path):
    page = tmp_path / "hits.html"
    picture = folder / "scene-00004.png"
    done = run("search", picture, "-i", location, "-k", 5, "--html", page)
    assert (done.returncode, done.stdout) == (0, ""), done.stderr
    text = page.read_text()
    assert re.findall(r"scene-\d+.png", text)[-5:] == [name for _, name in ranking[:5]]
    assert text.count("data:image/jpeg;base64,") == 6
    assert not re.search(r"(src|href)=\"(?!data:)", text)
    again = run("search", picture, "-i", location, "--html", page)
    assert (again.returncode, "--force" in again.stderr) == (1, True)
    assert page.read_text() == text
    assert run("search", picture, "-i", location, "--html", page, "--force").returncode == 0


def test_odd_names_and_labels_are_harmless_in_page_and_table(folder, tiny_model, tmp_path):
    name, label = "<img src=x onerror=alert(1)>\x1b[2J.png", "<b>&\x1b]0;x\x07"
    photos = tmp_path / "photos"
    photos.mkdir()
    (photos / name).write_bytes((folder / "scene-00001.png").read_bytes())
    row = {"file_name": name, "labels": [label]}
    (photos / "metadata.jsonl").write_text(json.dumps(row))
    index = tmp_path / "index"
    made = run("index", photos, "-o", index, "-m", tiny_model, "--device", "cpu")
    assert made.returncode == 0, made.stderr
    page = tmp_path / "hits.html"
    table = run("search", photos / name, "-i", index)
    assert "\x1b" not in table.stdout
    assert "\\x1b[2J.png" in table.stdout
    assert run("search", photos / name, "-i", index, "--html", page).returncode == 0
    text = page.read_text()
    assert "<img src=x" not in text
    assert html.escape(name) in text
    assert "<b>&\x1b" not in text


@pytest.mark.parametrize(
    ("arguments", "code", "message"),
    [
        ([], 2, "nothing to search for; give IMAGE, WORDS, --id ID or --code HEX"),
        (["{photos}/scene-00001.png", "--id", "3"], 2, "2 things to search for; give IMAGE, WORDS"),
        (["nowhere.png"], 1, "nowhere.png"),
        (["{photos}/metadata.csv"], 1, "metadata.csv"),
        (["{photos}"], 1, "is a folder; give one picture"),
        (["--id", "123456"], 1, "123456"),
        (["--code", "xyz"], 1, "is not hexadecimal"),
        (["--id", "1", "--label", "moom"], 2, "unknown label 'moom'; did you mean 'moon'?"),
        (["--id", "1", "--not-label", "Sky"], 2, "unknown label 'Sky'; did you mean 'sky'?"),
        (["--id", "1", "--where", "sky & !moom"], 2, "unknown label 'moom'; did you mean 'moon'?"),
        (["--label", "sky", "--max-distance", "3"], 2, "means nothing for labels alone"),
        (["--id", "1", "-k", "0"], 2, "-k"),
        (["--id", "1", "--rescore", "bits"], 2, "give IMAGE, or leave --rescore out"),
        (["--code", "abc", "--rescore", "bits"], 2, "give IMAGE, or leave --rescore out"),
        (["--code", "abc", "--rescore", "features"], 2, "give IMAGE, or leave --rescore out"),
        (
            ["--id", "1", "--rescore", "bit"],
            2,
            "unknown way to rescore 'bit'; did you mean 'bits'?",
        ),
        (
            ["--id", "1", "--rescore", "features"],
            1,
            "softhash index IMAGES -o INDEX --keep-features",
        ),
    ],
)
def test_wrong_questions_are_answered_in_one_line(folder, location, arguments, code, message):
    given = [argument.format(photos=folder) for argument in arguments]
    done = run("search", *given, "-i", location)
    assert (done.returncode, done.stdout) == (code, "")
    assert message in done.stderr
    assert done.stderr.count("\n") == 1


def test_no_arguments_and_no_index_are_told(tmp_path):
    assert run("search").returncode == 2
    done = run("search", "--id", "1", "-i", tmp_path / "nowhere")
    assert done.returncode == 1
    assert "nowhere" in done.stderr


def test_an_index_of_codes_has_no_paths_but_is_searched_with_its_model(
    folder, tiny_model, tmp_path
):
    images = ImageSet.read(folder)
    codes = Hasher.load(tiny_model).encode(images, device="cpu")
    np.save(tmp_path / "codes.npy", codes)
    (tmp_path / "names.txt").write_text("\n".join(images.file_names))
    given = ["--codes", tmp_path / "codes.npy", "--names", tmp_path / "names.txt", "--bits", 12]
    index = tmp_path / "index"
    assert run("index", "-o", index, *given).returncode == 0
    picture = folder / "scene-00004.png"
    without = run("search", picture, "-i", index)
    assert (without.returncode, "-m MODEL" in without.stderr) == (1, True)
    found = _hits(picture, "-i", index, "-m", tiny_model, "-k", 1)
    assert found["hits"][0]["path"] is None
    assert found["hits"][0]["distance"] == 0
    paths = run("search", "--id", found["hits"][0]["id"], "-i", index, "--paths")
    assert (paths.returncode, "holds codes only" in paths.stderr) == (1, True)


@pytest.mark.parametrize("options", [[], ["--rescore", "bits"]])
def test_a_search_by_picture_does_without_torch(folder, location, options):
    code = (
        "import sys; from softhash.cli._app import app\n"
        "app(sys.argv[1:], standalone_mode=False)\n"
        "print({'torch', 'matplotlib', 'onnx'} & set(sys.modules), file=sys.stderr)"
    )
    arguments = ["search", folder / "scene-00004.png", "-i", location, *options]
    done = subprocess.run(
        [sys.executable, "-c", code, *map(str, arguments)], capture_output=True, text=True
    )
    assert "scene-00004.png" in done.stdout
    assert done.stderr.strip() == "set()"
