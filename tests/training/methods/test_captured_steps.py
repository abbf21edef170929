"""Every deep method as a captured step: the same losses as step by step. Needs a GPU."""

import pytest
import torch

from softhash.model.heads import make_head
from softhash.training.methods import METHODS, Shallow, create
from softhash.training.step import CapturedStep, Step

pytestmark = [
    pytest.mark.gpu,
    pytest.mark.skipif(not torch.cuda.is_available(), reason="no CUDA device"),
]
DEEP = [name for name, kind in METHODS.items() if not issubclass(kind, Shallow)]
BITS, CLASSES, ITEMS, STEPS = 16, 6, 400, 20


def losses(kind, name):
    torch.manual_seed(1)
    labels = (torch.rand(ITEMS, CLASSES) < 0.3).int().cuda()
    features = torch.randn(ITEMS, 32).cuda()
    method = create(name, BITS, CLASSES).cuda()
    head = make_head(32, BITS, **method.head_options(hidden=0, dropout=0.0)).cuda()
    method.start(labels)
    weights = [*head.parameters(), *method.parameters()]
    optimiser = torch.optim.Adam(weights, lr=0.001, capturable=True)
    step = kind(head, method, optimiser, features, labels, None)
    found = []
    for i in range(STEPS):
        found.append(step((torch.arange(64) * 7 + i) % ITEMS).item())
        if i == STEPS // 2:
            method.epoch()  # what it changes must reach a step that is captured already
    return found


@pytest.mark.parametrize("name", DEEP)
def test_a_captured_step_is_the_same_as_an_eager_one(name):
    assert losses(CapturedStep, name) == pytest.approx(losses(Step, name), rel=1e-3)
