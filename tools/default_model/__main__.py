"""Make the model that comes with softhash, and measure it.

::

    python -m tools.default_model --voc2012 DIR --iaprtc12 DIR --coco DIR --samples DIR \
        --wordnet FILE --cache DIR

`--samples` is a folder with a picture or more of each of the backbone's 1,000 classes, named after
their synsets (`n01440764_tench.JPEG`), `--wordnet` the file `data.noun` of WordNet 3.0. It takes
about a quarter of an hour on two cores, and writes `src/softhash/model/default/` and
`docs/results/default-model/`. Needs torch.
"""

import argparse
import json
from collections.abc import Iterator, Sequence
from pathlib import Path
from typing import Any

import numpy as np
from tools.default_model import codes
from tools.default_model.material import Collection, read_collection, read_features
from tools.default_model.pack import pack
from tools.default_model.page import write_page
from tools.default_model.sureness import fit_sureness
from tools.default_model.vocabulary import class_groups
from tools.default_model.words import Vocabulary, fit_words

from softhash import ImageSet
from softhash.experiments.commit import find_commit
from softhash.files import write_whole
from softhash.model.backbones.published import published_weights
from softhash.model.backbones.torch_file import read_torch_file
from softhash.model.fitted_bits import Prior

BACKBONE = "efficientnet_lite0"
COCO_SPLIT = Path("docs/results/coco/split.json")
COCO_MORE = 22_000  # pictures beside those of the split
RESULTS = Path("docs/results/default-model")


def read_collections(given: argparse.Namespace) -> list[Collection]:
    """Read the three collections, with the splits that their results pages use."""
    cache = given.cache
    coco = ImageSet.read(given.coco)
    split = coco.split(str(COCO_SPLIT))
    chosen = {
        name for part in (split.train, split.query, split.database) for name in part.file_names
    }
    inside = np.array([name in chosen for name in coco.file_names])
    more = np.random.default_rng(0).choice(np.flatnonzero(~inside), COCO_MORE, replace=False)
    coco = coco.select(np.union1d(np.flatnonzero(inside), more))
    voc, iapr = ImageSet.read(given.voc2012), ImageSet.read(given.iaprtc12)
    return [
        read_collection("voc2012", voc, voc.split("random", seed=0), cache),
        read_collection("iaprtc12", iapr, iapr.split("random", seed=0), cache),
        read_collection("coco", coco, split, cache),
    ]


def read_vocabulary(collections: Sequence[Collection], given: argparse.Namespace) -> Vocabulary:
    """Fit all words."""
    samples = ImageSet.read(given.samples, "folder")
    features, places = read_features(samples, given.cache / "samples.npz")
    synsets = np.array([Path(samples.file_names[place]).name.split("_")[0] for place in places])
    numbers, classes = np.unique(synsets, return_inverse=True)
    found = read_torch_file(published_weights(BACKBONE))
    published = tuple(np.asarray(found[f"_fc.{part}"], np.float32) for part in ("weight", "bias"))
    if len(numbers) != len(published[1]):
        raise SystemExit(f"{given.samples} has {len(numbers):,} classes, not {len(published[1]):,}")
    groups = class_groups(numbers.tolist(), given.wordnet)
    return fit_words(collections, groups, published, (features, classes))


def measure(collections: Sequence[Collection], commit: str) -> Iterator[dict[str, Any]]:
    """Measure codes on collections that were left out of their training, and on others."""
    for one in collections:
        yield _row(one, "float features", (), codes.measure_floats(one, one.query), commit)
        others = [other for other in collections if other is not one]
        learned = _learn([(other.features, other.labels) for other in others])
        yield from _measure_codes(one, learned, others, commit)
    learned = _learn([(one.features[one.train], one.labels[one.train]) for one in collections])
    for one in collections:
        yield from _measure_codes(one, learned, collections, commit)


def _learn(fit: Sequence[codes.Labelled]) -> tuple[codes.Linear, Prior]:
    return codes.learn_bits(fit), codes.find_prior([x for x, _ in fit])


def _measure_codes(
    one: Collection,
    learned: tuple[codes.Linear, Prior],
    trained_on: Sequence[Collection],
    commit: str,
) -> Iterator[dict[str, Any]]:
    bits, prior = learned
    code = codes.whole_code(bits, one.features[one.database], prior)
    names = tuple(other.name for other in trained_on)
    for length in (64, 128, codes.LEARNED + codes.FITTED):
        found = codes.measure_codes(one, code, one.query, length)
        yield _row(one, f"codes, {length} bits", names, found, commit)
    found = codes.measure_rescored(one, code, one.query)
    yield _row(one, f"codes, {length} bits, rescored", names, found, commit)


def _row(
    one: Collection, ranking: str, trained_on: Sequence[str], metrics: Any, commit: str
) -> dict[str, Any]:
    row = {"collection": one.name, "ranking": ranking, "trained_on": list(trained_on)}
    print(json.dumps(row | {key: round(value, 4) for key, value in metrics.items()}), flush=True)
    return row | {"metrics": metrics, "commit": commit}


def main() -> None:
    """Make and measure everything."""
    parser = argparse.ArgumentParser(description=__doc__)
    for name in ("voc2012", "iaprtc12", "coco", "samples", "wordnet", "cache"):
        parser.add_argument(f"--{name}", type=Path, required=True)
    given = parser.parse_args()
    commit = find_commit()
    collections = read_collections(given)
    vocabulary = read_vocabulary(collections, given)
    print(f"{len(vocabulary.words):,} words, {len(vocabulary.left_out):,} left out", flush=True)
    sureness, sure = fit_sureness(collections, vocabulary.classifier)
    rows = list(measure(collections, commit))
    RESULTS.mkdir(parents=True, exist_ok=True)
    write_whole(RESULTS / "rows.jsonl", "".join(json.dumps(r) + "\n" for r in rows), force=True)
    words = {
        "words": [vars(w) for w in vocabulary.words],
        "left_out": [vars(w) for w in vocabulary.left_out],
    }
    reliability = {
        "labels": vocabulary.reliability,
        "published": vocabulary.published_reliability,
        "hits": sure,
    }
    everything = words | {"reliability": reliability, "commit": commit}
    write_whole(RESULTS / "words.json", json.dumps(everything, indent=1) + "\n", force=True)
    learned, prior = _learn([(one.features, one.labels) for one in collections])
    pack(learned, prior, vocabulary, sureness, rows)
    write_page()


if __name__ == "__main__":
    main()
