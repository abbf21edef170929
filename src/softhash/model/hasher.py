"""From pictures to codes: a backbone and a hash head, trained, saved, loaded, exported."""

import os
from collections.abc import Generator, Mapping
from dataclasses import replace
from pathlib import Path
from typing import TYPE_CHECKING, Any, Self, Unpack, cast

from softhash.codes import DEFAULT_BITS, Codes
from softhash.data.loading import Progress
from softhash.devices import pick_device
from softhash.errors import UsageError
from softhash.files import write_whole
from softhash.model import encoding
from softhash.model._safetensors import read_arrays
from softhash.model.config import INT8, HeadOptions, ModelConfig
from softhash.model.described import DescribedModel
from softhash.model.encoding import Encoded, EncodeOptions
from softhash.model.engine_choice import AUTO, change_engine, check_engine, choose_engine
from softhash.model.engines import Floats
from softhash.model.folder import GRAPH, LABELS, WEIGHTS, check_free, write_model
from softhash.model.head_only import take_head
from softhash.model.inputs import Source
from softhash.model.label_classifier import LabelClassifier
from softhash.model.lazy_network import LazyNetwork
from softhash.model.shortening import shorten

if TYPE_CHECKING:
    from softhash.model.network import HashNetwork


class Hasher(DescribedModel):
    """Maps pictures to binary codes.

    A new one has the backbone's pre-trained weights and a head of random numbers; `fit` makes the
    head that method and recipe ask for, as far as no options are given here. On a processor it
    runs in ONNX Runtime, and torch is only imported where a network is built, trained or run on
    a GPU: a saved model is loaded and used without it.

    Args:
        backbone: one of `softhash.model.backbones`.
        bits: length of the codes.
        size: side of the pictures in pixels, where it is not the backbone's own.
        weights: where the backbone starts: "default", a file, or None for random numbers.
        head: `hidden`, units of a hidden layer, 0 for none; `dropout`, in training; `activation`,
            what bounds the outputs: softsign, tanh, cosine or identity; `lift`, what comes before
            the linear layer, and `skip_dropout`, of a linear path beside that; `embedding` and
            `words` for a head that quantises (see `softhash.model.heads`); `seed`, what its random
            numbers depend on.

    """

    def __init__(
        self,
        backbone: str,
        bits: int = DEFAULT_BITS,
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
        self._begin(LazyNetwork(config, weights), head)

    @classmethod
    def from_features(
        cls, features: int, bits: int = DEFAULT_BITS, **head: Unpack[HeadOptions]
    ) -> Self:
        """Make a hasher of embeddings that exist already.

        Args:
            features: how many numbers an embedding has.
            bits: length of the codes.
            head: its settings, as for a hasher of pictures.

        """
        hasher = cls.from_config(ModelConfig(bits, None, features, **head))
        hasher.asked_head = head
        return hasher

    @classmethod
    def load(cls, folder: str | os.PathLike[str]) -> Self:
        """Load a saved model; torch is not needed.

        Raises:
            InputError: something is missing, damaged, of another model or of a newer version.

        """
        hasher = cls.__new__(cls)
        hasher._begin(LazyNetwork.load(Path(folder)))
        hasher.label_classifier = LabelClassifier.read(Path(folder), hasher._config)
        return hasher

    @classmethod
    def from_config(cls, config: ModelConfig, weights: str | None = None) -> Self:
        """Make an untrained hasher of these settings, its backbone with or without weights."""
        hasher = cls.__new__(cls)
        hasher._begin(LazyNetwork(config, weights))
        return hasher

    @classmethod
    def from_parts(cls, config: ModelConfig, parts: Mapping[str, bytes]) -> Self:
        """Make a hasher of a model's files, in memory, by their names."""
        hasher = cls.__new__(cls)
        hasher._begin(LazyNetwork.from_parts(config, parts))
        if LABELS in parts:
            found = read_arrays(parts[LABELS], LABELS)
            hasher.label_classifier = LabelClassifier.from_arrays(found, config, LABELS)
        return hasher

    def shortened(self, bits: int) -> Self:
        """Return a hasher whose codes are the first bits of these, this one where they are all.

        Raises UsageError where they are not so long, or are indices of codebooks (DQN).
        """
        if bits == self.bits:
            return self
        hasher = type(self).__new__(type(self))
        hasher._begin(shorten(self._state, bits))
        hasher.label_classifier = self.label_classifier
        return hasher

    def with_engine(self, engine: str, device: str = "auto") -> Self:
        """Return a hasher of the same weights that computes in `fp32` or `int8` on a processor.

        Codes of the two differ in a few bits, and `identity` too. int8 is for EfficientNet-Lite.
        `auto` takes it where the processor has instructions for it, but not where `device` is a
        GPU, nor for backbones whose loss was not measured, such as fine-tuned ones.

        Raises UsageError where there is no such engine, or it is not for this network.
        """
        check_engine(engine)
        engine = choose_engine(self._state, device) if engine == AUTO else engine
        if engine == self.engine:
            return self
        hasher = type(self).__new__(type(self))
        hasher._begin(change_engine(self._state, engine))
        hasher.label_classifier = self.label_classifier
        return hasher

    def head_only(self) -> Self:
        """Return a hasher of features that has this one's head, and so its codes."""
        hasher = type(self).__new__(type(self))
        hasher._begin(take_head(self._state))
        return hasher

    def _begin(self, state: LazyNetwork, head: HeadOptions | None = None) -> None:
        self._state = state
        self.asked_head = head  # the options given for a head that is not decided yet
        self.label_classifier = None

    def __repr__(self) -> str:
        source = repr(self.backbone) if self.backbone else f"{self._config.features} features"
        return f"Hasher({source}, bits={self.bits}, {len(self.classes)} classes)"

    @property
    def network(self) -> "HashNetwork":
        """The torch module: train it in place, and codes follow."""
        return self._state.network

    def decide_head(self, options: HeadOptions) -> None:
        """Give a hasher that was never trained the head that its training asks for."""
        self._state.replace_head(options)
        self.asked_head = None

    def encode(self, source: Source, **options: Unpack[EncodeOptions]) -> Codes:
        """Encode pictures as packed codes (n, ⌈bits/8⌉), one row per picture, in their order.

        Args:
            source: a path, the bytes of a file, a PIL image, a uint8 array (h, w, 3) or
                (n, h, w, 3), a list of these, or an ImageSet; for a hasher of features a float
                array (n, d) or (d,).
            options: `batch_size` (what suits the device by default); `device` (auto, cpu or cuda);
                `workers`, threads that decode files (the cores this process may use by default);
                `progress`, called with (pictures done, pictures in all); `bf16=True` to
                compute the backbone in bfloat16, on CUDA only: faster, and a few bits differ.

        Raises:
            InputError: a picture cannot be read (`encode_readable` skips those), or features hold
                NaN or infinity.

        """
        return cast(Codes, self._whole(source, "codes", **options))

    def outputs(self, source: Source, **options: Unpack[EncodeOptions]) -> Floats:
        """Compute the real-valued u (n, bits), whose signs are the code; options as of `encode`."""
        return cast(Floats, self._whole(source, "outputs", **options))

    def features(self, source: Source, **options: Unpack[EncodeOptions]) -> Floats:
        """Compute the backbone's features (n, d); options as of `encode`."""
        return cast(Floats, self._whole(source, "features", **options))

    def outputs_and_labels(
        self, source: Source, **options: Unpack[EncodeOptions]
    ) -> tuple[Floats, list[dict[str, float]]]:
        """Compute u and the likely labels of each picture, with probabilities, in one pass."""
        if self.label_classifier is None:
            u = self.outputs(source, **options)
            return u, [{} for _ in u]
        both = self._whole(source, "both", **options)
        return both[:, : self.bits], self.label_classifier.likely(both[:, self.bits :])

    def encode_readable(
        self, source: Source, kind: str = "codes", **options: Unpack[EncodeOptions]
    ) -> Encoded:
        """Encode the pictures that can be read, and name the others.

        Args:
            source: as for `encode`.
            kind: what the values are: codes, outputs or features.
            options: as for `encode`.

        Returns:
            The values, the positions they belong to, and the pictures that could not be read.

        """
        parts = self.stream(source, kind, **options)
        return encoding.joined(parts, self._config, kind, total=None)

    def stream(
        self, source: Source, kind: str = "codes", **options: Unpack[EncodeOptions]
    ) -> Generator[Encoded, None, None]:
        """Encode batch by batch, for collections whose values are to be stored as they come.

        Args:
            source: as for `encode`.
            kind: what the values are: codes, outputs or features.
            options: as for `encode`.

        """
        return self._run(source, kind, **options)[1]

    def _whole(self, source: Source, kind: str, **options: Unpack[EncodeOptions]) -> Any:
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
        if device == "auto" and self.engine == INT8:
            device = "cpu"
        engine = self._state.engine(pick_device(device), bf16=bf16)
        given = encoding.feed(source, self._config, batch_size, engine, workers)
        return given.total, encoding.run(given, engine, kind, progress)

    def save(
        self,
        folder: str | os.PathLike[str],
        *,
        force: bool = False,
        card: Mapping[str, Any] | None = None,
        log: str = "",
    ) -> None:
        """Save the model as a folder, which appears whole or not at all.

        It holds config.json, model.safetensors, model.onnx and README.md, the card.

        Args:
            folder: where to; its parents are made if need be.
            force: whether an older model is replaced. It stays until the new one is complete; a
                folder that holds anything else is never replaced.
            card: the content of the model's card, see `softhash.model.card`; that of before by
                default.
            log: of the training run, one line of JSON per epoch, kept as log.jsonl.

        """
        folder = Path(folder)
        check_free(folder, force=force)
        config = self._config if card is None else replace(self._config, card=dict(card))
        parts = {WEIGHTS: self._state.to_bytes(), GRAPH: self._state.graph()}
        if self.label_classifier:
            parts[LABELS] = self.label_classifier.to_bytes()
        write_model(folder, config, parts, force=force, log=log)

    def export_onnx(self, path: str | os.PathLike[str], *, force: bool = False) -> None:
        """Write the ONNX graph: uint8 `pixels` (n, size, size, 3) to `u` and `features`."""
        write_whole(Path(path), self._state.graph(), force=force)
