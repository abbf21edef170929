"""Fine-tuning from disk: bit for bit the model of memory, whole, resumed, and in a grid."""

import json
import signal
import threading

import numpy as np
import pytest
import torch

from softhash.data import scenes
from softhash.data.image_set import ImageSet
from softhash.errors import InputError
from softhash.experiments.grid import expand, run_grid
from softhash.experiments.inputs import prepare_inputs
from softhash.experiments.results import read_rows
from softhash.training import batches, pictures
from softhash.training import run as training_run
from softhash.training.fit import build_hasher, fit
from softhash.training.options import Options
from softhash.training.pictures import PictureRows, load_pictures
from softhash.training.recipe import Recipe
from softhash.training.step import Step

pytestmark = pytest.mark.usefixtures("tiny_backbone")

COUNT, PICTURE = 60, 32 * 32 * 3
SMALL = 10 * PICTURE  # a budget that the pictures of these tests exceed
TRAINED = {"backbone": "tiny", "mode": "finetune", "bits": 8, "hidden": 0, "epochs": 3}
TRAINED |= {"warm_up": 1, "batch_size": 16, "teacher_zoom": 0.0}


@pytest.fixture(scope="module")
def images(tmp_path_factory):
    folder = tmp_path_factory.mktemp("data") / "scenes"
    scenes.write(folder, count=COUNT, size=48, workers=1)
    return ImageSet.read(folder)


@pytest.fixture
def small_memory(monkeypatch):
    """Return a function that lets few pictures fit into memory from then on."""
    return lambda: monkeypatch.setattr(pictures, "MEMORY_BYTES", SMALL)


@pytest.fixture
def seen(monkeypatch):
    """The types of the inputs that networks were trained on."""
    kinds = []

    def train(run, recipe, inputs, *rest, **options):
        kinds.append(type(inputs))
        trained(run, recipe, inputs, *rest, **options)

    trained = training_run.train
    monkeypatch.setattr(training_run, "train", train)
    return kinds


def options(tmp_path, **values):
    return Options(device="cpu", cache=tmp_path / "cache", **values)


def assert_same_weights(one, other):
    states = one.network.state_dict(), other.network.state_dict()
    assert states[0].keys() == states[1].keys()
    for name, value in states[0].items():
        assert torch.equal(value, states[1][name]), name


def no_reader():
    return not any(one.name.startswith(batches.THREAD_NAME) for one in threading.enumerate())


@pytest.mark.parametrize(
    "changed", [{}, {"teacher_zoom": 1.5}, {"method": "dqn"}, {"batch_size": 25, "augment": False}]
)
def test_disk_and_memory_give_the_same_model(images, tmp_path, small_memory, seen, changed):
    recipe = Recipe.with_defaults(**TRAINED | changed)
    memory = fit(build_hasher(recipe), images, recipe=recipe, options=options(tmp_path))
    assert PictureRows not in seen
    small_memory()
    disk = fit(build_hasher(recipe), images, recipe=recipe, options=options(tmp_path))
    assert seen.count(PictureRows) == (2 if "teacher_zoom" in changed else 1)
    assert_same_weights(disk, memory)
    assert np.array_equal(disk.label_classifier.weight, memory.label_classifier.weight)
    assert no_reader()


def test_a_run_on_disk_that_is_resumed_ends_like_one_in_memory_that_never_stopped(
    images, tmp_path, small_memory, seen, monkeypatch
):
    recipe = Recipe.with_defaults(**TRAINED)
    memory = fit(build_hasher(recipe), images, recipe=recipe, options=options(tmp_path))
    small_memory()
    chosen = options(tmp_path, checkpoint=tmp_path / "checkpoint.safetensors")
    taken, original = [], Step._run

    def run(self, chosen, labels, index):
        loss = original(self, chosen, labels, index)
        taken.append(chosen.ndim)
        if taken.count(4) == 5:  # pictures, not features of the warm-up: within the second epoch
            signal.raise_signal(signal.SIGINT)
        return loss

    monkeypatch.setattr(Step, "_run", run)
    before = signal.signal(signal.SIGINT, signal.default_int_handler)
    try:
        with pytest.raises(KeyboardInterrupt):
            fit(build_hasher(recipe), images, recipe=recipe, options=chosen)
    finally:
        signal.signal(signal.SIGINT, before)
    assert no_reader()
    assert taken.count(4) == 5
    chosen.resume = True
    again = fit(build_hasher(recipe), images, recipe=recipe, options=chosen)
    assert seen.count(PictureRows) == 2
    assert_same_weights(again, memory)


def test_a_cache_that_is_cut_off_while_it_is_used_ends_the_run_with_an_explanation(
    images, tmp_path, small_memory
):
    small_memory()
    recipe = Recipe.with_defaults(**TRAINED | {"epochs": 30})
    chosen = options(tmp_path)

    def cut(figures):
        (file,) = chosen.cache.glob("*.npy")
        with file.open("r+b") as stream:
            stream.truncate(128 + 20 * PICTURE)

    chosen.on_epoch = cut
    with pytest.raises(InputError, match=r"decoded pictures in .*\.npy cannot be read: .*cut off"):
        fit(build_hasher(recipe), images, recipe=recipe, options=chosen)
    assert no_reader()
    chosen.on_epoch = lambda figures: None
    fit(build_hasher(recipe), images, recipe=recipe, options=chosen)  # it is decoded anew


@pytest.mark.parametrize("small", [False, True])
def test_pictures_without_a_folder_stay_in_memory_or_go_to_the_users_cache(
    images, tmp_path, small_memory, monkeypatch, small
):
    monkeypatch.setenv("XDG_CACHE_HOME", str(tmp_path / "home"))
    if small:
        small_memory()
    warned, folder = [], tmp_path / "home" / "softhash" / "pictures"
    found = load_pictures(images, 32, Options(warn=warned.append))
    assert isinstance(found.inputs, PictureRows) is small
    assert (
        warned == [f"the decoded pictures do not fit into memory and are kept in {folder}"] * small
    )
    assert bool(list(folder.glob("*.npy"))) is small
    wanted = np.stack([np.asarray(images.open(i, size=32)) for i in range(COUNT)])
    np.testing.assert_array_equal(found.inputs.to("cpu"), wanted)


@pytest.mark.parametrize("cached", [False, True])
@pytest.mark.parametrize("small", [False, True])
def test_pictures_that_cannot_be_read_have_no_row(
    tmp_path, small_memory, monkeypatch, cached, small
):
    monkeypatch.setenv("XDG_CACHE_HOME", str(tmp_path / "home"))
    if small:
        small_memory()
    scenes.write(tmp_path / "photos", count=20, size=48, workers=1)
    broken = ImageSet.read(tmp_path / "photos")
    broken.path(3).write_bytes(b"no picture")
    chosen = options(tmp_path) if cached else Options()
    found = load_pictures(broken, 32, chosen)
    assert [one.position for one in found.broken] == [3]
    assert found.positions.tolist() == [i for i in range(20) if i != 3]
    wanted = np.stack([np.asarray(broken.open(i, size=32)) for i in found.positions])
    np.testing.assert_array_equal(found.inputs.to("cpu"), wanted)


def test_a_grid_measures_the_same_from_disk_and_from_memory(images, tmp_path, small_memory, seen):
    split = images.split("random", seed=0, query=10, train=30)
    cells = expand({**TRAINED, "epochs": 2, "grid": {"method": ["softhash", "dqn"]}})
    rows = []
    for name in ("memory", "disk"):
        results = tmp_path / name / "results.jsonl"
        results.parent.mkdir()
        assert run_grid(cells, split, results, options(tmp_path)) == []
        rows.append([json.dumps([row["metrics"], row["contract"]]) for row in read_rows(results)])
        small_memory()
    assert rows[0] == rows[1]
    assert seen.count(PictureRows) == 2
    inputs = prepare_inputs(split, cells[0], options(tmp_path))
    assert isinstance(inputs.inputs, PictureRows)
    assert inputs.feature_pair is None
