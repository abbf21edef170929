"""Fine-tuning with a teacher that sees pictures enlarged, with a tiny backbone."""

import numpy as np
import pytest
import torch
from torch import nn

from softhash import InputError, UsageError, fitting, scenes
from softhash.fitting import Options, fit, hasher_of
from softhash.images import ImageSet
from softhash.recipe import Recipe
from softhash.teaching import WEIGHT, Teacher, check_enlarging, enlarging

pytestmark = pytest.mark.usefixtures("tiny_backbone")

TAUGHT = {"mode": "finetune", "backbone": "tiny", "bits": 8, "hidden": 0}
TAUGHT |= {"epochs": 3, "warm_up": 1, "closer": 1.5}


@pytest.fixture(scope="module")
def images(tmp_path_factory):
    folder = tmp_path_factory.mktemp("data") / "scenes"
    scenes.write(folder, count=60, size=48, workers=1)
    return ImageSet.read(folder)


@pytest.fixture
def network():
    return hasher_of(Recipe.of(**TAUGHT)).network.eval()


def plain(side):
    """One picture of each of three colours."""
    colours = torch.tensor([[10, 200, 30], [90, 90, 90], [250, 0, 128]], dtype=torch.uint8)
    return colours[:, None, None].expand(-1, side, side, -1)


def test_a_copy_sees_pictures_enlarged_and_the_network_does_not(network):
    """A plain picture is plain however large, so what it should look like is known."""
    larger = enlarging(network, 1.5)
    with torch.no_grad():
        assert torch.allclose(larger.features(plain(32)), network.features(plain(48)), atol=1e-5)
        assert not torch.allclose(larger.features(plain(32)), network.features(plain(32)))
        kept = network.features(plain(32))
        next(larger.backbone.parameters()).add_(1)
        assert torch.equal(network.features(plain(32)), kept)


def test_the_loss_is_the_squared_distance_in_deviations_of_the_teachers_features(network):
    pixels = torch.randint(0, 256, (40, 32, 32, 3), dtype=torch.uint8)
    with torch.no_grad():
        wanted = network.features(pixels)
    teacher = Teacher(network, wanted)
    assert teacher.loss(wanted[:7], pixels[:7]) == 0
    features = torch.randn(7, 12, requires_grad=True)
    off = (features.detach().numpy() - wanted[:7].numpy()) / wanted.numpy().std(axis=0)
    loss = teacher.loss(features, pixels[:7])
    assert loss.item() == pytest.approx(WEIGHT * np.mean(off**2), rel=1e-4)
    loss.backward()
    assert features.grad.abs().min() > 0
    assert not any(weight.requires_grad for weight in network.parameters())


def test_the_teacher_is_trained_first_and_features_come_nearer_to_its_own(images, monkeypatch):
    """By the weight it has by default the difference would be small on so small a network."""
    monkeypatch.setattr("softhash.teaching.WEIGHT", 10.0)
    taught, teachers = {}, []

    def hired(network, features):
        teachers.append(network)
        return Teacher(network, features)

    monkeypatch.setattr(fitting, "Teacher", hired)
    for closer in (0.0, 1.5):
        quick = {"epochs": 40, "backbone_rate": 3e-3, "average": 0.0, "augment": False}
        recipe = Recipe.of(**{**TAUGHT, **quick, "closer": closer})
        hasher = fit(hasher_of(recipe), images, recipe=recipe, options=Options(device="cpu"))
        assert len(teachers) == bool(closer)
        taught[closer] = torch.from_numpy(hasher.features(images))
    start = hasher_of(Recipe.of(**TAUGHT)).network.backbone
    moved = zip(start.parameters(), teachers[0].backbone.parameters(), strict=True)
    assert any(not torch.equal(a, b) for a, b in moved)
    pixels = fitting.load_all(images, 32)
    with torch.no_grad():
        wanted = teachers[0].features(torch.from_numpy(pixels[pixels.readable]))
    off = {closer: (found - wanted).square().mean() for closer, found in taught.items()}
    assert off[1.5] < 0.7 * off[0.0]


def test_both_halves_are_told_as_one_run(images):
    told = []
    recipe = Recipe.of(**TAUGHT, batch_size=16)
    fit(hasher_of(recipe), images, recipe=recipe, options=Options(device="cpu", watch=told.append))
    epochs = [figures["epoch"] for figures in told]
    assert epochs == sorted(epochs)
    assert set(epochs) == set(range(1, 7))
    steps = [figures["step"] for figures in told]
    assert steps == sorted(set(steps))
    assert steps[-1] == told[-1]["steps"] == told[0]["steps"] == 2 * (3 * 60 // 16)


@pytest.mark.parametrize("stop", [1, 2, 4, 5])  # epochs: within the teacher's, its last, and after
def test_a_run_resumed_in_either_half_ends_like_one_that_was_not_stopped(images, tmp_path, stop):
    recipe = Recipe.of(**TAUGHT)
    whole = fit(hasher_of(recipe), images, recipe=recipe, options=Options(device="cpu"))
    options = Options(device="cpu", checkpoint=tmp_path / "checkpoint.safetensors")

    def interrupt(figures):
        if figures["epoch"] >= stop:
            raise KeyboardInterrupt

    options.watch = interrupt
    with pytest.raises(KeyboardInterrupt):
        fit(hasher_of(recipe), images, recipe=recipe, options=options)
    seen = []
    options.watch, options.resume = lambda figures: seen.append(figures["epoch"]), True
    again = fit(hasher_of(recipe), images, recipe=recipe, options=options)
    assert min(seen) > stop
    assert np.array_equal(again.outputs(images), whole.outputs(images))


def test_a_teacher_of_another_recipe_is_not_gone_on_with(images, tmp_path):
    recipe = Recipe.of(**TAUGHT)
    options = Options(device="cpu", checkpoint=tmp_path / "checkpoint.safetensors")
    fit(hasher_of(recipe), images, recipe=recipe, options=options)
    options.checkpoint.unlink()
    options.resume = True
    other = recipe.changed(closer=1.25)
    with pytest.raises(InputError, match=r"teacher.*another recipe: closer was 1\.5, and is now"):
        fit(hasher_of(other), images, recipe=other, options=options)


class OneSize(nn.Module):
    """As vision transformers are: positions are learned, so there are as many as there are."""

    def forward(self, x):
        assert x.shape[-1] == 32, "the input's width is not 32"
        return x.mean((2, 3))


def test_a_backbone_of_one_size_is_told_and_the_way_out(network):
    network.backbone = OneSize()
    with pytest.raises(UsageError, match=r"vit takes no enlarged .*is not 32.* closer = 0"):
        check_enlarging(enlarging(network, 1.5), plain(32), "vit")


@pytest.mark.parametrize("closer", [-1.0, 0.5, 1.0, 4.5, float("nan")])
def test_a_factor_that_does_not_enlarge_is_refused(closer):
    with pytest.raises(UsageError, match="give 0 for none, or more than 1 up to 4"):
        Recipe.of(mode="finetune", closer=closer)
