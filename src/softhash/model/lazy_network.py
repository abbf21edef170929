"""The network behind a hasher: built when it is needed, and noticed when it is trained."""

import copy
import os
from concurrent.futures import ThreadPoolExecutor
from dataclasses import replace
from pathlib import Path
from typing import TYPE_CHECKING, Self

from softhash.errors import UsageError
from softhash.model import weights
from softhash.model.config import HeadOptions, ModelConfig
from softhash.model.engines import Engine, OnnxEngine, TorchEngine
from softhash.model.folder import GRAPH, WEIGHTS, check_part, read_config, read_part, sha256

if TYPE_CHECKING:
    from softhash.model.network import HashNetwork

_SAVED = "saved"  # stands for the fingerprint of a network that is as its folder has it


class LazyNetwork:
    """A network, the folder it was loaded from, and the engines that compute with it.

    As long as nobody trains the network, weights and graph are those of its folder, and torch is
    not imported. Engines are made again when the network has changed.

    Args:
        config: the model's settings.
        start: where the backbone starts, as `softhash.model.backbones.build` takes it.

    """

    def __init__(self, config: ModelConfig, start: str | os.PathLike[str] | None = None) -> None:
        self.config = config
        self._start = start
        self._folder: Path | None = None
        self._saved = ""  # the fingerprint that the folder's network has, once it was built
        self._network: HashNetwork | None = None
        self._fingerprint = weights.CachedFingerprint()
        self._engines: dict[str, tuple[tuple[int, str], Engine]] = {}

    @classmethod
    def load(cls, folder: Path) -> Self:
        """Read a model's folder; the weights are hashed now, and used when they are asked for."""
        config = read_config(folder)
        weights.check_shapes(folder / WEIGHTS, config)
        state = cls(config)
        state._folder = folder.resolve()
        with ThreadPoolExecutor(1) as beside:  # on another core, while the graph is read
            checked = beside.submit(check_part, folder, WEIGHTS, config)
            graph = read_part(folder, GRAPH, config)
            engine = OnnxEngine(graph, config, str(folder / GRAPH))
            state._engines["cpu"] = (os.getpid(), _SAVED), engine
            checked.result()
        return state

    @property
    def network(self) -> "HashNetwork":
        """The torch module, built when it is first asked for."""
        if self._network is None:
            if self._folder is None:
                self._network = weights.build(self.config, self._start)
            else:
                data = read_part(self._folder, WEIGHTS, self.config)
                self._network = weights.build(self.config)
                weights.fill(self._network, data, str(self._folder / WEIGHTS))
                self._saved = self._fingerprint(self._network)
        return self._network

    def replace_head(self, options: HeadOptions) -> None:
        """Give the network another, untrained head."""
        self.config = replace(self.config, **options)
        if self._network is not None:
            self._network.head = weights.build(self.config, self._start).head

    def identity(self) -> str:
        """Return the SHA-256 of the weights as they are now."""
        return self.config.sha256[WEIGHTS] if self._saved_folder() else sha256(self.to_bytes())

    def to_bytes(self) -> bytes:
        """Write the weights as safetensors."""
        folder = self._saved_folder()
        return read_part(folder, WEIGHTS, self.config) if folder else weights.to_bytes(self.network)

    def graph(self) -> bytes:
        """Write the ONNX graph."""
        if folder := self._saved_folder():
            return read_part(folder, GRAPH, self.config)
        from softhash.model.onnx_export import to_onnx

        network = copy.deepcopy(self.network).cpu().eval()
        return to_onnx(network, self.config.size, self.config.features)

    def engine(self, device: str, *, bf16: bool = False) -> Engine:
        """Return what computes on that device; a new one when training has changed the network."""
        if bf16 and device == "cpu":
            raise UsageError("bf16 is for CUDA devices, and this runs on cpu", "leave it out")
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
        if self._network is None and self._folder:
            return _SAVED
        found = self._fingerprint(self.network)
        return _SAVED if self._folder and self._saved == found else found

    def _saved_folder(self) -> Path | None:
        """Return the folder where it holds the network as it is now."""
        return self._folder if self._folder and self._version() == _SAVED else None
