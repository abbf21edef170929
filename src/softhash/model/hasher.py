"""From pictures to codes: a backbone and a hash head, trained, saved, loaded, exported."""

import copy
import os
from collections.abc import Generator, Mapping, Sequence
from dataclasses import dataclass, replace
from pathlib import Path
from typing import TYPE_CHECKING, Any, Self, Unpack, cast

from softhash.codes import Codes
from softhash.data.loading import Progress
from softhash.devices import pick_device
from softhash.errors import UsageError
from softhash.files import write_whole
from softhash.model import encoding, weights
from softhash.model import folder as model_folder
from softhash.model.card import write_card
from softhash.model.config import HeadOptions, ModelConfig
from softhash.model.encoding import Encoded, Options
from softhash.model.engines import Engine, Floats, OnnxEngine, TorchEngine
from softhash.model.folder import CARD, CONFIG, GRAPH, LABELS, WEIGHTS
from softhash.model.inputs import Source
from softhash.model.label_classifier import LabelClassifier

if TYPE_CHECKING:
    from softhash.model.network import HashNetwork

_SAVED = "saved"  # stands for the fingerprint of a network that is as its folder has it


@dataclass
class _Saved:
    """Where a hasher came from, and the fingerprint of its network once that was built."""

    folder: Path
    fingerprint: str = ""


class Hasher:
    """Maps pictures to binary codes.

    A new one has the backbone's pre-trained weights and a head of random numbers. On a processor
    it runs in ONNX Runtime, and torch is only imported where a network is built, trained or run on
    a GPU: a saved model is loaded and used without it.

    Args:
        backbone: one of `softhash.model.backbones`.
        bits: length of the codes.
        size: side of the pictures in pixels, where it is not the backbone's own.
        weights: where the backbone starts: "default", a file, or None for random numbers.
        head: `hidden`, units of a hidden layer, 0 for none; `dropout`, in training; `activation`,
            what bounds the outputs: softsign, tanh, cosine or identity; `lift`, what comes before
            the linear layer; `embedding` and `words` for a head that quantises (see
            `softhash.model.heads`); `seed`, what its random numbers depend on.

    """

    def __init__(
        self,
        backbone: str,
        bits: int = 48,
        *,
        size: int | None = None,
        weights: str | os.PathLike[str] | None = "default",
        **head: Unpack[HeadOptions],
    ) -> None:
        from softhash.model.backbones import spec

        found = spec(backbone)
        side = size or found.size
        if side < found.least:
            raise UsageError(f"size is {side}", f"for {backbone} give at least {found.least}")
        config = ModelConfig(
            bits, backbone, found.features, size=side, mean=found.mean, std=found.std, **head
        )
        self._start(config, weights)

    @classmethod
    def from_features(cls, features: int, bits: int = 48, **head: Unpack[HeadOptions]) -> Self:
        """Make a hasher of embeddings that exist already, of so many numbers each.

        Args:
            features: numbers an embedding has.
            bits: length of the codes.
            head: its settings, as for a hasher of pictures.

        """
        return cls.from_config(ModelConfig(bits, None, features, **head))

    @classmethod
    def load(cls, folder: str | os.PathLike[str]) -> Self:
        """Load a saved model; torch is not needed.

        Raises:
            InputError: something is missing, damaged, of another model or of a newer version.

        """
        folder = Path(folder)
        config = model_folder.read_config(folder)
        weights.check_header(folder / WEIGHTS, config)
        graph = model_folder.read_part(folder, GRAPH, config)
        hasher = cls.from_config(config)
        hasher._saved = _Saved(folder.resolve())
        hasher._engines["cpu"] = _SAVED, OnnxEngine(graph, config, str(folder / GRAPH))
        hasher.label_classifier = LabelClassifier.read(folder, config)
        return hasher

    @classmethod
    def from_config(cls, config: ModelConfig, weights: str | None = None) -> Self:
        """Make an untrained hasher of these settings, its backbone with or without weights."""
        hasher = cls.__new__(cls)
        hasher._start(config, weights)
        return hasher

    def _start(self, config: ModelConfig, start: str | os.PathLike[str] | None) -> None:
        self._config = config
        self._backbone_weights = start
        self._network: HashNetwork | None = None
        self._saved: _Saved | None = None
        self._engines: dict[str, tuple[str, Engine]] = {}
        self.label_classifier: LabelClassifier | None = None  # where training knew names of labels

    def __repr__(self) -> str:
        source = repr(self.backbone) if self.backbone else f"{self._config.features} features"
        return f"Hasher({source}, bits={self.bits}, {len(self.classes)} classes)"

    @property
    def bits(self) -> int:
        """Length of the codes."""
        return self._config.bits

    @property
    def backbone(self) -> str | None:
        """Name of the backbone, None for a hasher of features."""
        return self._config.backbone

    @property
    def ranking(self) -> str:
        """What its codes are compared by: `hamming`, or `quantiser` where they are indices."""
        return self._config.ranking

    def check_hamming(self) -> None:
        """Raise where the Hamming distance of its codes means nothing."""
        self._config.check_hamming()

    @property
    def size(self) -> int | None:
        """Side of the pictures that the backbone takes; others are squeezed to it."""
        return self._config.size or None

    @property
    def config(self) -> dict[str, Any]:
        """All settings, as plain values."""
        return self._config.as_dict()

    @property
    def classes(self) -> tuple[str, ...]:
        """The labels it was trained on; empty for an untrained one."""
        return self._config.classes

    @classes.setter
    def classes(self, names: Sequence[str]) -> None:
        if tuple(names) != self.classes:
            self.label_classifier = None  # it told the labels of before
        self._config = replace(self._config, classes=tuple(names))

    @property
    def identity(self) -> str:
        """The SHA-256 of its weights: codes of hashers that differ in it are not comparable."""
        if self._saved and self._state() == _SAVED:
            return self._config.sha256[WEIGHTS]
        return model_folder.sha256(self._weights())

    @property
    def network(self) -> "HashNetwork":
        """The torch module: train it in place, and codes follow."""
        if self._network is None:
            if self._saved is None:
                self._network = weights.build(self._config, self._backbone_weights)
            else:
                data = model_folder.read_part(self._saved.folder, WEIGHTS, self._config)
                self._network = weights.build(self._config)
                weights.fill(self._network, data, str(self._saved.folder / WEIGHTS))
                self._saved.fingerprint = weights.fingerprint(self._network)
        return self._network

    def encode(self, source: Source, **options: Unpack[Options]) -> Codes:
        """Encode pictures as packed codes (n, ⌈bits/8⌉), one row a picture, in their order.

        Args:
            source: a path, the bytes of a file, a PIL image, a uint8 array (h, w, 3) or
                (n, h, w, 3), a list of these, or an ImageSet; for a hasher of features a float
                array (n, d) or (d,).
            options: `batch_size` (what suits the device by default); `device` (auto, cpu or cuda);
                `workers`, threads that decode files (the cores this process may use by default);
                `progress`, called with (pictures dealt with, pictures in all); `bf16=True` to
                compute the backbone in bfloat16, on CUDA only: faster, and a few bits differ.

        Raises:
            InputError: a picture cannot be read (`encode_readable` skips those), or features hold
                NaN.

        """
        return cast(Codes, self._whole(source, "codes", **options))

    def outputs(self, source: Source, **options: Unpack[Options]) -> Floats:
        """Compute the real-valued u (n, bits), whose signs are the code; options as of `encode`."""
        return cast(Floats, self._whole(source, "outputs", **options))

    def features(self, source: Source, **options: Unpack[Options]) -> Floats:
        """Compute the backbone's features (n, d); options as of `encode`."""
        return cast(Floats, self._whole(source, "features", **options))

    def outputs_and_labels(
        self, source: Source, **options: Unpack[Options]
    ) -> tuple[Floats, list[dict[str, float]]]:
        """Compute u and name the likely labels of each picture, with probabilities, in one pass."""
        if self.label_classifier is None:
            u = self.outputs(source, **options)
            return u, [{} for _ in u]
        both = self._whole(source, "both", **options)
        return both[:, : self.bits], self.label_classifier.likely(both[:, self.bits :])

    def encode_readable(
        self, source: Source, kind: str = "codes", **options: Unpack[Options]
    ) -> Encoded:
        """Encode the pictures that can be read, and name the others; options as of `encode`.

        `kind` is what the values are: codes, outputs or features.
        """
        parts = self.stream(source, kind, **options)
        return encoding.joined(parts, self._config, kind, total=None)

    def stream(
        self, source: Source, kind: str = "codes", **options: Unpack[Options]
    ) -> Generator[Encoded, None, None]:
        """Encode batch by batch, for collections whose values are to be stored as they come."""
        return self._run(source, kind, **options)[1]

    def _whole(self, source: Source, kind: str, **options: Unpack[Options]) -> Any:
        total, parts = self._run(source, kind, **options)
        return encoding.joined(parts, self._config, kind, total=total).values

    def _run(
        self,
        source: Source,
        kind: str,
        *,
        batch_size: int | None = None,
        device: str = "auto",
        workers: int | None = None,
        bf16: bool = False,
        progress: Progress | None = None,
    ) -> tuple[int, Generator[Encoded, None, None]]:
        encoding.check_kind(kind, self._config)
        engine = self._engine(pick_device(device), bf16)
        given = encoding.feed(source, self._config, batch_size, engine, workers)
        return given.total, encoding.run(given, engine, kind, progress)

    def save(
        self,
        folder: str | os.PathLike[str],
        *,
        force: bool = False,
        card: Mapping[str, Any] | None = None,
    ) -> None:
        """Save the model as a folder, which appears whole or not at all.

        It holds config.json, model.safetensors, model.onnx and README.md, the card; see
        `softhash.model.card` for what `card` may say. With `force` an older model is replaced, and
        stays until the new one is complete; a folder that holds anything else is never replaced.
        """
        folder = Path(folder)
        model_folder.check_free(folder, force=force)
        config = self._config if card is None else replace(self._config, card=dict(card))
        parts = {WEIGHTS: self._weights(), GRAPH: self._graph()}
        if self.label_classifier:
            parts[LABELS] = self.label_classifier.to_bytes()
        config = config.with_sha256({name: model_folder.sha256(parts[name]) for name in parts})
        text, readme = config.to_json(), write_card(folder.resolve().name, config)
        contents = {CONFIG: text.encode(), **parts, CARD: readme.encode()}
        model_folder.write(folder, contents, force=force)

    def export_onnx(self, path: str | os.PathLike[str], *, force: bool = False) -> None:
        """Write the ONNX graph: uint8 `pixels` (n, size, size, 3) to `u` and `features`."""
        write_whole(Path(path), self._graph(), force=force)

    def _engine(self, device: str, bf16: bool) -> Engine:
        """Return what computes on that device; a new one when training has changed the network."""
        if bf16 and device == "cpu":
            raise UsageError("bf16 is for CUDA devices, and this runs on cpu", "leave it out")
        key, state = f"{device} {'bf16' if bf16 else ''}".strip(), self._state()
        if key not in self._engines or self._engines[key][0] != state:
            engine: Engine = (
                OnnxEngine(self._graph(), self._config)
                if device == "cpu"
                else TorchEngine(self.network, device, bf16=bf16)
            )
            self._engines[key] = state, engine
        return self._engines[key][1]

    def _state(self) -> str:
        if self._network is None and self._saved:
            return _SAVED
        found = weights.fingerprint(self.network)
        return _SAVED if self._saved and self._saved.fingerprint == found else found

    def _weights(self) -> bytes:
        if self._saved and self._state() == _SAVED:
            return model_folder.read_part(self._saved.folder, WEIGHTS, self._config)
        return weights.to_bytes(self.network)

    def _graph(self) -> bytes:
        if self._saved and self._state() == _SAVED:
            return model_folder.read_part(self._saved.folder, GRAPH, self._config)
        from softhash.model.onnx_graph import to_onnx

        network = copy.deepcopy(self.network).cpu().eval()
        return to_onnx(network, self._config.size, self._config.features)
