"""Features of EfficientNet-Lite0 from JPEG files on a processor, the way `train --frozen` does.

Beside it, in turn on the same files: torch, eager and channels-last, as an ordinary model has it
(batch normalisation as a layer of its own, batches of 32), fed by the same decoder; and a bare loop
of ONNX Runtime over ready-made batches, which is the limit.
"""

import tempfile
from pathlib import Path
from unittest.mock import patch

import numpy as np
import torch

from benchmarks._timing import Row, best_times, row
from benchmarks.decode import draw
from softhash.data.image_set import ImageSet
from softhash.data.loading import load
from softhash.model.backbones.efficientnet_lite import SameConv2d
from softhash.model.engines import OnnxEngine
from softhash.model.hasher import Hasher

PHOTOS, SIDE, EAGER_BATCH = 256, 224, 32


def rows() -> list[Row]:
    """Measure and return the lines of the table."""
    hasher = Hasher("efficientnet_lite0", bits=48)
    hasher.network.to(memory_format=torch.channels_last).eval()
    with tempfile.TemporaryDirectory() as folder:
        images = draw(Path(folder), 500, 375, PHOTOS)
        graph = OnnxEngine(hasher._state.graph(), hasher._config)
        ready = np.zeros((graph.batch_size, SIDE, SIDE, 3), np.uint8)
        times = best_times(
            {
                "ours": lambda: hasher.features(images, device="cpu"),
                "eager": lambda: eager(hasher, images),
                "bare": lambda: [graph(ready) for _ in range(PHOTOS // graph.batch_size)],
            },
            rounds=3,
        )
    ms = {name: 1e3 * seconds / PHOTOS for name, seconds in times.items()}
    case = "features of 500-px photos"
    return [
        row("features", f"{case}: torch, eager", ms["eager"], ms["ours"], "ms/photo", 4.0),
        row("features", f"{case}: bare ONNX Runtime", ms["bare"], ms["ours"], "ms/photo", 0.75),
    ]


@torch.inference_mode()
def eager(hasher: Hasher, images: ImageSet) -> None:
    """Compute features as an ordinary torch script does."""
    with patch.object(SameConv2d, "normalised", lambda conv, x, norm: norm(conv(x))):
        for batch in load(images, SIDE, batch_size=EAGER_BATCH):
            hasher.network.features(torch.from_numpy(batch.pixels))


if __name__ == "__main__":
    from benchmarks.__main__ import show

    show(rows())
