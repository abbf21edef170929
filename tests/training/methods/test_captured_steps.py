"""Every deep method as a training step: like a plain loop, and captured on a GPU like eager."""

import pytest
import torch

from softhash.model.heads import make_head
from softhash.training.loop import _forward
from softhash.training.methods import METHODS, Shallow, create
from softhash.training.recipe import Recipe
from softhash.training.step import CapturedStep, Step

DEEP = [name for name, kind in METHODS.items() if not issubclass(kind, Shallow)]
BITS, CLASSES, ITEMS, STEPS = 16, 6, 400, 20


def parts(name, device):
    """Make a method, a head, an optimiser and a train set."""
    torch.manual_seed(1)
    labels = (torch.rand(ITEMS, CLASSES) < 0.3).int().to(device)
    features = torch.randn(ITEMS, 32).to(device)
    method = create(name, BITS, CLASSES).to(device)
    head = make_head(32, BITS, **method.head_options(hidden=0, dropout=0.0)).to(device)
    method.start(labels)
    weights = [*head.parameters(), *method.parameters()]
    optimiser = torch.optim.Adam(weights, lr=0.001, capturable=device == "cuda")
    return method, head, optimiser, features, labels


def batches():
    return [(torch.arange(64) * 7 + i) % ITEMS for i in range(STEPS)]


def step_losses(kind, name, device):
    """Train by the loop's own step, with the loop's own forward function."""
    method, head, optimiser, features, labels = parts(name, device)
    forward = _forward(head, Recipe.with_defaults(method=name), torch.device(device), None)
    step = kind(forward, method, optimiser, labels, None)
    found = []
    for i, batch in enumerate(batches()):
        index = batch.to(device)
        found.append(step(index, features[index]).item())
        if i == STEPS // 2:
            method.epoch()  # what it changes must reach a step that is captured already
    return found


def plain_losses(name):
    """Train by a loop that shares nothing with the step."""
    method, head, optimiser, features, labels = parts(name, "cpu")
    found = []
    for i, batch in enumerate(batches()):
        optimiser.zero_grad()
        loss = method(head(features[batch]), labels[batch], batch)
        loss.backward()
        optimiser.step()
        found.append(loss.item())
        if i == STEPS // 2:
            method.epoch()
    return found


@pytest.mark.parametrize("name", DEEP)
def test_a_step_is_the_same_as_a_plain_loop(name):
    assert step_losses(Step, name, "cpu") == pytest.approx(plain_losses(name), rel=1e-5)


@pytest.mark.gpu
@pytest.mark.skipif(not torch.cuda.is_available(), reason="no CUDA device")
@pytest.mark.parametrize("name", DEEP)
def test_a_captured_step_is_the_same_as_an_eager_one(name):
    eager, captured = (step_losses(kind, name, "cuda") for kind in (Step, CapturedStep))
    assert captured == pytest.approx(eager, rel=1e-3)
