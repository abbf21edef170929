"""What every method has to do; it runs over all there are."""

import math
from typing import Optional, Union

import numpy as np
import pytest
import torch
from torch import nn

from softhash.errors import UsageError
from softhash.model.heads import make_head
from softhash.training.methods import METHODS, Method, Shallow, create, describe

BITS, CLASSES, ITEMS = 16, 6, 240
SHALLOW = [name for name, kind in METHODS.items() if issubclass(kind, Shallow)]
DEEP = [name for name in METHODS if name not in SHALLOW]


def batch(kind, n=24, width=BITS):
    generator = torch.Generator().manual_seed(0)
    labels = {
        "mixed": (torch.rand(n, CLASSES, generator=generator) < 0.35).int(),
        "one label": torch.eye(CLASSES).int().repeat(n // CLASSES, 1),
        "all labels": torch.ones(n, CLASSES).int(),
        "nothing shared": torch.eye(CLASSES).int(),
        "no labels": torch.zeros(n, CLASSES).int(),
        "one picture": torch.ones(1, CLASSES).int(),
    }[kind]
    u = torch.rand(len(labels), width, generator=generator) * 1.8 - 0.9
    return u.requires_grad_(), labels, torch.arange(len(labels))


KINDS = ["mixed", "one label", "all labels", "nothing shared", "no labels", "one picture"]


@pytest.mark.parametrize("kind", KINDS)
@pytest.mark.parametrize("name", DEEP)
def test_loss_is_finite_and_reaches_every_output(name, kind):
    torch.manual_seed(0)
    method = create(name, BITS, CLASSES)
    u, labels, index = batch(kind, width=method.width)
    method.start(labels)
    loss = method(u, labels, index)
    assert loss.shape == ()
    assert torch.isfinite(loss)
    loss.backward()
    assert torch.isfinite(u.grad).all()
    if kind == "mixed":
        assert (u.grad != 0).any(dim=1).all()
        assert all(p.grad is not None and (p.grad != 0).any() for p in method.parameters())


@pytest.mark.parametrize("name", DEEP)
def test_the_same_seed_gives_the_same_loss(name):
    losses = []
    for _ in range(2):
        torch.manual_seed(3)
        method = create(name, BITS, CLASSES)
        method.start(batch("mixed")[1])
        losses.append(method(*batch("mixed", width=method.width)).item())
    assert losses[0] == losses[1]


@pytest.mark.parametrize("name", DEEP)
def test_training_a_head_brings_pictures_that_share_labels_together(name):
    """On features that show the labels through noise, precision rises above an untrained head's."""
    torch.manual_seed(0)
    features, labels = toy()
    method = create(name, BITS, CLASSES)
    head = make_head(32, BITS, **method.head_options(hidden=0, dropout=0.0))
    nn.init.normal_(head.output.weight, std=0.2)
    method.start(labels)
    optimiser = torch.optim.Adam([*head.parameters(), *method.parameters()], lr=0.01)
    before = ranked_precision(method, head, features, labels)
    for _ in range(150):
        chosen = torch.randperm(ITEMS)[:64]
        optimiser.zero_grad()
        method(head(features[chosen]), labels[chosen], chosen).backward()
        optimiser.step()
    assert ranked_precision(method, head, features, labels) > before + 0.03


def ranked_precision(method, head, features, labels):
    """Precision by what the method ranks by: for a quantiser, with the codebooks it hands over.

    Vectors of an untrained head keep all of the features, so the nearest 20 are no test for it.
    """
    if method.ranking == "hamming":
        return precision(head(features), labels)
    method.finish(head.eval(), lambda: features)
    distance = head.distances(features, head(features) > 0)
    head.train()
    return precision_by(distance, labels, n=ITEMS // 2)


def toy():
    """Features that show labels through noise."""
    labels = (torch.rand(ITEMS, CLASSES) < 0.3).int()
    labels[:, 0] |= (labels.sum(dim=1) == 0).int()
    return labels.float() @ torch.randn(CLASSES, 32) + 0.5 * torch.randn(ITEMS, 32), labels


def fitted(name, features, labels, seed=0):
    method = create(name, BITS, CLASSES)
    options = method.head_options(hidden=0, dropout=0.0)
    head = make_head(features.shape[1], BITS, **options).eval()
    torch.manual_seed(seed)
    method.fit_head(head, features, labels)
    return head


@pytest.mark.parametrize("name", SHALLOW)
def test_a_fitted_head_ranks_better_than_chance_and_the_same_seed_gives_the_same(name):
    torch.manual_seed(0)
    features, labels = toy()
    head = fitted(name, features, labels)
    u = head(features)
    assert u.shape == (ITEMS, BITS)
    assert torch.isfinite(u).all()
    assert torch.equal(u, fitted(name, features, labels)(features))
    chance = precision(u[torch.randperm(ITEMS)], labels)
    assert fitted_precision(name, head, features, labels) > chance + 0.03


def fitted_precision(name, head, features, labels):
    """Precision by what a shallow method ranks by."""
    if METHODS[name].ranking == "hamming":
        return precision(head(features), labels)
    return precision_by(head.distances(features, head(features) > 0), labels)


@pytest.mark.parametrize("kind", ["one label", "all labels", "nothing shared", "no labels"])
@pytest.mark.parametrize("name", SHALLOW)
def test_a_head_is_fitted_to_odd_labels_too(name, kind):
    _, labels, _ = batch(kind)
    torch.manual_seed(0)
    features = torch.randn(len(labels), 40)
    assert torch.isfinite(fitted(name, features, labels)(features)).all()


def precision(u, labels, n=20):
    """Share of each picture's nearest by code that share a label with it."""
    b = torch.sign(u.detach())
    return precision_by(-(b @ b.T), labels, n)


def precision_by(distance, labels, n=20):
    distance = distance.detach().clone().fill_diagonal_(float("inf"))
    nearest = distance.argsort(dim=1, stable=True)[:, :n]
    relevant = (labels.float() @ labels.float().T > 0).float()
    return relevant.gather(1, nearest).mean().item()


@pytest.mark.parametrize("name", METHODS)
def test_settings_are_complete_and_rebuild_the_method(name):
    method = create(name, BITS, CLASSES)
    again = create(name, BITS, CLASSES, **method.settings())
    assert again.settings() == method.settings()


def test_unknown_names_are_met_with_a_guess():
    with pytest.raises(UsageError, match="unknown method 'idnh'; did you mean 'idhn'"):
        create("idnh", 16, 3)
    with pytest.raises(UsageError, match="setting of method 'idhn' 'alhpa'; did you mean 'alpha'"):
        create("idhn", 16, 3, alhpa=1)


def test_every_method_describes_itself_in_a_line():
    assert set(describe()) == set(METHODS)
    assert all(line.endswith(".") and len(line) < 100 for line in describe().values())


@pytest.mark.parametrize(
    ("name", "setting", "value", "message"),
    [
        ("idhn", "alpha", "5 * q", "give a number, or one such as '5/q'"),
        ("idhn", "alpha", "1", "give a number"),
        ("mlh", "lambda_", float("nan"), "give a number"),
        ("idhn", "lambda_", True, "give a number"),
        ("orthohash", "batch_norm", "x", "give true or false"),
        ("ksh", "anchors", 2.5, "give a whole number"),
        ("itq", "iterations", -1, "give a whole number"),
    ],
)
def test_a_setting_of_another_type_is_refused_before_anything_runs(name, setting, value, message):
    with pytest.raises(UsageError, match=message):
        create(name, 16, 5, **{setting: value})


def plugin_with(annotation, default):
    """A method of somebody else, with one setting."""

    class Foreign(Method):
        name = "foreign"

        def __init__(self, bits, classes, *, setting: annotation = default):
            super().__init__(bits, classes)
            self.setting = setting

    return Foreign


@pytest.mark.parametrize(
    ("annotation", "value"),
    [
        (tuple[int, ...], (64, 32)),
        (list[float], [0.5]),
        (dict[str, float], {"a": 0.5}),
        (float | int, 0.5),
        (float | str, "auto"),
        (int | float | None, None),
        (Union[int, float], 0.5),  # noqa: UP007 - as older plug-ins write it
        (Optional[int], 3),  # noqa: UP045
        (bool | int, 7),
        (bool | None, None),
        (int, -1),
        (int, np.int64(300)),
        (float, np.float32(0.5)),
        (float, np.int64(3)),
        (str, "auto"),
        ("int", "not looked at"),
    ],
)
def test_a_setting_that_fits_its_annotation_is_taken(annotation, value):
    assert create(plugin_with(annotation, 1), 16, 5, setting=value).setting is value


@pytest.mark.parametrize(
    ("annotation", "value", "message"),
    [
        (float | int, "auto", "give a number"),
        (float | int, True, "give a number"),
        (float | None, math.inf, "give a number"),
        (float, np.float32("nan"), "give a number"),
        pytest.param(float, 10**400, "too large", id="10**400"),
        (int, np.float32(2), "give a whole number"),
        (int, None, "give a whole number"),
        (bool | None, 1, "give true or false"),
    ],
)
def test_a_setting_that_does_not_fit_its_annotation_is_refused(annotation, value, message):
    with pytest.raises(UsageError, match=message):
        create(plugin_with(annotation, 0.5), 16, 5, setting=value)


@pytest.mark.parametrize(("annotation", "default"), [(int, None), (int, -1), (float, math.inf)])
def test_the_default_of_a_setting_can_be_given(annotation, default):
    kind = plugin_with(annotation, default)
    assert create(kind, 16, 5, **create(kind, 16, 5).settings()).setting == default
