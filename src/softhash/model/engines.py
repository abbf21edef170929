"""What computes u and features: ONNX Runtime on a processor, torch on a CUDA device."""

import ctypes
import os
from typing import TYPE_CHECKING, Any, Protocol
from weakref import WeakSet

import numpy as np
from numpy.typing import NDArray

from softhash.devices import has_vnni, usable_cores
from softhash.errors import InputError
from softhash.model._runtime import import_runtime
from softhash.model.config import INT8, ModelConfig
from softhash.model.onnx_graph import FEATURES, OUTPUTS, PIXELS, check_graph

if TYPE_CHECKING:
    from softhash.model.network import HashNetwork

Floats = NDArray[np.float32]

MAX_REASON = 300  # characters of what the runtime says

_sessions: "WeakSet[Any]" = WeakSet()


def _keep_sessions() -> None:
    """Never free, in a child, sessions of its parent: that waits for threads it does not have."""
    for session in _sessions:
        ctypes.pythonapi.Py_IncRef(ctypes.py_object(session))


if hasattr(os, "register_at_fork"):
    os.register_at_fork(after_in_child=_keep_sessions)


class Engine(Protocol):
    """A network that can be called with pictures or features as the config describes them."""

    batch_size: int  # what it works best with

    def __call__(self, inputs: NDArray[Any]) -> tuple[Floats, Floats]:
        """Return u (n, bits) and features (n, d)."""


class OnnxEngine:
    """Runs an ONNX graph on the processor; torch is not needed."""

    batch_size = 8  # measured: small batches are faster, see docs/architecture.md

    def __init__(self, graph: bytes, config: ModelConfig, name: str = "the graph") -> None:
        check_graph(graph, name, int8=config.engine == INT8)
        runtime = import_runtime()
        options = runtime.SessionOptions()
        options.intra_op_num_threads = usable_cores()
        # Threads that spin while they wait take the cores from the threads that decode.
        options.add_session_config_entry("session.intra_op.allow_spinning", "0")
        # What was looked at is ONNX: it must not be read as the runtime's own format.
        options.add_session_config_entry("session.load_model_format", "ONNX")
        if not has_vnni():  # products of uint8 and int8 could overflow: an exact, slower way
            options.add_session_config_entry("session.x64quantprecision", "1")
        options.log_severity_level = 4  # what is wrong is in the exception
        try:
            self._session = runtime.InferenceSession(
                # A second try with the same provider would print what went wrong with the first.
                graph,
                options,
                providers=["CPUExecutionProvider"],
                enable_fallback=0,
            )
        except Exception as error:  # the runtime has an exception for each of its own troubles
            raise InputError(
                f"{name} cannot be run by ONNX Runtime: {_first_line(error)}"
            ) from error
        _sessions.add(self._session)
        self._name = name
        self._widths = {OUTPUTS: config.bits}
        if config.backbone:
            self._widths[FEATURES] = config.features
        self._check(config)

    def _check(self, config: ModelConfig) -> None:
        """Raise unless inputs and outputs are those of the config."""
        if config.backbone:
            takes = (PIXELS, "tensor(uint8)", [config.size, config.size, 3])
        else:
            takes = (FEATURES, "tensor(float)", [config.features])
        gives = [(name, "tensor(float)", width) for name, width in self._widths.items()]
        inputs, outputs = self._session.get_inputs(), self._session.get_outputs()
        given = [(one.name, one.type, one.shape[1:]) for one in inputs]
        found = [(one.name, one.type, one.shape[-1] if one.shape else 0) for one in outputs]
        if given != [takes] or found != gives:
            raise InputError(
                f"{self._name} takes {given[:4]} and gives {found[:4]}, "
                f"but the config has {[takes]} and {gives}",
                "the files are of different models",
            )

    def __call__(self, inputs: NDArray[Any]) -> tuple[Floats, Floats]:
        """Return u and features.

        Raises:
            InputError: the graph fails, or gives what it did not announce.

        """
        given = FEATURES if len(self._widths) == 1 else PIXELS
        try:
            answers = self._session.run(list(self._widths), {given: inputs})
        except Exception as error:  # shapes that do not fit, memory that is not there
            raise InputError(f"{self._name} fails: {_first_line(error)}") from error
        for answer, (name, width) in zip(answers, self._widths.items(), strict=True):
            if answer.shape != (len(inputs), width):
                raise InputError(
                    f"{self._name} gives {name} of shape {answer.shape} for {len(inputs)} inputs, "
                    f"but the config has {width} numbers for each"
                )
            if not np.isfinite(answer).all():
                raise InputError(f"{self._name} gives NaN or infinity", "did training diverge?")
        return answers[0], answers[-1] if len(answers) > 1 else inputs


def _first_line(error: Exception) -> str:
    return str(error).strip().partition("\n")[0][:MAX_REASON]


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
