"""Fine-tuning with a teacher that sees pictures enlarged, with a tiny backbone."""

import os
import subprocess
import sys

import numpy as np
import pytest
import torch
from torch import nn

from softhash import InputError, UsageError
from softhash.data import scenes
from softhash.data.image_set import ImageSet
from softhash.data.pixels import load_all
from softhash.training import finetune
from softhash.training.fit import build_hasher, fit
from softhash.training.options import Options
from softhash.training.recipe import Recipe
from softhash.training.teacher import WEIGHT, Teacher, check_upsampling, with_upsampling

pytestmark = pytest.mark.usefixtures("tiny_backbone")

TAUGHT = {"mode": "finetune", "backbone": "tiny", "bits": 8, "hidden": 0}
TAUGHT |= {"epochs": 3, "warm_up": 1, "teacher_zoom": 1.5}


@pytest.fixture(scope="module")
def images(tmp_path_factory):
    folder = tmp_path_factory.mktemp("data") / "scenes"
    scenes.write(folder, count=60, size=48, workers=1)
    return ImageSet.read(folder)


@pytest.fixture
def network():
    return build_hasher(Recipe.with_defaults(**TAUGHT)).network.eval()


def plain(side):
    """One picture of each of three colours."""
    colours = torch.tensor([[10, 200, 30], [90, 90, 90], [250, 0, 128]], dtype=torch.uint8)
    return colours[:, None, None].expand(-1, side, side, -1)


def test_a_copy_sees_pictures_enlarged_and_the_network_does_not(network):
    """A plain picture is plain however large, so what it should look like is known."""
    larger = with_upsampling(network, 1.5)
    with torch.no_grad():
        assert torch.allclose(larger.features(plain(32)), network.features(plain(48)), atol=1e-5)
        assert not torch.allclose(larger.features(plain(32)), network.features(plain(32)))
        kept = network.features(plain(32))
        next(larger.backbone.parameters()).add_(1)
        assert torch.equal(network.features(plain(32)), kept)


def test_the_loss_is_the_squared_distance_in_deviations_as_a_share_of_the_first(network):
    pixels = torch.randint(0, 256, (40, 32, 32, 3), dtype=torch.uint8)
    with torch.no_grad():
        wanted = network.features(pixels)
    student = wanted + torch.randn(40, 12)
    teacher = Teacher(network, wanted, student)
    assert teacher.loss(wanted[:7], pixels[:7]) == 0
    assert teacher.loss(student, pixels).item() == pytest.approx(WEIGHT, rel=1e-4)
    features = torch.randn(7, 12, requires_grad=True)
    std = wanted.numpy().std(axis=0)
    std = np.maximum(std, 0.25 * std.mean())
    first = np.mean(((student.numpy() - wanted.numpy()) / std) ** 2)
    off = np.mean(((features.detach().numpy() - wanted[:7].numpy()) / std) ** 2)
    loss = teacher.loss(features, pixels[:7])
    assert loss.item() == pytest.approx(WEIGHT * off / first, rel=1e-4)
    loss.backward()
    assert features.grad.abs().min() > 0
    assert not any(weight.requires_grad for weight in network.parameters())


def test_features_that_hardly_ever_speak_do_not_shout_the_others_down(network):
    """As drawn pictures have them: one in a hundred made up nearly all of the distance."""
    wanted, student = torch.randn(60, 12), torch.randn(60, 12)
    wanted[:, 3] = 1e-5 * torch.randn(60)
    teacher = Teacher(network, wanted, student)
    one = student.clone()
    one[:, 3] = wanted[:, 3]
    whole, without = teacher._distance(student, wanted), teacher._distance(one, wanted)
    assert (whole - without) / whole < 0.6
    same = Teacher(network, torch.ones(5, 12), torch.ones(5, 12))
    assert same.loss(torch.zeros(1, 12), plain(32)[:1]).isfinite()


def test_the_teacher_is_trained_first_and_features_come_nearer_to_its_own(images, monkeypatch):
    """By the weight it has by default the difference would be small on so small a network."""
    monkeypatch.setattr("softhash.training.teacher.WEIGHT", 10.0)
    taught, teachers = {}, []

    def hired(network, features, student):
        teachers.append(network)
        return Teacher(network, features, student)

    monkeypatch.setattr(finetune, "Teacher", hired)
    for teacher_zoom in (0.0, 1.5):
        quick = {"epochs": 40, "backbone_rate": 3e-3, "average": 0.0, "augment": False}
        recipe = Recipe.with_defaults(**{**TAUGHT, **quick, "teacher_zoom": teacher_zoom})
        hasher = fit(build_hasher(recipe), images, recipe=recipe, options=Options(device="cpu"))
        assert len(teachers) == bool(teacher_zoom)
        taught[teacher_zoom] = torch.from_numpy(hasher.features(images))
    start = build_hasher(Recipe.with_defaults(**TAUGHT)).network.backbone
    moved = zip(start.parameters(), teachers[0].backbone.parameters(), strict=True)
    assert any(not torch.equal(a, b) for a, b in moved)
    pixels = load_all(images, 32, cache=None)
    with torch.no_grad():
        wanted = teachers[0].features(torch.from_numpy(pixels[pixels.readable]))
    off = {teacher_zoom: (found - wanted).square().mean() for teacher_zoom, found in taught.items()}
    assert off[1.5] < 0.7 * off[0.0]


def test_both_halves_are_reported_as_one_run(images):
    reported = []
    recipe = Recipe.with_defaults(**TAUGHT, batch_size=16)
    fit(
        build_hasher(recipe),
        images,
        recipe=recipe,
        options=Options(device="cpu", on_epoch=reported.append),
    )
    epochs = [figures["epoch"] for figures in reported]
    assert epochs == sorted(epochs)
    assert set(epochs) == set(range(1, 7))
    steps = [figures["step"] for figures in reported]
    assert steps == sorted(set(steps))
    assert steps[-1] == reported[-1]["steps"] == reported[0]["steps"] == 2 * (3 * 60 // 16)


@pytest.mark.parametrize("stop", [1, 2, 4, 5])  # epochs: within the teacher's, its last, and after
def test_a_run_resumed_in_either_half_ends_like_one_that_was_not_stopped(images, tmp_path, stop):
    recipe = Recipe.with_defaults(**TAUGHT)
    whole = fit(build_hasher(recipe), images, recipe=recipe, options=Options(device="cpu"))
    options = Options(device="cpu", checkpoint=tmp_path / "checkpoint.safetensors")

    def interrupt(figures):
        if figures["epoch"] >= stop:
            raise KeyboardInterrupt

    options.on_epoch = interrupt
    with pytest.raises(KeyboardInterrupt):
        fit(build_hasher(recipe), images, recipe=recipe, options=options)
    seen = []
    options.on_epoch, options.resume = lambda figures: seen.append(figures["epoch"]), True
    again = fit(build_hasher(recipe), images, recipe=recipe, options=options)
    assert min(seen) > stop
    assert np.array_equal(again.outputs(images), whole.outputs(images))


def test_a_teacher_of_another_recipe_is_not_gone_on_with(images, tmp_path):
    recipe = Recipe.with_defaults(**TAUGHT)
    options = Options(device="cpu", checkpoint=tmp_path / "checkpoint.safetensors")
    fit(build_hasher(recipe), images, recipe=recipe, options=options)
    options.checkpoint.unlink()
    options.resume = True
    other = recipe.changed(teacher_zoom=1.25)
    with pytest.raises(
        InputError, match=r"teacher.*another recipe: teacher_zoom was 1\.5, and is now"
    ):
        fit(build_hasher(other), images, recipe=other, options=options)


WORKER = """
import sys, torch
from torch import nn
from softhash.training import distributed, teacher as teacher_module
from softhash.model.heads import Head
from softhash.training.methods import create
from softhash.model.network import HashNetwork
from softhash.data.pixels import load_all
from softhash.training.recipe import Recipe
from softhash.training.loop import make_run, train
teacher_module.WEIGHT = 0.02  # both losses move weights: neither may be counted twice
distributed.join()
torch.manual_seed(0)
labels = (torch.rand(48, 5) < 0.4).to(torch.uint8)
pixels = torch.randint(0, 256, (48, 8, 8, 3), dtype=torch.uint8)
def network():
    scaled = nn.AdaptiveAvgPool2d(2), nn.Flatten(), nn.Linear(12, 6, bias=False)
    net = HashNetwork(None, nn.Sequential(*scaled), Head(6, 8, activation="tanh"))
    net.std.fill_(100.0)
    return net
learner, known = network(), teacher_module.with_upsampling(network(), 1.5)
with torch.no_grad():
    teacher = teacher_module.Teacher(known, *(net.features(pixels) for net in (known, learner)))
recipe = Recipe.with_defaults(mode="finetune", bits=8, epochs=3, batch_size=16, backbone_rate=0.01)
recipe = recipe.changed(augment=False, average=0.0)
run = make_run(learner, create("softhash", 8, 5), recipe, torch.device("cpu"))
train(run, recipe, pixels, labels, teacher=teacher)
if distributed.rank() == 0:
    torch.save([w.detach() for w in learner.parameters()], sys.argv[1])
"""


@pytest.mark.slow
def test_two_processes_learn_from_a_teacher_like_one(torchrun, tmp_path):
    script = tmp_path / "worker.py"
    script.write_text(WORKER)
    for name, launcher in (("one", []), ("two", torchrun)):
        command = [sys.executable, *launcher, str(script), str(tmp_path / name)]
        environment = os.environ | {"OMP_NUM_THREADS": "1"}
        subprocess.run(command, check=True, env=environment, timeout=120)
    one, two = (torch.load(tmp_path / name, weights_only=True) for name in ("one", "two"))
    for a, b in zip(one, two, strict=True):
        assert torch.allclose(a, b, atol=1e-5)


class OneSize(nn.Module):
    """As vision transformers are: positions are learned, so there are as many as there are."""

    def forward(self, x):
        assert x.shape[-1] == 32, "the input's width is not 32"
        return x.mean((2, 3))


def test_a_backbone_of_one_size_raises_with_the_way_out(network):
    network.backbone = OneSize()
    with pytest.raises(
        UsageError, match=r"vit does not take upsampled .*is not 32.* teacher_zoom = 0"
    ):
        check_upsampling(with_upsampling(network, 1.5), plain(32), "vit")


@pytest.mark.parametrize("teacher_zoom", [-1.0, 0.5, 1.0, 4.5, float("nan")])
def test_a_factor_that_does_not_enlarge_is_refused(teacher_zoom):
    with pytest.raises(UsageError, match="give 0 for none, or more than 1 up to 4"):
        Recipe.with_defaults(mode="finetune", teacher_zoom=teacher_zoom)
