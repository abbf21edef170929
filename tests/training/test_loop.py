import math
import os
import signal
import subprocess
import sys

import pytest
import torch
from safetensors import safe_open
from safetensors.torch import load, save
from torch import nn

from softhash import InputError
from softhash.errors import DivergedError
from softhash.training.augment import augment
from softhash.training.checkpoint import load_checkpoint, save_checkpoint
from softhash.training.loop import make_run, train
from softhash.training.methods import create
from softhash.training.recipe import Recipe
from softhash.training.step import Average

CPU = torch.device("cpu")
RECIPE = Recipe.with_defaults(bits=8, epochs=4, batch_size=16, average=0.9, settings={})


def toy_set(n=50):
    generator = torch.Generator().manual_seed(0)
    labels = (torch.rand(n, 5, generator=generator) < 0.4).to(torch.uint8)
    features = labels.float() @ torch.randn(5, 12, generator=generator)
    return features, labels


def fresh(recipe=RECIPE, method="idhn"):
    torch.manual_seed(recipe.seed)
    method = create(method, 8, 5)
    method.start(toy_set()[1])
    head = nn.Sequential(nn.Dropout(0.3), nn.Linear(12, method.width), nn.Softsign())
    return make_run(head, method, recipe, CPU)


def weights(run):
    return torch.cat([weight.detach().flatten() for weight in run.network.parameters()])


def test_the_same_seed_gives_the_same_weights_and_another_seed_others():
    runs = []
    for seed in (0, 0, 1):
        recipe = RECIPE.changed(seed=seed)
        run = fresh(recipe)
        train(run, recipe, *toy_set())
        runs.append(weights(run))
    assert torch.equal(runs[0], runs[1])
    assert not torch.equal(runs[0], runs[2])


def test_the_loss_falls_and_is_reported():
    epochs = []
    recipe = RECIPE.changed(epochs=20, head_rate=0.03)
    train(fresh(recipe), recipe, *toy_set(), on_epoch=epochs.append)
    assert epochs[-1]["loss"] < 0.9 * epochs[0]["loss"]
    assert epochs[-1]["step"] == epochs[-1]["steps"] == 20 * 50 // 16
    assert all(figures["pictures_per_second"] > 0 for figures in epochs)


@pytest.mark.parametrize(("epochs", "batch", "items"), [(3, 13, 50), (6, 31, 60), (7, 50, 50)])
def test_a_run_reports_as_many_epochs_as_its_recipe_has(epochs, batch, items):
    recipe, reported = RECIPE.changed(epochs=epochs, batch_size=batch), []
    train(fresh(recipe), recipe, *toy_set(items), on_epoch=reported.append)
    assert [figures["epoch"] for figures in reported] == list(range(1, epochs + 1))
    assert reported[-1]["step"] == reported[-1]["steps"]


@pytest.mark.parametrize("late", [True, False])
def test_the_log_of_a_resumed_run_has_each_epoch_once(tmp_path, late):
    """A kill may come after the checkpoint of an epoch, or before it."""
    path, checkpoints = tmp_path / "checkpoint.safetensors", []

    def save(run):
        if late or not checkpoints:
            save_checkpoint(path, run, RECIPE)
        checkpoints.append(run.step)
        if len(checkpoints) == 2:
            raise KeyboardInterrupt

    with pytest.raises(KeyboardInterrupt):
        train(fresh(), RECIPE, *toy_set(), checkpoint=save)
    again = fresh()
    load_checkpoint(path, again, RECIPE)
    assert [figures["epoch"] for figures in again.log] == ([1, 2] if late else [1])
    train(again, RECIPE, *toy_set())
    assert [figures["epoch"] for figures in again.log] == [1, 2, 3, 4]


def saved_checkpoint(folder):
    path = folder / "checkpoint.safetensors"
    run = fresh()
    train(run, RECIPE, *toy_set())
    save_checkpoint(path, run, RECIPE)
    with safe_open(path, "pt") as file:
        return path, load(path.read_bytes()), file.metadata()


@pytest.mark.parametrize(
    ("name", "value"),
    [("step", "-1"), ("step", "x"), ("recipe", "[]"), ("log", "{}"), ("log", '[{"epoch": "1"}]')],
)
def test_a_checkpoint_whose_header_makes_no_sense_is_refused(tmp_path, name, value):
    path, tensors, header = saved_checkpoint(tmp_path)
    path.write_bytes(save(tensors, header | {name: value}))
    with pytest.raises(InputError, match="cannot be read as a checkpoint"):
        load_checkpoint(path, fresh(), RECIPE)


def test_a_checkpoint_with_a_tensor_of_another_shape_is_refused(tmp_path):
    path, tensors, header = saved_checkpoint(tmp_path)
    tensors["network.1.bias"] = tensors["network.1.bias"][:1].clone()  # it would be broadcast
    path.write_bytes(save(tensors, header))
    with pytest.raises(InputError, match=r"network\.1\.bias has another shape"):
        load_checkpoint(path, fresh(), RECIPE)


def test_threads_never_change_the_sums():
    """Without care, one run of DQN in ten or so was another's in all but the last bits."""
    runs = [fresh(method="dqn") for _ in range(60)]
    for run in runs:
        train(run, RECIPE, *toy_set())
    assert all(torch.equal(weights(run), weights(runs[0])) for run in runs)
    assert not torch.are_deterministic_algorithms_enabled()


@pytest.mark.parametrize("method", ["idhn", "dqn"])
@pytest.mark.parametrize("stop", [1, 5, 9])
def test_a_run_interrupted_within_a_step_ends_like_one_that_was_not(
    tmp_path, monkeypatch, stop, method
):
    whole = fresh(method=method)
    train(whole, RECIPE, *toy_set())

    run, path = fresh(method=method), tmp_path / "checkpoint.safetensors"
    original = run.optimiser.step

    def interrupted():
        original()
        if run.step == stop:
            signal.raise_signal(signal.SIGINT)  # weights are moved, but the step is not over

    monkeypatch.setattr(run.optimiser, "step", interrupted)
    before = signal.signal(signal.SIGINT, signal.default_int_handler)
    try:
        with pytest.raises(KeyboardInterrupt):
            train(run, RECIPE, *toy_set(), checkpoint=lambda r: save_checkpoint(path, r, RECIPE))
        assert signal.getsignal(signal.SIGINT) is signal.default_int_handler
    finally:
        signal.signal(signal.SIGINT, before)

    again = fresh(method=method)
    load_checkpoint(path, again, RECIPE)
    assert again.step == stop + 1
    train(again, RECIPE, *toy_set())
    assert torch.equal(weights(again), weights(whole))


def test_a_checkpoint_of_another_recipe_is_refused(tmp_path):
    path = tmp_path / "checkpoint.safetensors"
    save_checkpoint(path, fresh(), RECIPE)
    with pytest.raises(InputError, match=r"another recipe: head_rate was 0\.003, and is now 0\.1"):
        load_checkpoint(path, fresh(), RECIPE.changed(head_rate=0.1))
    path.write_bytes(path.read_bytes()[:100])
    with pytest.raises(InputError, match="cannot be read as a checkpoint"):
        load_checkpoint(path, fresh(), RECIPE)


@pytest.mark.parametrize("recipe", [RECIPE, RECIPE.changed(head_rate=0.1)])
def test_a_checkpoint_without_a_train_set_is_of_an_earlier_version(tmp_path, recipe):
    path, tensors, header = saved_checkpoint(tmp_path)
    del header["train_set"]
    path.write_bytes(save(tensors, header))
    with pytest.raises(InputError, match=r"earlier version of softhash.*; start anew without --re"):
        load_checkpoint(path, fresh(recipe), recipe, "its digest")


def test_a_loss_that_is_not_finite_stops_the_run_and_is_named():
    features, labels = toy_set()
    features[7] = float("nan")
    with pytest.raises(DivergedError, match=r"the loss is nan at step \d; its batch was"):
        train(fresh(), RECIPE, features, labels)


def test_average_is_the_running_mean_and_swaps():
    layer = nn.Linear(1, 1, bias=False)
    with torch.no_grad():
        layer.weight.fill_(0.0)
    average = Average(layer, 0.5)
    for value in (4.0, 8.0):
        with torch.no_grad():
            layer.weight.fill_(value)
        average.update()
    average.swap()
    assert layer.weight.item() == pytest.approx(6.0)  # 3/4 of the way to 4, then 3/5 of it to 8
    average.swap()
    assert layer.weight.item() == 8.0


@pytest.mark.parametrize(("steps", "decay"), [(40, 0.998), (2000, 0.9)])
def test_average_forgets_where_a_run_started_and_reaches_back_as_its_decay_says(steps, decay):
    layer = nn.Linear(1, 1, bias=False)

    def mean_of(start, values):
        with torch.no_grad():
            layer.weight.fill_(start)
            average = Average(layer, decay)
            for value in values:
                layer.weight.fill_(value)
                average.update()
        return average.state()[0].item()

    assert mean_of(1.0, [0.0] * steps) < 1e-3
    age = steps - 1 - mean_of(0.0, range(steps))
    assert age == pytest.approx(min(steps / 4, decay / (1 - decay)), rel=0.1)


def test_augmentation_keeps_shape_and_range_and_changes_pixels():
    pixels = torch.randint(0, 256, (6, 20, 20, 3), dtype=torch.uint8)
    torch.manual_seed(0)
    first = augment(pixels)
    assert first.shape == pixels.shape
    assert first.min() >= 0
    assert first.max() <= 255
    torch.manual_seed(0)
    assert torch.equal(first, augment(pixels))
    assert (first - pixels.float()).abs().mean() > 1
    flat = torch.full((2, 9, 9, 3), 100, dtype=torch.uint8)
    spread = augment(flat)
    assert spread.std(dim=(1, 2, 3)).max() < 1e-3  # a plain picture stays plain
    assert ((spread >= 79) & (spread <= 121)).all()


def test_augmentation_zooms_both_ways_and_mirrors():
    picture = torch.zeros(1, 40, 40, 3)
    picture[:, 17:23, 17:23] = 200  # in the middle, where no border is mirrored
    picture[:, 17:23, 17:20, 0] = 0  # the left half is not red
    torch.manual_seed(0)
    seen = augment(picture.expand(500, -1, -1, -1))
    area = seen[..., 1].sum((1, 2)) / seen[..., 1].amax((1, 2)) / 36
    larger, smaller = (area > 1.2).float().mean(), (area < 1 / 1.2).float().mean()
    assert 0.2 < larger < 0.5
    assert 0.2 < smaller < 0.5
    assert abs(area.log().mean()) < 0.1  # as large as they are, on average
    assert area.log().abs().max() < 2 * (math.log(4 / 3) + 0.1) + 0.1
    middle = (seen[..., 1].sum(1) * torch.arange(40)).sum(1) / seen[..., 1].sum((1, 2))
    red = (seen[..., 0].sum(1) * torch.arange(40)).sum(1) / seen[..., 0].sum((1, 2))
    assert 0.4 < (red < middle).float().mean() < 0.6


WORKER = """
import torch, sys
from pathlib import Path
from torch import nn
from softhash.training import distributed
from softhash.training.methods import create
from softhash.training.recipe import Recipe
from softhash.training.loop import make_run, train
distributed.join()
torch.manual_seed(0)
labels = (torch.rand(48, 5) < 0.4).to(torch.uint8)
features = torch.randn(48, 12)
head = nn.Sequential(nn.Linear(12, 8), nn.Softsign())
recipe = Recipe.with_defaults(bits=8, epochs=3, batch_size=16, dropout=0.0)
run = make_run(head, create("idhn", 8, 5), recipe, torch.device("cpu"))
train(run, recipe, features, labels)
if distributed.rank() == 0:
    torch.save([w.detach() for w in head.parameters()], sys.argv[1])
distributed.leave()
threads = [task.read_text() for task in Path("/proc/self/task").glob("*/comm")]
assert not any("gloo" in name for name in threads), threads  # one of them could abort the exit
"""


def test_two_processes_train_like_one_with_the_whole_batch(torchrun, tmp_path):
    """Nine steps of Adam: any difference in the gradients would have grown by then."""
    script = tmp_path / "worker.py"
    script.write_text(WORKER)
    for name, launcher in (("one", []), ("two", torchrun)):
        command = [sys.executable, *launcher, str(script), str(tmp_path / name)]
        environment = os.environ | {"OMP_NUM_THREADS": "1"}
        subprocess.run(command, check=True, env=environment, timeout=120)
    one, two = (torch.load(tmp_path / name, weights_only=True) for name in ("one", "two"))
    for a, b in zip(one, two, strict=True):
        assert torch.allclose(a, b, atol=1e-6)
