"""From a labelled collection to a trained hasher, with a tiny backbone on drawn scenes."""

import json

import numpy as np
import pytest
import torch

from softhash import InputError, UsageError
from softhash.data import scenes
from softhash.data.image_set import ImageSet
from softhash.evaluation.evaluate import evaluate
from softhash.experiments.cells import RowOptions
from softhash.experiments.grid import expand, run_grid
from softhash.experiments.results import read_rows
from softhash.model.hasher import Hasher
from softhash.training import run as training_run
from softhash.training.features import compute_features
from softhash.training.fit import build_hasher, fit, fit_features
from softhash.training.methods.hashnet import HashNet
from softhash.training.methods.idhn import IDHN
from softhash.training.options import Options
from softhash.training.recipe import Recipe

pytestmark = pytest.mark.usefixtures("tiny_backbone")


@pytest.fixture(scope="module")
def images(tmp_path_factory):
    folder = tmp_path_factory.mktemp("data") / "scenes"
    scenes.write(folder, count=120, size=48, workers=1)
    return ImageSet.read(folder)


@pytest.fixture
def options(tmp_path):
    return Options(device="cpu", cache=tmp_path / "cache")


def recipe(**values):
    return Recipe.with_defaults(
        **{"backbone": "tiny", "bits": 16, "hidden": 0, "epochs": 30, **values}
    )


def test_a_trained_head_ranks_better_than_a_random_one(images, options):
    """On the pictures it was trained on: a tiny random backbone has little to generalise by."""
    chosen = recipe(hidden=64, dropout=0.0, epochs=150)
    before = evaluate(build_hasher(chosen), images, images, at="all")
    hasher = fit(build_hasher(chosen), images, recipe=chosen, options=options)
    after = evaluate(hasher, images, images, at="all")
    assert after.metrics["ndcg@all"] > before.metrics["ndcg@all"] + 0.03
    assert hasher.classes == images.classes
    assert after.contract["queries_broken"] == 0


@pytest.mark.parametrize("mode", ["frozen", "finetune"])
def test_the_same_seed_gives_the_same_codes(images, options, mode):
    chosen = recipe(mode=mode, epochs=2, warm_up=2 if mode == "finetune" else 0)
    codes = []
    for seed in (0, 0, 1):
        again = chosen.changed(seed=seed)
        hasher = fit(build_hasher(again), images, recipe=again, options=options)
        codes.append(hasher.encode(images))
    assert np.array_equal(codes[0], codes[1])
    assert not np.array_equal(codes[0], codes[2])


def test_fine_tuning_moves_the_backbone_and_freezing_does_not(images, options):
    for mode, moves in (("frozen", False), ("finetune", True)):
        chosen = recipe(mode=mode, epochs=2, average=0.0)
        hasher = build_hasher(chosen)
        before = [weight.clone() for weight in hasher.network.backbone.parameters()]
        fit(hasher, images, recipe=chosen, options=options)
        after = hasher.network.backbone.parameters()
        moved = any(not torch.equal(a, b) for a, b in zip(before, after, strict=True))
        assert moved is moves


def trained_states(method, images, options, monkeypatch):
    """Fine-tune, and return the method's state before and after the warm-up, and the training."""
    seen = []

    def state(run):
        return {name: value.clone() for name, value in run.method.state_dict().items()}

    def train(run, *rest, **options):
        seen.append(state(run))
        trained(run, *rest, **options)
        seen.append(state(run))

    trained = training_run.train
    monkeypatch.setattr(training_run, "train", train)
    chosen = recipe(method=method, mode="finetune", epochs=1, warm_up=2, teacher_zoom=0.0)
    fit(build_hasher(chosen), images, recipe=chosen, options=options)
    return seen


@pytest.mark.parametrize(
    ("method", "name"), [("softhash", "places"), ("dpsh", "outputs"), ("hashnet", "step")]
)
def test_fine_tuning_goes_on_with_what_the_method_learned_in_the_warm_up(
    method, name, images, options, monkeypatch
):
    cold, warmed, start, end = trained_states(method, images, options, monkeypatch)
    assert not torch.equal(cold[name], warmed[name])
    assert torch.equal(warmed[name], start[name])
    assert not torch.equal(start[name], end[name])


def test_the_continuation_of_hashnet_spans_the_warm_up_and_the_training(
    images, options, monkeypatch
):
    planned = []
    monkeypatch.setattr(HashNet, "plan", lambda self, steps: planned.append(steps))
    *_, end = trained_states("hashnet", images, options, monkeypatch)
    assert planned == [int(end["step"])] * 2


def test_features_are_standardised_unless_the_recipe_says_otherwise(images, options):
    for mode in ("frozen", "finetune"):
        for standardise in (True, False):
            chosen = recipe(mode=mode, epochs=1, standardise=standardise, teacher_zoom=0.0)
            hasher = fit(build_hasher(chosen), images, recipe=chosen, options=options)
            head = hasher.network.head
            plain = not head.mean.any() and bool((head.scale == 1).all())
            assert plain is not standardise


def test_features_are_computed_once(images, options):
    calls = []
    options.progress = lambda done, total: calls.append(done)
    chosen = recipe(epochs=1)
    fit(build_hasher(chosen), images, recipe=chosen, options=options)
    assert len(calls) > 2
    calls.clear()
    fit(build_hasher(chosen), images, recipe=chosen, options=options)
    assert calls == [len(images)]


def test_features_are_kept_where_the_options_name_and_nowhere_without_a_folder(
    images, tmp_path, monkeypatch
):
    monkeypatch.setenv("XDG_CACHE_HOME", str(tmp_path / "home"))
    hasher = build_hasher(recipe())
    found = compute_features(hasher, images, device="cpu")
    assert found.values.shape == (len(images), 12)
    assert list(tmp_path.iterdir()) == []
    chosen = recipe(epochs=1)
    for options, folder in (
        (Options(device="cpu", cache=tmp_path / "mine"), tmp_path / "mine"),
        (Options(device="cpu"), tmp_path / "home" / "softhash" / "features"),
    ):
        fit(build_hasher(chosen), images, recipe=chosen, options=options)
        assert options.feature_cache == folder
        assert any(folder.iterdir())
    cached = compute_features(hasher, images, device="cpu", cache=tmp_path / "mine")
    assert np.array_equal(cached.values, found.values)


def test_pictures_that_cannot_be_used_are_left_out_and_named(tmp_path, options):
    scenes.write(tmp_path / "photos", count=30, size=48, workers=1)
    (tmp_path / "photos" / "scene-00003.png").write_bytes(b"no picture")
    images = ImageSet.read(tmp_path / "photos")
    labels = images.labels.copy()
    labels[5] = 0
    images = ImageSet(images.root, images.file_names, labels, images.classes)
    warned = []
    options.warn = warned.append
    chosen = recipe(epochs=1)
    fit(build_hasher(chosen), images, recipe=chosen, options=options)
    assert "1 pictures without labels are left out" in warned
    assert any("scene-00003.png" in line for line in warned)


def test_labels_that_teach_nothing_are_refused(images, options):
    alike = ImageSet(images.root, images.file_names, np.ones_like(images.labels), images.classes)
    with pytest.raises(UsageError, match="the same labels"):
        fit(build_hasher(recipe()), alike, recipe=recipe(), options=options)
    with pytest.raises(UsageError, match="too few"):
        fit(build_hasher(recipe()), images.select([0]), recipe=recipe(), options=options)


def test_a_class_without_pictures_does_not_stop_training(images, options):
    labels = np.pad(images.labels, ((0, 0), (0, 1)))
    wider = ImageSet(images.root, images.file_names, labels, (*images.classes, "unicorn"))
    hasher = fit(build_hasher(recipe(epochs=1)), wider, recipe=recipe(epochs=1), options=options)
    assert hasher.classes[-1] == "unicorn"


def test_embeddings_become_codes(tmp_path):
    rng = np.random.default_rng(0)
    labels = (rng.random((200, 6)) < 0.3).astype(np.uint8)
    features = labels @ rng.normal(size=(6, 20)) + 0.3 * rng.normal(size=(200, 20))
    chosen = recipe(bits=12, epochs=40)
    hasher = fit_features(
        build_hasher(chosen, features=20),
        features,
        labels,
        recipe=chosen,
        options=Options(device="cpu"),
    )
    hasher.save(tmp_path / "model")
    codes = Hasher.load(tmp_path / "model").encode(features.astype(np.float32))
    assert codes.shape == (200, 2)
    same = (labels[:, None] == labels[None]).all(axis=2)
    distances = np.bitwise_count(codes[:, None] ^ codes[None]).sum(axis=2)
    assert distances[same].mean() < 2 < distances[~same].mean()
    with pytest.raises(InputError, match="200 rows of features, but 199"):
        fit_features(hasher, features, labels[1:], recipe=chosen)


def test_a_grid_keeps_what_is_finished_and_reports_what_fails(images, options, tmp_path):
    split = images.split("random", seed=0)
    content = {
        "backbone": "tiny", "hidden": 0, "epochs": 1,
        "grid": {"method": ["idhn", "idhn-fine-ce"], "bits": [8, 16]},
    }  # fmt: skip
    results = tmp_path / "results.jsonl"
    recipes = expand(content)
    seen = []
    assert run_grid(recipes[:3], split, results, options, on_cell=lambda *a: seen.append(a)) == []
    with results.open("a") as file:
        file.write('{"cut off')
    assert len(read_rows(results)) == 3
    results.write_text("".join(json.dumps(row) + "\n" for row in read_rows(results)))
    bad = recipes[3].changed(settings={"alpha": "five"})
    failed = run_grid([*recipes, bad], split, results, options, on_cell=lambda *a: seen.append(a))
    assert len(failed) == 1
    assert "idhn-fine-ce, 16 bits, seed 0" in failed[0]
    assert [call[0] for call in seen] == [1, 2, 3, 4]
    rows = read_rows(results)
    assert len(rows) == 4
    assert all(row["contract"]["split"] == split.sha256 for row in rows)
    assert all(0 < row["metrics"]["map@all"] <= 1 for row in rows)


def test_the_traceback_of_a_failed_cell_is_logged(images, options, tmp_path, caplog):
    bad = recipe(epochs=1, method="idhn", settings={"alpha": "five"})
    results = tmp_path / "results.jsonl"
    with caplog.at_level("DEBUG", logger="softhash"):
        (failed,) = run_grid([bad], images.split("random", seed=0), results, options)
    (record,) = [one for one in caplog.records if one.exc_info]
    assert record.levelname == "DEBUG"
    assert str(record.exc_info[1]) in failed
    assert "Traceback" in caplog.text


@pytest.mark.parametrize("mode", ["frozen", "finetune"])
def test_a_quantiser_is_ranked_by_its_own_distance(images, options, tmp_path, mode):
    split = images.split("random", seed=0)
    chosen = recipe(method="dqn", bits=12, mode=mode, epochs=2, settings={"words": 8})
    results = tmp_path / "results.jsonl"
    assert run_grid([chosen], split, results, options, wanted=RowOptions(sheets=2)) == []
    (row,) = read_rows(results)
    assert row["contract"]["distance"] == "asymmetric quantiser distance"
    assert row["metrics"]["map@all"] > row["metrics"]["precision@all"]  # better than chance
    assert len(row["hits"]) == 2


def test_a_grid_takes_lists_only():
    with pytest.raises(UsageError, match="grid key bits is 12; give a list"):
        expand({"grid": {"bits": 12}})
    swept = expand({"grid": {"settings.alpha": ["1/q", 1.0]}})
    assert [r.settings["alpha"] for r in swept] == ["1/q", 1.0]


@pytest.mark.parametrize("method", ["itq", "sh", "ksh"])  # linear, cosine and kernel heads
def test_a_fitted_head_is_saved_and_encodes_the_same(images, options, tmp_path, method):
    chosen = recipe(method=method, bits=8)
    hasher = fit(build_hasher(chosen), images, recipe=chosen, options=options)
    hasher.save(tmp_path / "model")
    codes = Hasher.load(tmp_path / "model").encode(images)
    assert np.array_equal(codes, hasher.encode(images))
    assert len(np.unique(codes, axis=0)) > 1


def test_fine_tuning_a_shallow_method_raises_before_any_work(images, options):
    chosen = recipe(method="itq", mode="finetune")
    options.progress = lambda done, total: pytest.fail("pictures were decoded")
    for attempt in (
        lambda: build_hasher(chosen),
        lambda: fit(build_hasher(recipe()), images, recipe=chosen, options=options),
    ):
        with pytest.raises(
            UsageError, match="itq learns from fixed features; train it with mode = 'frozen'"
        ):
            attempt()


@pytest.mark.parametrize("mode", ["frozen", "finetune"])
def test_labels_of_pictures_are_learned_with_their_codes(images, options, mode):
    """On pictures it was trained on: they are likelier than how common labels are makes them."""
    chosen = recipe(mode=mode, epochs=60, hidden=64, dropout=0.0)
    hasher = fit(build_hasher(chosen), images, recipe=chosen, options=options)
    assert hasher.label_classifier.classes == images.classes
    found = hasher.label_classifier.probabilities(hasher.features(images))
    common = np.broadcast_to(images.labels.mean(axis=0), found.shape)
    assert surprise(found, images.labels) < 0.9 * surprise(common, images.labels)


def surprise(probabilities, labels):
    return -np.log(np.where(labels, probabilities, 1 - probabilities)).mean()


class Narrow(IDHN):
    """A method that nobody registered."""

    name = "narrow"
    defaults = {"frozen": {"epochs": 2, "hidden": 5}}  # noqa: RUF012


def test_a_class_is_trained_without_being_registered(images, options):
    hasher = fit(Hasher("tiny", 8), images, method=Narrow, options=options)
    assert hasher.config["hidden"] == 5
    with pytest.raises(UsageError, match="unknown method 'narrow'"):
        fit(Hasher("tiny", 8), images, method="narrow", options=options)
    chosen = recipe(method="narrow", epochs=1)  # the class wins over the name
    assert fit(Hasher("tiny", 8), images, method=Narrow, recipe=chosen, options=options).bits == 8
    built = build_hasher(chosen, method=Narrow)
    assert fit(built, images, method=Narrow, recipe=chosen, options=options).bits == 16


def test_embeddings_cannot_be_fine_tuned():
    features, labels = np.eye(6, dtype=np.float32), np.eye(6, dtype=np.uint8)
    with pytest.raises(UsageError, match="embeddings have no network to fine-tune"):
        fit_features(Hasher.from_features(6, 8), features, labels, recipe=recipe(mode="finetune"))
