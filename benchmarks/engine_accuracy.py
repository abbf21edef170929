"""What int8 costs in MAP and NDCG, beside fp32 on the same pictures.

Features in fp32 come from a file of `softhash bench --save-features`; those in int8 are computed
here. Two models are measured with both: the one that comes along, and a head of 48 bits that was
trained on the features in fp32. Run it for one collection at a time:

    python -m benchmarks.engine_accuracy FEATURES.npz PICTURES [--database 20000] [--seeds 3]
"""

import argparse
from collections.abc import Callable
from pathlib import Path

import numpy as np
import numpy.typing as npt
import torch

from softhash.codes import pack
from softhash.data.image_set import ImageSet
from softhash.evaluation.evaluate import evaluate_codes
from softhash.experiments.cells import train_cell
from softhash.experiments.feature_file import load_features
from softhash.experiments.inputs import GridInputs
from softhash.model.default_model import default_model
from softhash.model.hasher import Hasher
from softhash.training.options import Options
from softhash.training.recipe import Recipe

Floats = npt.NDArray[np.float32]
COMMON = Recipe().changed(
    mode="frozen", method="softhash", bits=48, epochs=40, batch_size=128, hidden=1024, dropout=0.5,
    skip_dropout=1.0,
)  # fmt: skip
METRICS = "map@5000", "ndcg@20"


def main() -> None:
    """Measure one collection, and print a line per model."""
    parser = argparse.ArgumentParser()
    parser.add_argument("features", type=Path)
    parser.add_argument("pictures", type=Path)
    parser.add_argument("--database", type=int, default=0, help="how many items, 0 for all")
    parser.add_argument("--seeds", type=int, default=3)
    asked = parser.parse_args()
    inputs = load_features(asked.features).inputs
    query, database = inputs.query.numpy(), choose(inputs.database.numpy(), asked.database)
    hasher = Hasher.load(default_model())
    rows = np.concatenate([query, database])
    fp32 = inputs.features.numpy()[rows]
    int8 = compute(hasher.with_engine("int8"), inputs, rows, asked.pictures)
    print(f"{len(query):,} queries, {len(database):,} items; cosine {cosine(fp32, int8):.4f}")
    labels = inputs.labels.numpy()
    parts = len(query), (labels[query], labels[database])
    compare("default, 256 bits", hasher.head_only().outputs, fp32, int8, *parts)
    for seed in range(asked.seeds):
        cell = train_cell(COMMON.changed(seed=seed), inputs, Options(device="cpu"))
        network = cell.network.eval()

        @torch.inference_mode()
        def outputs(features: Floats, network: torch.nn.Module = network) -> Floats:
            found: Floats = network(torch.from_numpy(features)).numpy()
            return found

        compare(f"48 bits, seed {seed}", outputs, fp32, int8, *parts)


def choose(database: npt.NDArray[np.int64], count: int) -> npt.NDArray[np.int64]:
    """Draw some items of a database, or take all."""
    if not 0 < count < len(database):
        return database
    return np.sort(np.random.default_rng(0).choice(database, count, replace=False))


def compute(
    hasher: Hasher, inputs: GridInputs, rows: npt.NDArray[np.int64], pictures: Path
) -> Floats:
    """Compute features, and round them to half precision as those of the file are.

    Args:
        hasher: that computes them.
        inputs: the collection.
        rows: of the pictures.
        pictures: the folder that names are relative to.

    """
    names = tuple(inputs.names[i] for i in rows)
    images = ImageSet(pictures, names, np.zeros((len(names), 0), np.uint8), ())
    return hasher.features(images, device="cpu").astype(np.float16).astype(np.float32)


def cosine(a: Floats, b: Floats) -> float:
    """Return the mean cosine of rows."""
    norms = np.linalg.norm(a, axis=1) * np.linalg.norm(b, axis=1)
    return float(((a * b).sum(axis=1) / norms).mean())


def compare(
    name: str,
    outputs: Callable[[Floats], Floats],
    fp32: Floats,
    int8: Floats,
    queries: int,
    labels: tuple[npt.NDArray[np.uint8], npt.NDArray[np.uint8]],
) -> None:
    """Print the metrics of both, the difference, and how many bits are equal.

    Args:
        name: of the model.
        outputs: makes u of features.
        fp32: features.
        int8: features of the same pictures.
        queries: how many of the rows, from the first on, are queries.
        labels: of queries and database.

    """
    both = [outputs(features) for features in (fp32, int8)]
    found = []
    for u in both:
        codes = pack(u)
        sides = codes[:queries], codes[queries:]
        report = evaluate_codes(*sides, *labels, bits=u.shape[1], at=(20, 5000))
        found.append([report.metrics[metric] for metric in METRICS])
    equal = ((both[0] > 0) == (both[1] > 0)).mean()
    for metric, before, after in zip(METRICS, *found, strict=True):
        print(f"{name}: {metric} {before:.4f} -> {after:.4f} ({after - before:+.4f})", flush=True)
    print(f"{name}: {equal:.2%} of bits are equal", flush=True)


if __name__ == "__main__":
    main()
