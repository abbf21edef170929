"""What computes u and features: ONNX Runtime on a processor, torch on a CUDA device."""

from typing import TYPE_CHECKING, Any, Protocol

import numpy as np
from numpy.typing import NDArray

from softhash.devices import usable_cores
from softhash.errors import InputError
from softhash.model.config import ModelConfig

if TYPE_CHECKING:
    from softhash.model.network import HashNetwork

Floats = NDArray[np.float32]


class Engine(Protocol):
    """A network that can be called with pictures or features as the config describes them."""

    batch_size: int  # what it works best with

    def __call__(self, inputs: NDArray[Any]) -> tuple[Floats, Floats]:
        """Return u (n, bits) and features (n, d)."""


class OnnxEngine:
    """Runs an ONNX graph on the processor; torch is not needed."""

    batch_size = 8  # measured: small batches are faster, see docs/architecture.md

    def __init__(self, graph: bytes, config: ModelConfig, name: str = "the graph") -> None:
        import onnxruntime

        options = onnxruntime.SessionOptions()
        options.intra_op_num_threads = usable_cores()
        # Threads that spin while they wait take the cores from the threads that decode.
        options.add_session_config_entry("session.intra_op.allow_spinning", "0")
        options.log_severity_level = 3
        try:
            self._session = onnxruntime.InferenceSession(
                graph, options, providers=["CPUExecutionProvider"]
            )
        except Exception as error:  # the runtime has an exception for each of its own troubles
            raise InputError(f"{name} cannot be run by ONNX Runtime: {error}") from error
        self._check(config, name)

    def _check(self, config: ModelConfig, name: str) -> None:
        takes = [config.size, config.size, 3] if config.backbone else [config.features]
        gives = {"u": config.bits} | ({"features": config.features} if config.backbone else {})
        given = self._session.get_inputs()
        found = {one.name: one.shape[-1] for one in self._session.get_outputs()}
        if len(given) != 1 or given[0].shape[1:] != takes or found != gives:
            shapes = ", ".join(f"{one.name} {one.shape}" for one in given)
            raise InputError(
                f"{name} takes {shapes} and gives {found}, but the config has {takes} and {gives}"
            )
        self._input = given[0].name

    def __call__(self, inputs: NDArray[Any]) -> tuple[Floats, Floats]:
        """Return u and features."""
        answers = self._session.run(None, {self._input: inputs})
        return answers[0], answers[-1] if len(answers) > 1 else inputs


class TorchEngine:
    """Runs a copy of a network on a CUDA device, whatever happens to the original."""

    batch_size = 128

    def __init__(self, network: "HashNetwork", device: str, *, bf16: bool = False) -> None:
        import copy

        import torch

        self._torch = torch
        self._device = device
        self._bf16 = bf16
        clone: Any = copy.deepcopy(network).to(device).eval()
        self._network = clone.to(memory_format=torch.channels_last)

    def __call__(self, inputs: NDArray[Any]) -> tuple[Floats, Floats]:
        """Return u and features."""
        torch = self._torch
        kind = torch.device(self._device).type
        with torch.inference_mode(), torch.autocast(kind, torch.bfloat16, enabled=self._bf16):
            u, features = self._network.both(torch.from_numpy(inputs).to(self._device))
        return u.cpu().numpy(), features.cpu().numpy()
