"""The network behind a hasher: built when it is needed, and noticed when it is trained."""

import copy
import os
from collections.abc import Callable, Mapping
from concurrent.futures import ThreadPoolExecutor
from dataclasses import replace
from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING, Self

from softhash.errors import UsageError
from softhash.model import weights
from softhash.model.config import INT8, HeadOptions, ModelConfig
from softhash.model.engine_choice import make_graph
from softhash.model.engines import Engine, OnnxEngine, TorchEngine
from softhash.model.folder import GRAPH, WEIGHTS, check_part, read_config, read_part, sha256

if TYPE_CHECKING:
    from softhash.model.network import HashNetwork

_ON_CPU = "leave the device out, or use the engine fp32"
_SAVED = "saved"  # stands for the fingerprint of a network that is as its files have it


class LazyNetwork:
    """A network, the files it was loaded from, and the engines that compute with it.

    As long as nobody trains the network, weights and graph are those of its files, and torch is
    not imported. Engines are made again when the network has changed.

    Args:
        config: the model's settings.
        start: where the backbone starts, as `softhash.model.backbones.build` takes it.

    """

    def __init__(self, config: ModelConfig, start: str | os.PathLike[str] | None = None) -> None:
        self.config = config
        self._start = start
        self._read: Callable[[str], bytes] | None = None  # a saved model's files, by name
        self._name = ""  # what errors call them
        self._saved = ""  # the fingerprint that the saved network has, once it was built
        self._network: HashNetwork | None = None
        self._fingerprint = weights.CachedFingerprint()
        self._engines: dict[str, tuple[tuple[int, str], Engine]] = {}

    @classmethod
    def load(cls, folder: Path) -> Self:
        """Read a model's folder; the weights are hashed now, and used when they are asked for."""
        config = read_config(folder)
        weights.check_shapes(folder / WEIGHTS, config)
        state = cls(config)
        state._read = partial(read_part, folder.resolve(), config=config)
        state._name = str(folder.resolve() / WEIGHTS)
        with ThreadPoolExecutor(1) as beside:  # on another core, while the graph is read
            checked = beside.submit(check_part, folder, WEIGHTS, config)
            graph = read_part(folder, GRAPH, config)
            engine = OnnxEngine(graph, config, str(folder / GRAPH))
            state._engines["cpu"] = (os.getpid(), _SAVED), engine
            checked.result()
        return state

    @classmethod
    def from_parts(cls, config: ModelConfig, parts: Mapping[str, bytes]) -> Self:
        """Take weights and graph that are in memory, by the names of their files."""
        state = cls(config.with_sha256({name: sha256(data) for name, data in parts.items()}))
        state._read, state._name = parts.__getitem__, "the model's weights"
        return state

    @property
    def network(self) -> "HashNetwork":
        """The torch module, built when it is first asked for."""
        if self._network is None:
            if self._read is None:
                self._network = weights.build(self.config, self._start)
            else:
                data = self._read(WEIGHTS)
                self._network = weights.build(self.config)
                weights.fill(self._network, data, self._name)
                self._saved = self._fingerprint(self._network)
        return self._network

    def replace_head(self, options: HeadOptions) -> None:
        """Give the network another, untrained head."""
        self.config = replace(self.config, **options)
        if self._network is not None:
            self._network.head = weights.build(self.config, self._start).head

    def identity(self) -> str:
        """Return the SHA-256 of the weights as they are now, and of the engine but for fp32."""
        found = self.config.sha256[WEIGHTS] if self._reader() else sha256(self.to_bytes())
        if self.config.engine == INT8:
            return sha256(f"{found} {INT8}".encode())
        return found

    def to_bytes(self) -> bytes:
        """Write the weights as safetensors."""
        read = self._reader()
        return read(WEIGHTS) if read else weights.to_bytes(self.network)

    def graph(self) -> bytes:
        """Write the ONNX graph."""
        if read := self._reader():
            return read(GRAPH)
        if self.config.engine == INT8:
            return make_graph(self.config, self.to_bytes())
        from softhash.model.onnx_export import to_onnx

        network = copy.deepcopy(self.network).cpu().eval()
        return to_onnx(network, self.config.size, self.config.features)

    def engine(self, device: str, *, bf16: bool = False) -> Engine:
        """Return what computes on that device; a new one when training has changed the network."""
        if bf16 and device == "cpu":
            raise UsageError("bf16 is for CUDA devices, and this runs on cpu", "leave it out")
        if self.config.engine == INT8 and device != "cpu":
            raise UsageError(f"int8 is for the processor, and this runs on {device}", _ON_CPU)
        key = f"{device} {'bf16' if bf16 else ''}".strip()
        version = os.getpid(), self._version()  # threads of an engine do not survive a fork
        if key not in self._engines or self._engines[key][0] != version:
            engine: Engine = (
                OnnxEngine(self.graph(), self.config)
                if device == "cpu"
                else TorchEngine(self.network, device, bf16=bf16)
            )
            self._engines[key] = version, engine
        return self._engines[key][1]

    def _version(self) -> str:
        if self._network is None and self._read:
            return _SAVED
        found = self._fingerprint(self.network)
        return _SAVED if self._read and self._saved == found else found

    def _reader(self) -> Callable[[str], bytes] | None:
        """Return what reads the saved files, where they hold the network as it is now."""
        return self._read if self._read and self._version() == _SAVED else None
