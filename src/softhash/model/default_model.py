"""The model that comes with softhash: a head in the package, on a backbone that pip delivers.

The package holds the head alone, in half precision; the whole model, with its graph, is put
together when it is first needed and kept among what can be made again. How the head was trained is
in `recipes/softhash/default-model.toml`; `python -m softhash.model.default_model MODEL RESULTS` takes it
out of a model, and what its card says of its quality out of the results of a bench.
"""

import json
import sys
from collections.abc import Callable, Mapping
from dataclasses import replace
from pathlib import Path
from typing import TYPE_CHECKING

import numpy as np

from softhash.errors import InputError, UsageError
from softhash.files import cache_folder, write_whole
from softhash.model import folder as model_folder
from softhash.model.config import ModelConfig
from softhash.model.folder import CONFIG
from softhash.model.label_classifier import LabelClassifier

if TYPE_CHECKING:
    from softhash.model.hasher import Hasher

PACKED = Path(__file__).with_name("default")
HEAD = "head.safetensors"
PARTS = ("head.", "labels.")  # what tensors of the file begin with

TOLD = ("@100", "@5000")  # the cut-offs of metrics on the card
SUMMARY = (
    "The model that comes with softhash, for searching before any training. Its head was trained "
    "on the labelled pictures of PASCAL VOC2012 (the 20 kinds of things below, all objects of the "
    "annotations); the backbone is EfficientNet-Lite0 as published, trained on ImageNet. The "
    "metrics are those of the same recipe trained on 4,000 of these pictures, with 1,000 others as "
    "queries over the rest: VOC2012 by the paper's protocol, ties expected."
)
LIMITS = (
    "It knows 20 kinds of things and no others: pictures of anything else (landscapes, food, "
    "documents, drawings) are found by what they look like among those, which can be far off, and "
    "their likely labels are guesses. It tells that there is a person, never who. It is best at "
    "persons, trains, aeroplanes and cats (average precision of labels above 0.9 on pictures it "
    "had not seen) and worst at bottles and potted plants (below 0.5). Train a model of your own "
    "where you have labels."
)


def default_model(notes: Callable[[str], None] = lambda note: None) -> Path:
    """Return the folder of the model to use where none is named; `notes` hears of long work."""
    data = (PACKED / HEAD).read_bytes()
    config = (PACKED / CONFIG).read_bytes()
    name = model_folder.sha256(data + config)[:12]
    folder = cache_folder() / "models" / f"default-{name}"
    if not (folder / CONFIG).is_file():
        notes("preparing the model that comes with softhash; once, about ten seconds")
        hasher = _unpacked(data, ModelConfig.from_json(config, str(PACKED / CONFIG)))
        try:
            hasher.save(folder, card=hasher.config["card"])
        except InputError as error:
            if not (folder / CONFIG).is_file():  # otherwise another process was first
                way = "name another model, or another cache folder with XDG_CACHE_HOME"
                raise InputError(str(error), way) from None
    return folder


def _unpacked(data: bytes, config: ModelConfig) -> "Hasher":
    """Put the head on the backbone's published weights."""
    import torch
    from safetensors.numpy import load

    from softhash.model.hasher import Hasher

    head_part, labels_part = PARTS
    found = {name: array.astype(np.float32) for name, array in load(data).items()}
    hasher = Hasher.from_config(config, weights="default")
    state = {
        name.removeprefix(head_part): torch.from_numpy(array)
        for name, array in found.items()
        if name.startswith(head_part)
    }
    hasher.network.head.load_state_dict(state)
    weight, bias = (found[labels_part + name] for name in ("weight", "bias"))
    hasher.label_classifier = LabelClassifier(weight, bias, config.classes)
    return hasher


def pack(hasher: "Hasher", metrics: Mapping[str, float], folder: Path = PACKED) -> None:
    """Write what the package keeps of a model: its head in half precision, and its settings."""
    from safetensors.numpy import save

    from softhash.model.weights import arrays

    if hasher.label_classifier is None or hasher.backbone is None:
        raise UsageError("only a model of pictures that knows names of labels can be shipped")
    head_part, labels_part = PARTS
    kept = {name: a for name, a in arrays(hasher.network).items() if name.startswith(head_part)}
    kept[f"{labels_part}weight"] = hasher.label_classifier.weight
    kept[f"{labels_part}bias"] = hasher.label_classifier.bias
    data = save({name: array.astype(np.float16) for name, array in kept.items()})
    config = ModelConfig.from_json(json.dumps(hasher.config), "the model")
    card = dict(config.card) | {"summary": SUMMARY, "limits": LIMITS, "metrics": dict(metrics)}
    folder.mkdir(exist_ok=True)
    write_whole(folder / HEAD, data, force=True)
    write_whole(folder / CONFIG, replace(config, card=card, sha256={}).to_json(), force=True)


def _main(model: str, results: str) -> None:
    from softhash.experiments.results import read_rows
    from softhash.model.hasher import Hasher

    measured = read_rows(Path(results))[-1]["metrics"]
    told = {name: value for name, value in measured.items() if name.endswith(TOLD)}
    pack(Hasher.load(model), told)


if __name__ == "__main__":
    _main(*sys.argv[1:])
