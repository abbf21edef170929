"""Rankings without any hashing, beside which codes stand: by float features and by probabilities.

    python benchmarks/float_rankings.py VOC [--model MODEL]

The split is the paper's, as of `softhash bench`. Ranked are the backbone's features (cosine, as
they are and standardised) and the probabilities of labels that a logistic regression on the
features of the train set gives, compared by their cosine and by the expected number of shared
labels. With a model, the backbone is the model's, which may be fine-tuned on the same train set.
"""

import argparse

import numpy as np
import torch

from softhash import Hasher, ImageSet
from softhash.distances import evaluate_distances
from softhash.features import features_of
from softhash.model.labelling import fit_labelling


def main() -> None:
    """Print a table of rankings."""
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("data")
    parser.add_argument("--model", help="a model's folder; EfficientNet-Lite0 as published without")
    given = parser.parse_args()
    hasher = Hasher.load(given.model) if given.model else Hasher("efficientnet_lite0")
    train, query, database = ImageSet.read(given.data).split("random", seed=0)
    train = train.select(~train.without_labels)
    x, q, d = (features_of(hasher, part).values for part in (train, query, database))
    knows = fit_labelling(torch.from_numpy(x), torch.from_numpy(train.labels), train.classes)
    p, r = knows.probabilities(q), knows.probabilities(d)
    mean, std = x.mean(axis=0), x.std(axis=0).clip(min=0.01 * x.std(axis=0).mean())
    rankings = {
        f"features, cosine, {4 * x.shape[1]:,} bytes": 1 - cosine(q, d),
        "standardised features, cosine": 1 - cosine((q - mean) / std, (d - mean) / std),
        f"probabilities of labels, cosine, {4 * p.shape[1]:,} bytes": 1 - cosine(p, r),
        "probabilities, expected shared labels": -(p @ r.T),
    }
    names = ("map@5000", "ndcg@100", "acg@100", "wap@5000")
    print("| ranked by |", " | ".join(names), "|")
    print("|---" * (len(names) + 1) + "|")
    for name, distances in rankings.items():
        report = evaluate_distances(
            distances, query.labels, database.labels, bits=1, distance=name, at=(100, 5000)
        )
        print(f"| {name} |", " | ".join(f"{report.metrics[n]:.4f}" for n in names), "|", flush=True)


def cosine(a: np.ndarray, b: np.ndarray) -> np.ndarray:
    """Compute the cosine of every row of one matrix and every row of another."""
    a, b = (m / np.linalg.norm(m, axis=1, keepdims=True).clip(min=1e-12) for m in (a, b))
    return a @ b.T


if __name__ == "__main__":
    main()
