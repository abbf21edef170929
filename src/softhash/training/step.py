"""One optimisation step, eager or captured as a CUDA graph.

A step takes positions in the train set, and ends with the weights moved and the loss on the device.
What is random in it (dropout, augmentation) is seeded by the caller. On a GPU the first steps run
eagerly, as the capture needs; from then on the whole step, optimiser included, is one launch.
"""

import math
from collections.abc import Callable
from typing import Any

import torch
from torch import Tensor, nn
from torch.nn import functional as F  # noqa: N812

from softhash.training.distributed import gather
from softhash.training.methods import Method

EAGER_STEPS = 3  # before a capture, so that every buffer exists
ZOOM = 0.75, 1.3  # of a picture's side that is seen: things are 1.33 to 0.77 times as large
STRETCH = 0.1  # of one side more than of the other, each by up to e^0.1

Forward = Callable[[Tensor], tuple[Tensor, Tensor | float]]  # u, and a loss beside the method's


def augmented(pixels: Tensor) -> Tensor:
    """Zoom, mirror and brighten pictures (n, h, w, 3) at random; the result is float.

    Zooming in crops, and zooming out puts mirrored borders around: on average things are as large
    as in whole pictures; crops alone would make a network unused to these.
    """
    n, device = len(pixels), pixels.device
    x = pixels.permute(0, 3, 1, 2).float()
    zoom = torch.empty(n, 1, device=device).uniform_(*map(math.log, ZOOM))
    stretch = torch.empty(n, 2, device=device).uniform_(-STRETCH, STRETCH)
    scale = torch.exp(zoom + stretch)
    shift = (torch.rand(n, 2, device=device) * 2 - 1) * (1 - scale).abs()
    mirror = torch.where(torch.rand(n, device=device) < 0.5, -1.0, 1.0)
    theta = torch.zeros(n, 2, 3, device=device)
    theta[:, 0, 0], theta[:, 1, 1] = scale[:, 0] * mirror, scale[:, 1]
    theta[:, :, 2] = shift
    grid = F.affine_grid(theta, list(x.shape), align_corners=False)
    x = F.grid_sample(x, grid, padding_mode="reflection", align_corners=False)
    brightness = torch.empty(n, 1, 1, 1, device=device).uniform_(0.8, 1.2)
    return (x * brightness).clamp(0, 255).permute(0, 2, 3, 1)


class Step:
    """A training step on inputs that are looked up by position."""

    def __init__(
        self,
        forward: Forward,
        method: Method,
        optimiser: torch.optim.Optimizer,
        inputs: Tensor,
        labels: Tensor,
        average: "Average | None",
    ) -> None:
        self._forward = forward
        self._method = method
        self._optimiser = optimiser
        self._inputs = inputs
        self._labels = labels
        self._average = average
        self._device = labels.device

    def __call__(self, positions: Tensor) -> Tensor:
        """Move the weights, and return the loss, detached."""
        index = positions.to(self._device)
        chosen = self._inputs[index.to(self._inputs.device)].to(self._device)
        return self._run(chosen, self._labels[index], index)

    def _run(self, chosen: Tensor, labels: Tensor, index: Tensor) -> Tensor:
        self._optimiser.zero_grad(set_to_none=True)
        u, teacher_loss = self._forward(chosen)
        loss: Tensor = self._method(gather(u), gather(labels), gather(index)) + teacher_loss
        loss.backward()  # type: ignore[no-untyped-call]
        self._optimiser.step()
        if self._average:
            self._average.update()
        return loss.detach()


class CapturedStep(Step):
    """The same step as one CUDA graph; the inputs of a step are copied into fixed places first."""

    def __init__(self, *arguments: Any) -> None:
        super().__init__(*arguments)
        self._taken = 0
        self._graph: torch.cuda.CUDAGraph | None = None

    def __call__(self, positions: Tensor) -> Tensor:
        """Move the weights, and return the loss: a fixed place that the next step overwrites."""
        index = positions.to(self._device)
        chosen = self._inputs[index.to(self._inputs.device)].to(self._device)
        if self._taken < EAGER_STEPS:
            self._taken += 1
            self._places = chosen, self._labels[index], index
            stream = torch.cuda.Stream()  # type: ignore[no-untyped-call]
            stream.wait_stream(torch.cuda.current_stream())
            with torch.cuda.stream(stream):
                loss = self._run(*self._places)
            torch.cuda.current_stream().wait_stream(stream)
            return loss
        for place, value in zip(self._places, (chosen, self._labels[index], index), strict=True):
            place.copy_(value)
        if self._graph is None:
            self._graph = torch.cuda.CUDAGraph()
            with torch.cuda.graph(self._graph):
                self._loss = self._run(*self._places)
        self._graph.replay()
        return self._loss


class Average:
    """A running mean of weights, kept beside them."""

    def __init__(self, module: nn.Module, decay: float) -> None:
        self._weights: list[Tensor] = [p for p in module.parameters() if p.requires_grad]
        self._means = [weight.detach().clone() for weight in self._weights]
        self._decay = decay

    def update(self) -> None:
        """Move the mean towards the weights."""
        with torch.no_grad():
            torch._foreach_lerp_(self._means, self._weights, 1 - self._decay)

    def swap(self) -> None:
        """Put the mean in the weights' place, and the weights in the mean's."""
        with torch.no_grad():
            for weight, mean in zip(self._weights, self._means, strict=True):
                kept = weight.clone()
                weight.copy_(mean)
                mean.copy_(kept)

    def state(self) -> list[Tensor]:
        """Return the means, to be saved or overwritten."""
        return self._means
