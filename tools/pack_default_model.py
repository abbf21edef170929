"""Take the head that comes with softhash out of a trained model.

::

    softhash train VOC -o MODEL --recipe recipes/softhash/default-model.toml --protocol all
    softhash bench recipes/softhash/default-model.toml --data VOC -o RESULTS
    python tools/pack_default_model.py MODEL RESULTS

It writes `src/softhash/model/default/`: the head in half precision, and the settings with a card
whose metrics are the last row of the bench's results. Needs torch.
"""

import json
import sys
from collections.abc import Mapping
from dataclasses import replace
from pathlib import Path

import numpy as np
from safetensors.numpy import save

from softhash import Hasher, SofthashError, UsageError
from softhash.experiments.results import read_results
from softhash.files import write_whole
from softhash.model.config import ModelConfig
from softhash.model.default_model import HEAD, PACKED, PARTS
from softhash.model.folder import CONFIG, sha256
from softhash.model.weights import arrays

CUT_OFFS = ("@100", "@5000")  # of the metrics on the card
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


def pack(hasher: Hasher, metrics: Mapping[str, float], folder: Path = PACKED) -> None:
    """Write what the package keeps of a model: its head in half precision, and its settings.

    Args:
        hasher: a trained model of pictures.
        metrics: what its card says of its quality.
        folder: where to.

    """
    if hasher.label_classifier is None or hasher.backbone is None:
        raise UsageError("only a model of pictures that predicts labels can be shipped")
    head_part, labels_part = PARTS
    kept = {name: a for name, a in arrays(hasher.network).items() if name.startswith(head_part)}
    kept[f"{labels_part}weight"] = hasher.label_classifier.weight
    kept[f"{labels_part}bias"] = hasher.label_classifier.bias
    data = save({name: array.astype(np.float16) for name, array in kept.items()})
    config = ModelConfig.from_json(json.dumps(hasher.config), "the model")
    card = dict(config.card) | {"summary": SUMMARY, "limits": LIMITS, "metrics": dict(metrics)}
    folder.mkdir(exist_ok=True)
    write_whole(folder / HEAD, data, force=True)
    config = replace(config, card=card, sha256={HEAD: sha256(data)})
    write_whole(folder / CONFIG, config.to_json(), force=True)


def read_metrics(results: Path) -> dict[str, float]:
    """Return the card's metrics from the last row of a bench's results."""
    measured = read_results(results)[-1]["metrics"]
    return {name: value for name, value in measured.items() if name.endswith(CUT_OFFS)}


def main(arguments: list[str]) -> int | str:
    """Pack the model of the first argument with the results of the second."""
    if len(arguments) != 2:
        return "usage: python tools/pack_default_model.py MODEL RESULTS"
    try:
        pack(Hasher.load(arguments[0]), read_metrics(Path(arguments[1])))
    except SofthashError as error:
        return f"error: {error}"
    return 0


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
