"""One optimisation step, eager or captured as a CUDA graph.

A step takes a batch, and ends with the weights moved and the loss on the device.
What is random in it (dropout, augmentation) is seeded by the caller. On a GPU the first steps run
eagerly, as the capture needs; from then on the whole step, optimiser included, is one launch.
"""

from collections.abc import Callable
from typing import Any

import torch
from torch import Tensor, nn

from softhash.training.distributed import gather
from softhash.training.methods import Method

REACH = 3.0  # the running mean is of one so many-th of the steps, or of its decay's
EAGER_STEPS = 3  # before a capture, so that every buffer exists

Forward = Callable[[Tensor], tuple[Tensor, Tensor | float]]  # inputs → u, the teacher's loss


class Step:
    """A training step on a batch of inputs.

    Args:
        forward: maps a batch of inputs to u and the teacher's loss, 0 without a teacher.
        method: the loss on u.
        optimiser: of the weights of both.
        labels: of the whole train set (n, classes), multi-hot, on the device that trains.
        average: a running mean of the weights to keep up to date, or None.

    """

    def __init__(
        self,
        forward: Forward,
        method: Method,
        optimiser: torch.optim.Optimizer,
        labels: Tensor,
        average: "Average | None",
    ) -> None:
        self._forward = forward
        self._method = method
        self._optimiser = optimiser
        self._labels = labels
        self._average = average

    def __call__(self, index: Tensor, chosen: Tensor) -> Tensor:
        """Move the weights, and return the loss, detached.

        Args:
            index: positions of the batch in the train set (b,), on the device that trains.
            chosen: its inputs, on the device that trains.

        """
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

    def __call__(self, index: Tensor, chosen: Tensor) -> Tensor:
        """Move the weights, and return the loss: a fixed place that the next step overwrites.

        Args:
            index: positions of the batch in the train set (b,), on the device that trains.
            chosen: its inputs, on the device that trains.

        """
        if self._taken < EAGER_STEPS:
            self._taken += 1
            self._places = chosen.clone(), self._labels[index], index.clone()
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
    """A running mean of a module's weights.

    In a short run it reaches back over a third of the steps, so that nothing is left in it of the
    weights that the run started from.

    Args:
        module: whose trainable weights are averaged.
        decay: share of the mean that stays at each update; of early ones less does.

    """

    def __init__(self, module: nn.Module, decay: float) -> None:
        self._weights: list[Tensor] = [p for p in module.parameters() if p.requires_grad]
        self._means = [weight.detach().clone() for weight in self._weights]
        self._decay = decay
        self._updates = torch.zeros((), device=self._weights[0].device)  # a captured step counts

    def update(self) -> None:
        """Move the mean towards the weights."""
        with torch.no_grad():
            share = (REACH / (REACH + 1 + self._updates)).clamp_min(1 - self._decay)
            gaps = torch._foreach_sub(self._weights, self._means)
            torch._foreach_mul_(gaps, share)
            torch._foreach_add_(self._means, gaps)
            self._updates += 1

    def swap(self) -> None:
        """Put the mean in the weights' place, and the weights in the mean's."""
        with torch.no_grad():
            for weight, mean in zip(self._weights, self._means, strict=True):
                kept = weight.clone()
                weight.copy_(mean)
                mean.copy_(kept)

    def state(self) -> list[Tensor]:
        """Return the means and the number of updates, to be saved or overwritten."""
        return [*self._means, self._updates]
