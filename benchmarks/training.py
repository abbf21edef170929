"""Training speed on a GPU, batches of 128 at 227×227, through the real loop.

Beside it, in the same run: the usual loop (a DataLoader over arrays in memory, fp32, eager, one
optimiser) and the bare forward and backward pass of the same network on one batch that never
changes, in the loop's own precision: the share of it is what everything else costs. Without a CUDA
device there is nothing to measure.
"""

import time
from typing import Any

import torch
from torch import nn
from torch.utils.data import DataLoader, TensorDataset

from benchmarks._timing import Row, row
from softhash.model.hasher import Hasher
from softhash.training.loop import make_run, train
from softhash.training.methods import create
from softhash.training.recipe import Recipe
from softhash.training.torch_state import preserve_torch_state

ITEMS, SIDE, BATCH, BITS, CLASSES = 4000, 227, 128, 48, 20
TARGETS = {"alexnet": 25_000, "efficientnet_lite0": 16_000}


def rows() -> list[Row]:
    """Measure both backbones."""
    if not torch.cuda.is_available():
        return []
    return [line for name in TARGETS for line in _rows(name)]


def _rows(name: str) -> list[Row]:
    torch.manual_seed(0)
    pixels = torch.randint(0, 256, (ITEMS, SIDE, SIDE, 3), dtype=torch.uint8)
    labels = (torch.rand(ITEMS, CLASSES) < 0.1).to(torch.uint8)
    ours = _real_loop(name, pixels, labels)
    bare = _bare_pass(name, pixels)
    usual = _usual_loop(name, pixels, labels)
    case = f"{name}, {BATCH} × {SIDE}²"
    return [
        row("training", f"{case}: usual loop", 1e6 / usual, 1e6 / ours, "µs/picture", None),
        row("training", f"{case}: bare pass", 1e6 / bare, 1e6 / ours, "µs/picture", None),
        row("training", f"{case}: target", 1e6 / TARGETS[name], 1e6 / ours, "µs/picture", 1.0),
    ]


def _network(name: str) -> Any:
    return Hasher(name, BITS, size=SIDE, weights=None).network


def _real_loop(name: str, pixels: torch.Tensor, labels: torch.Tensor, epochs: int = 12) -> float:
    """Return the best pictures per second of an epoch, as the loop itself reports them."""
    device = torch.device("cuda")
    recipe = Recipe.with_defaults(mode="finetune", epochs=epochs, augment=False, average=0.0)
    epochs_seen: list[dict[str, Any]] = []
    with preserve_torch_state(device):
        run = make_run(_network(name), create("idhn", BITS, CLASSES), recipe, device)
        train(run, recipe, pixels.to(device), labels.to(device), on_epoch=epochs_seen.append)
    return max(float(figures["pictures_per_second"]) for figures in epochs_seen)


def _bare_pass(name: str, pixels: torch.Tensor, steps: int = 30) -> float:
    """Return pictures per second of forward and backward alone, captured, on one batch."""
    network = _network(name).cuda().to(memory_format=torch.channels_last).train()
    for module in network.modules():
        if isinstance(module, nn.BatchNorm2d):
            module.eval()
    batch = pixels[:BATCH].cuda()

    def once() -> None:
        network.zero_grad(set_to_none=True)
        with torch.autocast("cuda", torch.bfloat16):
            features = network.features(batch)
        features.float().square().mean().backward()

    stream = torch.cuda.Stream()
    with torch.cuda.stream(stream):
        for _ in range(3):
            once()
    torch.cuda.synchronize()
    graph = torch.cuda.CUDAGraph()
    with torch.cuda.graph(graph):
        once()
    return _rate(graph.replay, steps)


def _usual_loop(name: str, pixels: torch.Tensor, labels: torch.Tensor) -> float:
    """Return pictures per second of the loop most repositories have."""
    network = _network(name).cuda().train()
    method = create("idhn", BITS, CLASSES)
    optimiser = torch.optim.Adam(network.parameters(), lr=1e-5)
    loader = DataLoader(
        TensorDataset(pixels, labels), BATCH, shuffle=True, num_workers=4, drop_last=True
    )
    seen, started = 0, 0.0
    for epoch in range(2):
        for number, (x, y) in enumerate(loader):
            if epoch == 1 and number == 0:
                torch.cuda.synchronize()
                started, seen = time.perf_counter(), 0
            optimiser.zero_grad()
            loss = method(network(x.cuda()), y.cuda(), torch.arange(len(x)))
            loss.backward()
            optimiser.step()
            loss.item()
            seen += len(x)
    return seen / (time.perf_counter() - started)


def _rate(step: Any, steps: int) -> float:
    torch.cuda.synchronize()
    started = time.perf_counter()
    for _ in range(steps):
        step()
    torch.cuda.synchronize()
    return steps * BATCH / (time.perf_counter() - started)


if __name__ == "__main__":
    from benchmarks.__main__ import show

    show(rows())
