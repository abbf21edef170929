"""Training on a GPU from decoded pictures on disk, beside the same pictures on the GPU itself.

``python -m benchmarks.training_from_disk [PICTURES [EPOCHS]]`` writes random pictures of 227×227,
by default as many as COCO has here, 18 GB, into a temporary folder (`TMPDIR` chooses the disk). The
same loop then trains EfficientNet-Lite0 from memory of the GPU and from that file, and the weights
of both runs are compared. Nothing to measure without CUDA.
"""

import sys
import tempfile
from pathlib import Path
from typing import Any

import numpy as np
import torch

from benchmarks.training import BITS, CLASSES, SIDE
from softhash.data.row_file import RowFile
from softhash.model.hasher import Hasher
from softhash.training.batches import bring_near
from softhash.training.loop import make_run, train
from softhash.training.methods import create
from softhash.training.pictures import Inputs, PictureRows
from softhash.training.recipe import Recipe
from softhash.training.torch_state import preserve_torch_state

ITEMS, EPOCHS = 117_266, 2
AT_ONCE = 4096
RECIPE: dict[str, Any] = {"mode": "finetune", "augment": False, "average": 0.0}


def main(items: int, epochs: int) -> None:
    """Measure both ways, and compare what they learned."""
    if not torch.cuda.is_available():
        return
    with tempfile.TemporaryDirectory() as folder:
        pictures = _write(Path(folder, "pictures.npy"), items)
        size = pictures.nbytes / 1e9
        print(f"{items:,} pictures of {SIDE}×{SIDE}, {size:.1f} GB", flush=True)
        disk, learned = _measure(pictures, epochs)
        print(f"from disk: {disk:,.0f} pictures per second", flush=True)
        memory, other = _measure(bring_near(pictures, torch.device("cuda")), epochs)
        print(f"from the GPU's memory: {memory:,.0f}; ratio {disk / memory:.3f}", flush=True)
        same = all(torch.equal(learned[name], other[name]) for name in learned)
        print(f"the same weights, bit for bit: {same}", flush=True)


def _write(path: Path, items: int) -> PictureRows:
    """Write random pictures, a few thousand different ones in turn."""
    some = np.random.default_rng(0).integers(0, 256, (AT_ONCE, SIDE, SIDE, 3), dtype=np.uint8)
    shape = (items, SIDE, SIDE, 3)
    mapped = np.lib.format.open_memmap(path, mode="w+", dtype=np.uint8, shape=shape)
    for start in range(0, items, AT_ONCE):
        mapped[start : start + AT_ONCE] = some[: items - start]
    mapped.flush()
    return PictureRows(RowFile.of(mapped), np.arange(items))


def _measure(inputs: Inputs, epochs: int) -> tuple[float, dict[str, torch.Tensor]]:
    """Return the best pictures per second of an epoch, and the weights at the end."""
    device, figures = torch.device("cuda"), []
    recipe = Recipe.with_defaults(epochs=epochs, **RECIPE)
    labels = torch.rand(len(inputs), CLASSES, generator=torch.Generator().manual_seed(0)) < 0.1
    with preserve_torch_state(device):
        torch.manual_seed(0)
        network = Hasher("efficientnet_lite0", BITS, size=SIDE, weights=None).network
        run = make_run(network, create("idhn", BITS, CLASSES), recipe, device)
        train(run, recipe, inputs, labels.to(device, torch.uint8), on_epoch=figures.append)
    best = max(float(one["pictures_per_second"]) for one in figures)
    return best, {name: value.cpu() for name, value in network.state_dict().items()}


if __name__ == "__main__":
    main(*map(int, sys.argv[1:]), *(ITEMS, EPOCHS)[len(sys.argv) - 1 :])
