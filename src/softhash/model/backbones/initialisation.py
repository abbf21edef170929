"""Random weights to start from."""

from torch import nn


def initialise(layer: nn.Module) -> None:
    """Draw one layer's weights after He et al. 2015, made for ReLU; biases start at 0.

    For `module.apply`. The draw is torch's, so `torch.manual_seed` makes it repeatable.
    """
    if isinstance(layer, nn.Conv2d | nn.Linear):
        nn.init.kaiming_normal_(layer.weight, mode="fan_in", nonlinearity="relu")
        if layer.bias is not None:
            nn.init.zeros_(layer.bias)
