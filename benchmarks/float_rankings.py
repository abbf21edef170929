"""Rankings without any hashing, beside which codes stand: by float features and by probabilities.

    python benchmarks/float_rankings.py VOC [--model MODEL | --finetune]

The split is the paper's, as of `softhash bench`. Ranked are the backbone's features (cosine, as
they are and standardised) and the probabilities of labels that a logistic regression on the
features of the train set gives, compared by their cosine and by the expected number of shared
labels. With a model, the backbone is the model's, which may be fine-tuned on the same train set,
and its codes are ranked beside them. With `--finetune`, a classifier is trained through the
backbone, by cross-entropy and otherwise as our own method is, and its own probabilities are ranked
as well. The last columns are of queries with so many labels alone.
"""

import argparse

import numpy as np
import torch
from torch.nn.functional import binary_cross_entropy_with_logits

from softhash import Hasher, ImageSet
from softhash.codes import row_bytes, unpack
from softhash.evaluation.by_distance import evaluate_distances
from softhash.model.label_classifier import fit_label_classifier
from softhash.training.features import compute_features
from softhash.training.fit import build_hasher, fit
from softhash.training.methods import Method
from softhash.training.options import Options
from softhash.training.recipe import Recipe


class Classifier(Method):
    """Logits of labels instead of bits."""

    name = "classifier"
    activation = "identity"

    def forward(self, u: torch.Tensor, labels: torch.Tensor, index: torch.Tensor) -> torch.Tensor:
        """Cross-entropy, summed over labels."""
        entropy = binary_cross_entropy_with_logits(u, labels.to(u.dtype), reduction="none")
        return entropy.sum(dim=1).mean()


def main() -> None:
    """Print a table of rankings."""
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("data")
    parser.add_argument("--model", help="a model's folder; EfficientNet-Lite0 as published without")
    parser.add_argument("--finetune", action="store_true", help="train a classifier first")
    parser.add_argument("--seed", type=int, default=0, help="of training")
    given = parser.parse_args()
    train, query, database = ImageSet.read(given.data).split("random", seed=0)
    train = train.select(~train.without_labels)
    hasher = Hasher.load(given.model) if given.model else Hasher("efficientnet_lite0")
    if given.finetune:
        hasher = classifier(train, given.seed)
    folder = Options().feature_cache
    x, q, d = (
        compute_features(hasher, part, cache=folder).values for part in (train, query, database)
    )
    fitted = fit_label_classifier(
        torch.from_numpy(x), torch.from_numpy(train.labels), train.classes
    )
    p, r = fitted.probabilities(q), fitted.probabilities(d)
    mean, std = x.mean(axis=0), x.std(axis=0).clip(min=0.01 * x.std(axis=0).mean())
    rankings = {
        f"features, cosine, {4 * x.shape[1]:,} bytes": 1 - cosine(q, d),
        "standardised features, cosine": 1 - cosine((q - mean) / std, (d - mean) / std),
        f"probabilities of labels, cosine, {4 * p.shape[1]:,} bytes": 1 - cosine(p, r),
        "probabilities, expected shared labels": -(p @ r.T),
    }
    if given.finetune:
        p, r = (1 / (1 + np.exp(-hasher.outputs(part))) for part in (query, database))
        rankings["the classifier's own probabilities, cosine"] = 1 - cosine(p, r)
        rankings["the classifier's, expected shared labels"] = -(p @ r.T)
    if given.model:
        a, b = (2.0 * unpack(hasher.encode(part), hasher.bits) - 1 for part in (query, database))
        rankings[f"the model's codes, {row_bytes(hasher.bits)} bytes"] = hasher.bits - a @ b.T
    count = query.labels.sum(axis=1)
    columns = [(count > 0, ("map@5000", "ndcg@100", "acg@100", "wap@5000"))]
    columns += [(some, ("ndcg@100",)) for some in (count == 1, count == 2, count > 2)]
    print("| ranked by | map@5000 | ndcg@100 | acg@100 | wap@5000 | ndcg@100, 1 label | 2 | more |")
    print("|---" * 8 + "|")
    for name, distances in rankings.items():
        cells = []
        for some, wanted in columns:
            if not some.any():  # a collection need not have queries with so many labels
                cells += ["—"]
                continue
            labels = query.labels[some], database.labels
            report = evaluate_distances(
                distances[some], *labels, bits=1, distance=name, at=(100, 5000)
            )
            cells += [f"{report.metrics[metric]:.4f}" for metric in wanted]
        print(f"| {name} |", " | ".join(cells), "|", flush=True)


def classifier(train: ImageSet, seed: int) -> Hasher:
    """Fine-tune a classifier as `softhash train --finetune` would our own method."""
    ours = Recipe.with_defaults(mode="finetune", size=227, seed=seed)
    recipe = ours.changed(method=Classifier.name, bits=len(train.classes))
    hasher = build_hasher(recipe, method=Classifier)
    return fit(hasher, train, method=Classifier, recipe=recipe)


def cosine(a: np.ndarray, b: np.ndarray) -> np.ndarray:
    """Compute the cosine of every row of one matrix and every row of another."""
    a, b = (m / np.linalg.norm(m, axis=1, keepdims=True).clip(min=1e-12) for m in (a, b))
    return a @ b.T


if __name__ == "__main__":
    main()
