"""The settings of a model, as ``config.json`` keeps them."""

import json
import reprlib
from collections.abc import Mapping
from dataclasses import asdict, dataclass, field, replace
from pathlib import PurePath
from typing import Any, Self, TypedDict

from softhash.codes import check_bits
from softhash.errors import InputError, SofthashError, UsageError, unknown_name
from softhash.model._json import checksum, parse_json

FORMAT = "softhash model"
VERSION = 1
NAME = "config.json"
MAX_REASON = 300  # characters of what is wrong with a file
MAX_WIDTH = 1 << 20  # numbers of a layer, words of a codebook
MAX_SIDE = 4096  # pixels
MAX_PIXEL = 1e6  # of a mean or std, for pixel values of 0 to 255
# What softhash.model.heads has, named without torch.
ACTIVATIONS = ("cosine", "identity", "softsign", "tanh")
LIFTS = ("rbf", "relu")
FP32, INT8 = ENGINES = ("fp32", "int8")  # the numbers that a processor computes codes with;
# another way of making integers of weights would make other codes, and needs a name of its own


class HeadOptions(TypedDict, total=False):
    """Settings of a head, all optional; see `softhash.model.heads.Head`."""

    hidden: int
    dropout: float
    feature_dropout: float
    skip_dropout: float
    activation: str
    lift: str
    embedding: int
    words: int
    seed: int


def check_dropout(dropout: float, feature_dropout: float, skip_dropout: float) -> None:
    """Raise unless a network can be trained with these; a path that drops everything is none."""
    for share in (dropout, feature_dropout):
        if not 0 <= share < 1:
            raise UsageError(f"dropout is {share}", "give a share of 0 or more, below 1")
    if not 0 <= skip_dropout <= 1:
        raise UsageError(f"skip_dropout is {skip_dropout}", "give a share from 0 to 1")


def check_words(words: int, bits: int) -> None:
    """Raise unless codes of so many bits are whole indices of codebooks with so many words."""
    if words < 2 or words & (words - 1) or bits % (words.bit_length() - 1):
        raise UsageError(
            f"codebooks of {words} words do not fit codes of {bits} bits",
            "give a power of two whose logarithm divides the bits",
        )


@dataclass(frozen=True)
class ModelConfig:
    """Everything that is needed to use the weights.

    Attributes:
        bits: length of the codes.
        backbone: its name, or None for a model that takes features.
        features: numbers the backbone gives, or the model takes, for each picture.
        size: side of the pictures that the backbone takes, 0 without one.
        mean, std: what its weights expect, of pixel values of 0 to 255.
        hidden, dropout, feature_dropout, skip_dropout, activation, lift: the head's settings, see
            `softhash.model.heads.Head`.
        embedding, words: of a head that quantises, 0 for one whose signs are the code.
        lengths: the numbers of first bits that were trained as codes of their own, if any.
        engine: the numbers that a processor computes codes with, `fp32` or `int8`; they are part
            of what codes are, as the weights are.
        seed: what the initial weights were drawn with.
        classes: the labels it was trained on.
        card: what the trainer wrote about the model, see `softhash.model.card`.
        sha256: of the other files in the folder, by name; in the file also its own, see `to_json`.

    """

    bits: int
    backbone: str | None
    features: int
    size: int = 0
    mean: tuple[float, float, float] = (0.0, 0.0, 0.0)
    std: tuple[float, float, float] = (1.0, 1.0, 1.0)
    hidden: int = 0
    dropout: float = 0.0
    feature_dropout: float = 0.0
    skip_dropout: float = 1.0
    activation: str = "softsign"
    lift: str = "relu"
    embedding: int = 0
    words: int = 0
    lengths: tuple[int, ...] = ()
    engine: str = FP32
    seed: int = 0
    classes: tuple[str, ...] = ()
    card: Mapping[str, Any] = field(default_factory=dict)
    sha256: Mapping[str, str] = field(default_factory=dict)

    def __post_init__(self) -> None:
        check_bits(self.bits)
        if self.activation not in ACTIVATIONS:
            raise unknown_name("activation", self.activation, ACTIVATIONS)
        if self.lift not in LIFTS:
            raise unknown_name("lift", self.lift, LIFTS)
        if self.engine not in ENGINES:
            raise unknown_name("engine", self.engine, ENGINES)
        self._check_numbers()
        if not all(isinstance(label, str) for label in self.classes):
            raise UsageError("classes are not all text", "give the name of each label")
        if self.embedding:
            check_words(self.words, self.bits)

    def _check_numbers(self) -> None:
        check_dropout(self.dropout, self.feature_dropout, self.skip_dropout)
        for length in self.lengths:
            if type(length) is not int or not 1 <= length <= self.bits:
                hint = f"give whole numbers from 1 to {self.bits}"
                raise UsageError(f"lengths has {reprlib.repr(length)}", hint)
        for name, (least, most) in _RANGES.items():
            least = 1 if name == "size" and self.backbone else least
            if not least <= getattr(self, name) <= most:
                hint = f"give at least {least} and at most {most:,}"
                raise UsageError(f"{name} is {reprlib.repr(getattr(self, name))}", hint)
        for name in ("mean", "std"):
            _check_colour(name, getattr(self, name))

    @property
    def ranking(self) -> str:
        """What its codes are compared by: `hamming`, or `quantiser` where they are indices."""
        return "quantiser" if self.embedding else "hamming"

    def check_hamming(self) -> None:
        """Raise where the Hamming distance of its codes means nothing."""
        if self.ranking != "hamming":
            raise UsageError(
                "this model's codes are indices of codebooks (DQN, SPQ), and their Hamming "
                "distance means nothing",
                "`softhash bench` measures such methods by their own distance",
            )

    @property
    def outputs(self) -> int:
        """Count the numbers that the head's linear layer gives."""
        return self.embedding or self.bits

    def as_dict(self) -> dict[str, Any]:
        """Return what JSON can hold of it, which is everything."""
        # Through text, so that the answer shares nothing with this and tuples are lists already.
        try:
            content = {"format": FORMAT, "version": VERSION, **asdict(self)}
            text = json.dumps(content, ensure_ascii=False, default=_plain)
        except (TypeError, ValueError, RecursionError) as error:
            raise UsageError(
                f"the model's card and classes must be plain JSON values: {error}"
            ) from error
        plain: dict[str, Any] = parse_json(text, "what is to be said of the model")
        return plain

    def to_json(self) -> str:
        """Write it as the content of ``config.json``, with the SHA-256 of all the rest of it."""
        content = self.as_dict()
        content["sha256"][NAME] = checksum(content)
        return json.dumps(content, indent=2, ensure_ascii=False) + "\n"

    @classmethod
    def from_json(cls, text: str | bytes, name: str) -> Self:
        """Read the content of ``config.json``; `name` is what errors call it.

        Raises:
            InputError: it is damaged, not of a model, or of a newer version.

        """
        content = parse_json(text, name)
        if not isinstance(content, dict) or content.get("format") != FORMAT:
            raise InputError(f"{name} is not of a softhash model", "give a folder that train wrote")
        _check_sum(content, name)
        del content["format"]
        version = content.pop("version", None)
        if version != VERSION:
            found = reprlib.repr(version)
            raise InputError(
                f"{name} has version {found}, this softhash reads version {VERSION}",
                "upgrade with: pip install -U softhash",
            )
        return cls._checked(content, name)

    @classmethod
    def _checked(cls, content: dict[str, Any], name: str) -> Self:
        try:
            content = {**_LATER, **content}
            for key, kind in _KINDS.items():
                if not isinstance(content[key], kind) or isinstance(content[key], bool):
                    shown = reprlib.repr(content[key])
                    raise InputError(f"{name}: '{key}' is {shown}", "it is damaged")
            if unknown := [key for key in content if key not in _KINDS]:
                raise UsageError(f"it has {reprlib.repr(unknown[0])}", "is it of a newer version?")
            lists = {key: tuple(content[key]) for key in ("mean", "std", "lengths", "classes")}
            return cls(**{**content, **lists})
        except KeyError as error:
            raise InputError(f"{name} lacks {error}", "it is damaged") from None
        except (SofthashError, TypeError) as error:
            if isinstance(error, InputError):
                raise
            raise InputError(f"{name} makes no sense: {str(error)[:MAX_REASON]}") from None

    def with_sha256(self, sha256: Mapping[str, str]) -> Self:
        """Return the same settings for other files."""
        return replace(self, sha256=dict(sha256))


def _check_sum(content: dict[str, Any], name: str) -> None:
    """Raise where the content has a SHA-256 of itself, and is another; take it out."""
    others = content.get("sha256")
    expected = others.pop(NAME, None) if isinstance(others, dict) else None
    if expected is not None and expected != checksum(content):
        raise InputError(
            f"{name} is not what was saved, it has another SHA-256: damaged, or changed",
            f"copy the folder again; after a change of your own, take {NAME} out of its sha256",
        )


def _check_colour(name: str, values: tuple[float, ...]) -> None:
    """Raise unless it is three finite numbers, of a std above 0."""
    least = 0 if name == "std" else -MAX_PIXEL
    numbers = all(isinstance(v, int | float) and least <= v <= MAX_PIXEL for v in values)
    if len(values) != 3 or not numbers or (name == "std" and 0 in values):
        raise UsageError(f"{name} is {reprlib.repr(values)}", "give three finite numbers")


def _plain(value: Any) -> Any:
    """Make JSON of what a trainer easily has: numpy's numbers and arrays, and paths."""
    if hasattr(value, "tolist"):
        return value.tolist()
    if isinstance(value, PurePath):
        return str(value)
    raise TypeError(f"{value!r} is a {type(value).__name__}")


_RANGES = {
    "features": (1, MAX_WIDTH),
    "hidden": (0, MAX_WIDTH),
    "size": (0, MAX_SIDE),
    "embedding": (0, MAX_WIDTH),
    "words": (0, MAX_WIDTH),
    "seed": (-(1 << 63), (1 << 63) - 1),
}
_LATER: dict[str, Any] = {  # keys that models have lacked
    "embedding": 0, "words": 0, "feature_dropout": 0.0, "skip_dropout": 1.0, "lengths": [],
    "engine": FP32,
}  # fmt: skip

_KINDS: dict[str, type | tuple[type, ...]] = {
    "bits": int,
    "backbone": (str, type(None)),
    "features": int,
    "size": int,
    "mean": list,
    "std": list,
    "hidden": int,
    "dropout": (int, float),
    "feature_dropout": (int, float),
    "skip_dropout": (int, float),
    "activation": str,
    "lift": str,
    "embedding": int,
    "words": int,
    "lengths": list,
    "engine": str,
    "seed": int,
    "classes": list,
    "card": dict,
    "sha256": dict,
}
