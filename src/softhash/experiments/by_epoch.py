"""Metrics of the queries after every epoch, for papers that report the best epoch of them.

The metrics of a row are those of the last epoch: no query chooses anything. A best epoch is chosen
on the test queries, so it can be compared with such papers, and with nothing else. What a method
does after the last epoch (OrthoHash puts its normalisation into the weights, a running mean takes
the place of the weights) is not in the epochs before.
"""

from collections.abc import Callable, Iterator, Mapping
from contextlib import contextmanager
from dataclasses import replace
from typing import Any

from torch import nn

from softhash.training.options import Options

CUTS = (100, 5000)
MEASURES = ("map@5000", "ndcg@100")
DIGITS = 6

ByEpoch = dict[str, list[float]]


def watch_epochs(
    options: Options, network: nn.Module, measure: Callable[[], Mapping[str, float]], skipped: int
) -> tuple[Options, ByEpoch]:
    """Return options by which every epoch is measured, and where the values will be.

    Args:
        options: where, and what else is reported.
        network: that is trained; left in the modes in which it was.
        measure: computes the metrics of the network as it is.
        skipped: how many epochs are not measured: those of a teacher.

    """
    found: ByEpoch = {name: [] for name in MEASURES}

    def on_epoch(figures: dict[str, Any]) -> None:
        if figures["epoch"] > skipped:
            with unchanged_modes(network):
                metrics = measure()
            for name in MEASURES:
                found[name].append(round(metrics[name], DIGITS))
        options.on_epoch(figures)

    return replace(options, on_epoch=on_epoch), found


@contextmanager
def unchanged_modes(network: nn.Module) -> Iterator[None]:
    """Let every module of a network be in training or evaluation mode afterwards as it was."""
    modes = [(module, module.training) for module in network.modules()]
    try:
        yield
    finally:
        for module, training in modes:
            module.training = training
