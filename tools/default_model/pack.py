"""What the package keeps of the default model: a file under 2 MB, and its settings with a card."""

from collections.abc import Sequence
from typing import Any

import numpy as np
from safetensors.numpy import save
from tools.default_model.codes import Linear
from tools.default_model.words import Vocabulary

from softhash.files import write_whole
from softhash.model.backbones import spec
from softhash.model.config import ModelConfig
from softhash.model.default_model import HEAD, LABELS_PART, LEARNED, PACKED, PLAIN, PRIOR
from softhash.model.fitted_bits import DRAWN, Prior, fit_bits
from softhash.model.folder import CONFIG, sha256
from softhash.model.sureness import Sureness

BACKBONE = "efficientnet_lite0"
MAX_BYTES = 2_000_000
SUMMARY = (
    "The model that comes with softhash, for searching before any training. 64 bits of its codes "
    "were learned from the labels of PASCAL VOC2012, COCO and IAPR TC-12. The other 192 use no "
    "labels: the first `softhash index` fits them to the pictures of the folder. The backbone is "
    "EfficientNet-Lite0 as published, trained on ImageNet."
)
LIMITS = (
    "It finds what looks alike and shows the same things. On pictures unlike photographs, such as "
    "drawings, it has only their features to go by. Its words are English, of things and places. "
    "They name what is likely: where it is four fifths sure, one in five is wrong. It tells that "
    "there is a person, never who. Train a model of your own where you have labels."
)


def pack(
    learned: Linear,
    prior: Prior,
    vocabulary: Vocabulary,
    sureness: Sureness,
    rows: Sequence[dict[str, Any]],
) -> None:
    """Write `src/softhash/model/default/`.

    Args:
        learned: the bits that were learned from labels.
        prior: of features, for the bits that are fitted to a folder.
        vocabulary: words with a classifier.
        sureness: of hits.
        rows: what was measured.

    """
    classifier = vocabulary.classifier
    plain = fit_bits(prior.draw(DRAWN, seed=1), len(prior.axes), prior)
    published = classifier.published
    if published is None:
        raise SystemExit("the vocabulary has no words of the published classifier")
    numbers = {
        LEARNED + "weight": learned.weight, LEARNED + "bias": learned.bias,
        PLAIN + "weight": plain[0], PLAIN + "bias": plain[1],
        PRIOR + "mean": prior.mean, PRIOR + "axes": prior.axes,
        LABELS_PART + "weight": classifier.weight, LABELS_PART + "bias": classifier.bias,
    }  # fmt: skip
    arrays = {name: np.ascontiguousarray(array, np.float16) for name, array in numbers.items()}
    arrays |= {
        name: array.astype(np.int16) if array.dtype.kind == "i" else array
        for name, array in published.to_arrays().items()
        if not name.endswith(("weight", "bias"))  # those come with the backbone
    }
    arrays["sureness"] = sureness.weights.astype(np.float32)
    data = save(arrays)
    if len(data) > MAX_BYTES:
        raise SystemExit(f"the head has {len(data):,} bytes, more than {MAX_BYTES:,}")
    found = spec(BACKBONE)
    config = ModelConfig(
        len(learned.bias) + len(prior.axes), BACKBONE, found.features, size=found.size,
        mean=found.mean, std=found.std, activation="tanh", classes=classifier.classes,
        card=_card(vocabulary, rows), sha256={HEAD: sha256(data)},
    )  # fmt: skip
    write_whole(PACKED / HEAD, data, force=True)
    write_whole(PACKED / CONFIG, config.to_json(), force=True)


def _card(vocabulary: Vocabulary, rows: Sequence[dict[str, Any]]) -> dict[str, Any]:
    left_out = {
        f"{row['collection']}: {row['ranking']}": {
            k: round(v, 3) for k, v in row["metrics"].items()
        }
        for row in rows
        if row["collection"] not in row["trained_on"]
    }
    precision = {word.name: round(word.precision, 2) for word in vocabulary.words}
    sure = {f"{p:.2f}": f"{share:.2f} of {n:,}" for p, share, n in vocabulary.reliability}
    return {
        "summary": SUMMARY,
        "limits": LIMITS,
        "collections that were left out of its training": left_out,
        "how often a word is right, by its probability": sure,
        "average precision per word": precision,
    }
