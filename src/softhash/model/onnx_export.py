"""A network as an ONNX graph, complete in one piece."""

import io
import warnings
from typing import cast

import torch
from torch import Tensor, nn

from softhash.model.network import HashNetwork
from softhash.model.onnx_graph import FEATURES, OPSET, OUTPUTS, PIXELS


class _Traced(nn.Module):
    """What the graph computes: u, and with a backbone also the features."""

    def __init__(self, network: HashNetwork) -> None:
        super().__init__()
        self.network = network

    def forward(self, inputs: Tensor) -> Tensor | tuple[Tensor, Tensor]:
        u, features = self.network.both(inputs)
        return u if self.network.backbone is None else (u, features)


def to_onnx(network: HashNetwork, size: int, features: int) -> bytes:
    """Export a network in evaluation mode, on the processor.

    The input is `pixels`, uint8 of shape (n, size, size, 3), or without a backbone `features`,
    float32 of shape (n, features); any n. The outputs are `u` and, with a backbone, `features`.
    """
    if network.backbone is None:
        example, given, answers = torch.zeros(2, features), FEATURES, [OUTPUTS]
    else:
        example = torch.zeros(2, size, size, 3, dtype=torch.uint8)
        given, answers = PIXELS, [OUTPUTS, FEATURES]
    file = io.BytesIO()
    with warnings.catch_warnings():
        # The exporter by tracing is called old, but the new one needs another package and writes
        # the weights beside the graph; it also warns of Python numbers, which sizes may become.
        warnings.simplefilter("ignore")
        torch.onnx.export(
            _Traced(network).eval(),
            (example,),
            cast(str, file),  # its annotation forgets what its documentation allows
            input_names=[given],
            output_names=answers,
            dynamic_axes={name: {0: "n"} for name in (given, *answers)},
            opset_version=OPSET,
            dynamo=False,
        )
    return file.getvalue()
