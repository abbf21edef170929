"""``evaluate MODEL``: on which split, whether the model knew the queries, and on embeddings."""

import json

import numpy as np
import pytest
from command import run

from softhash import Hasher, ImageSet, evaluate_codes
from softhash.data import scenes
from softhash.evaluation.by_distance import evaluate_feature_rescored, evaluate_rescored
from softhash.evaluation.feature_pair import FeaturePair
from softhash.hamming.cosine import quantise

CPU = ("--device", "cpu")


@pytest.fixture(scope="module")
def folder(tmp_path_factory):
    """Forty scenes: one file gone, one cut short, one picture without labels."""
    folder = tmp_path_factory.mktemp("collection") / "photos"
    scenes.write(folder, count=40, size=48, workers=1)
    (folder / "scene-00001.png").unlink()
    (folder / "scene-00002.png").write_bytes((folder / "scene-00002.png").read_bytes()[:200])
    table = (folder / "metadata.csv").read_text().splitlines()
    table[6] = table[6].split(",")[0] + ","
    (folder / "metadata.csv").write_text("\n".join(table) + "\n")
    return folder


@pytest.fixture(scope="module")
def split(folder):
    return ImageSet.read(folder).split("random", seed=3)


def with_card(model, folder, card):
    Hasher.load(model).save(folder, card=card)
    return folder


def facts(split):
    return {"protocol": split.protocol, "seed": split.seed, "sha256": split.sha256}


def data_of(split):
    return {"format": split.images.format, "images": len(split.images)}


@pytest.mark.parametrize(
    ("card", "expected", "note"),
    [
        (lambda split: {"split": facts(split)}, "no", None),
        (lambda split: {"split": facts(split) | {"sha256": "0"}}, "unknown", "not the split"),
        (lambda split: {"split": {"sha256": "0"}}, "unknown", "not the split"),
        (lambda split: {"split": {"protocol": "all"}, "data": data_of(split)}, "all", "all of"),
        (lambda split: {"data": data_of(split)}, "all", "queries included"),
        (lambda split: {"data": {"format": "voc", "images": 17125}}, "unknown", "may have been"),
        (lambda split: {"data": "drawn scenes"}, "unknown", "may have been"),
        (lambda split: {}, "unknown", "may have been"),
    ],
)
def test_evaluate_tells_whether_the_model_was_trained_on_the_queries(
    folder, split, tiny_model, tmp_path, card, expected, note
):
    model = with_card(tiny_model, tmp_path / "model", card(split))
    done = run("evaluate", model, folder, "--at", "all", "--json", *CPU)
    assert done.returncode == 0, done.stderr
    assert json.loads(done.stdout)["contract"]["trained_on_queries"] == expected
    assert (note or "note: 1 files are") in done.stderr
    assert ("trained" in done.stderr) == (note is not None)


def test_the_table_says_whether_the_model_was_trained_on_the_queries(folder, tiny_model):
    done = run("evaluate", tiny_model, folder, "--at", "all", *CPU)
    assert done.returncode == 0, done.stderr
    assert "trained on queries: unknown" in done.stdout


def test_evaluate_shows_the_notes_of_collection_and_split_and_counts_what_is_broken(
    folder, split, tiny_model, tmp_path
):
    model = with_card(tiny_model, tmp_path / "model", {"split": facts(split)})
    done = run("evaluate", model, folder, "--at", "all", "--json", *CPU)
    assert done.returncode == 0, done.stderr
    assert "1 files are named and missing; `softhash check` lists them" in done.stderr
    assert split.notes
    for note in split.notes:
        assert note in done.stderr
    contract = json.loads(done.stdout)["contract"]
    assert contract["split"] == split.sha256
    broken = contract["queries_broken"] + contract["database_broken"]
    assert (f"{broken} pictures cannot be read" in done.stderr) == bool(broken)


@pytest.fixture(scope="module")
def embeddings(tmp_path_factory):
    """A model of embeddings, and the arguments to measure it with."""
    folder = tmp_path_factory.mktemp("embeddings")
    rng = np.random.default_rng(0)
    labels = (rng.random((90, 4)) < 0.4).astype(np.uint8)
    labels[:, 0] |= ~labels.any(axis=1)
    features = labels @ rng.normal(size=(4, 6)) + rng.normal(size=(90, 6))
    arrays = {
        "query-features": features[:30],
        "database-features": features[30:],
        "query-labels": labels[:30],
        "database-labels": labels[30:],
    }
    arguments = []
    for name, array in arrays.items():
        np.save(folder / f"{name}.npy", array)
        arguments += [f"--{name}", folder / f"{name}.npy"]
    Hasher.from_features(6, bits=20).save(folder / "model")
    return folder / "model", arguments, arrays


def test_evaluate_measures_a_model_of_embeddings(embeddings):
    model, arguments, arrays = embeddings
    asked = ["evaluate", model, *arguments, "--at", "10,all", "--json", *CPU]
    done = run(*asked, "--rescore", "bits")
    assert done.returncode == 0, done.stderr
    found, hasher = json.loads(done.stdout), Hasher.load(model)
    queries, database, *labels = arrays.values()
    codes = [hasher.encode(side, device="cpu") for side in (queries, database)]
    expected = evaluate_codes(*codes, *labels, bits=20, at=(10, "all"))
    assert found["metrics"] == pytest.approx(expected.metrics)
    outputs = hasher.outputs(queries, device="cpu")
    again = evaluate_rescored(outputs, codes[1], *labels, at=(10, "all"))
    assert found["metrics_rescored"] == pytest.approx(again.metrics)
    assert found["contract"]["trained_on_queries"] == "unknown"
    assert found["contract"]["rescored"] == "asymmetric distance within the first 5,000"
    by_features = json.loads(run(*asked, "--rescore", "features").stdout)
    pair = FeaturePair(queries.astype(np.float32), quantise(database)[0])
    again = evaluate_feature_rescored(outputs, codes[1], *labels, pair, at=(10, "all"))
    assert by_features["metrics_rescored"] == pytest.approx(again.metrics)
    assert by_features["contract"]["rescored"] == "cosine of features within the first 200"


def test_evaluate_names_what_a_model_takes(embeddings, folder, tiny_model):
    model, arguments, _ = embeddings
    on_pictures = run("evaluate", model, folder, *CPU)
    assert on_pictures.returncode == 1
    assert "takes embeddings, not pictures; give --query-features" in on_pictures.stderr
    on_features = run("evaluate", tiny_model, *arguments, *CPU)
    assert on_features.returncode == 1
    assert "takes pictures, not embeddings; give DATA" in on_features.stderr
    few = run("evaluate", model, *arguments[:6], *CPU)
    assert few.returncode == 2
    assert "MODEL, --query-features, --database-features and labels" in few.stderr


def test_evaluate_names_files_of_embeddings_that_do_not_fit(embeddings, tmp_path):
    model, arguments, _ = embeddings
    np.save(tmp_path / "wrong.npy", np.zeros((30, 5)))
    done = run("evaluate", model, "--query-features", tmp_path / "wrong.npy", *arguments[2:], *CPU)
    assert done.returncode == 1
    assert "this model takes numbers of shape (n, 6)" in done.stderr
    np.save(tmp_path / "wrong.npy", np.zeros((29, 6)))
    done = run("evaluate", model, "--query-features", tmp_path / "wrong.npy", *arguments[2:], *CPU)
    assert done.returncode == 1
    assert "wrong.npy has 29 rows" in done.stderr


def test_encode_writes_the_codes_of_embeddings(embeddings, tmp_path):
    model, arguments, arrays = embeddings
    done = run("encode", arguments[1], "-m", model, "-o", tmp_path / "codes.npy", *CPU)
    assert done.returncode == 0, done.stderr
    assert "30 codes of 20 bits" in done.stderr
    expected = Hasher.load(model).encode(arrays["query-features"], device="cpu")
    np.testing.assert_array_equal(np.load(tmp_path / "codes.npy"), expected)


@pytest.mark.parametrize(
    ("arguments", "code", "message"),
    [
        (["{folder}", "-m", "{model}"], 1, "takes embeddings, not pictures; give a .npy"),
        (["{queries}", "-m", "{tiny}"], 1, "takes pictures, not embeddings"),
        (["{queries}", "-m", "{model}", "--ids", "ids.txt"], 2, "embeddings have no file names"),
        (["{labels}", "-m", "{model}"], 1, "this model takes numbers of shape (n, 6)"),
        (["nowhere.npy", "-m", "{model}"], 1, "nowhere.npy does not exist"),
    ],
)
def test_encode_names_what_a_model_takes(
    embeddings, folder, tiny_model, tmp_path, arguments, code, message
):
    model, files, _ = embeddings
    places = {"folder": folder, "model": model, "tiny": tiny_model}
    places |= {"queries": files[1], "labels": files[5]}
    given = [argument.format(**places) for argument in arguments]
    done = run("encode", *given, "-o", "codes.npy", *CPU, cwd=tmp_path)
    assert (done.returncode, done.stdout) == (code, "")
    assert message in done.stderr
    assert list(tmp_path.iterdir()) == []
