"""Codes: bits learned from labels of several collections, and the prior of bits fitted to a folder.

One linear head learns from all collections. A batch is of one collection, and each has the softhash
method with anchors of its own: what two collections call by different words is never compared.
"""

from collections.abc import Sequence
from typing import NamedTuple

import numpy as np
import torch
from numpy.typing import NDArray
from tools.default_model.material import Collection, Places

from softhash.codes import pack
from softhash.evaluation.by_distance import evaluate_distances
from softhash.evaluation.evaluate import evaluate_codes, evaluate_outputs
from softhash.model.fitted_bits import Prior, fit_bits, take_turns
from softhash.model.heads import choose_scale
from softhash.training.methods.softhash import SoftHash

LEARNED, FITTED = 64, 192
LENGTHS = (8, 16, 32)  # of the learned bits: first bits of the whole code have a fourth of them
STEPS, BATCH, RATE, DROPOUT, DECAY = 1200, 256, 1e-3, 0.3, 1e-4
PRIOR_PICTURES = 6000  # of each collection
AT = (20, 100, 5000)
METRICS = ("map@5000", "ndcg@20", "ndcg@100", "acg@20", "precision@20")

Floats = NDArray[np.floating]
Labelled = tuple[Floats, NDArray[np.uint8]]  # features (n, d), and multi-hot labels (n, classes)


class Linear(NamedTuple):
    """A linear map of features; the signs of its outputs are bits."""

    weight: Floats  # (bits, d)
    bias: Floats  # (bits,)

    def __call__(self, x: Floats) -> Floats:
        """Return outputs (n, bits)."""
        return x @ self.weight.T + self.bias


def learn_bits(parts: Sequence[Labelled], seed: int = 0) -> Linear:
    """Learn bits from features and labels of several collections."""
    torch.manual_seed(seed)
    draw = np.random.default_rng(seed)
    everything = np.concatenate([x for x, _ in parts])
    mean, scale = torch.tensor(everything.mean(0)), choose_scale(torch.tensor(everything.std(0)))
    features = [(torch.tensor(x) - mean) / scale for x, _ in parts]
    labels = [torch.tensor(y, dtype=torch.float32) for _, y in parts]
    methods = [SoftHash(LEARNED, y.shape[1], lengths=LENGTHS) for y in labels]
    for method, x, y in zip(methods, features, labels, strict=True):
        method.study(x, y)
    head = torch.nn.Linear(everything.shape[1], LEARNED)
    torch.nn.init.normal_(head.weight, std=0.01)
    torch.nn.init.zeros_(head.bias)
    anchors = [one for method in methods for one in method.parameters()]
    groups = [
        {"params": [*head.parameters()], "weight_decay": DECAY},
        {"params": anchors, "weight_decay": 0.0},
    ]
    optimiser = torch.optim.AdamW(groups, lr=RATE)
    schedule = torch.optim.lr_scheduler.CosineAnnealingLR(optimiser, STEPS)
    dropout = torch.nn.Dropout(DROPOUT)
    for step in range(STEPS):
        turn = step % len(parts)
        some = torch.tensor(draw.choice(len(features[turn]), BATCH, replace=False))
        u = torch.tanh(head(dropout(features[turn][some])))
        loss = methods[turn](u, labels[turn][some], some)
        optimiser.zero_grad()
        loss.backward()
        optimiser.step()
        schedule.step()
    weight = (head.weight / scale).detach().double().numpy()
    return Linear(weight, head.bias.detach().double().numpy() - weight @ mean.double().numpy())


def find_prior(features: Sequence[Floats], axes: int = FITTED) -> Prior:
    """Return the normal distribution of features, as many pictures of each collection."""
    draw = np.random.default_rng(0)
    some = [x[draw.permutation(len(x))[:PRIOR_PICTURES]] for x in features]
    x = np.concatenate(some).astype(np.float64)
    mean = x.mean(axis=0)
    values, vectors = np.linalg.eigh((x - mean).T @ (x - mean) / len(x))
    return Prior(mean, (vectors[:, ::-1][:, :axes] * np.sqrt(values[::-1][:axes])).T)


def whole_code(learned: Linear, features: Floats, prior: Prior) -> Linear:
    """Return the map to the whole code of a folder with these features."""
    fitted = fit_bits(features[:10_000], FITTED, prior)
    order = take_turns(LEARNED, FITTED)
    both = [np.concatenate(pair)[order] for pair in zip(learned, fitted, strict=True)]
    return Linear(*both)


def measure_codes(one: Collection, code: Linear, queries: Places, bits: int) -> dict[str, float]:
    """Measure the first bits of codes on a collection's database."""
    x, y = one.features, one.labels
    packed = [
        pack(code(x[places])[:, :bits].astype(np.float32)) for places in (queries, one.database)
    ]
    report = evaluate_codes(*packed, y[queries], y[one.database], bits=bits, at=AT)
    return {name: report.metrics[name] for name in METRICS}


def measure_rescored(one: Collection, code: Linear, queries: Places) -> dict[str, float]:
    """Measure whole codes with the first hits ranked again by how sure the query's bits are."""
    x, y = one.features, one.labels
    u = np.tanh(code(x[queries])).astype(np.float32)
    packed = pack(code(x[one.database]).astype(np.float32))
    report = evaluate_outputs(u, packed, y[queries], y[one.database], rescore="bits", at=AT)
    return {name: report.rescored[name] for name in METRICS}


def measure_floats(one: Collection, queries: Places) -> dict[str, float]:
    """Measure the cosine of features as they are."""
    unit = one.features / np.linalg.norm(one.features, axis=1, keepdims=True)
    distances = 1 - unit[queries] @ unit[one.database].T
    report = evaluate_distances(
        distances,
        one.labels[queries],
        one.labels[one.database],
        bits=32 * one.features.shape[1],
        distance="cosine of float features",
        at=AT,
    )
    return {name: report.metrics[name] for name in METRICS}
