"""Codes by the million from the distribution of a trained model's codes, which are thousands.

A drawn output lies between that of a real picture and one of its nearest pictures, at random, plus
a share of the difference between two other near pictures: so density, correlations between bits and
the directions in which near pictures differ are those of real outputs. All of it happens before the
activation, where outputs are not saturated. The share is chosen such that as many drawn codes as
there are real ones have neighbours as near as those have; `compare` prints both.
"""

from concurrent.futures import ThreadPoolExecutor
from pathlib import Path
from typing import TYPE_CHECKING, NamedTuple

import numpy as np
import numpy.typing as npt
from numba import njit

from softhash.codes import Codes, pack
from softhash.hamming import nearest

if TYPE_CHECKING:
    from softhash import Hasher

NEAR = 8  # pictures that a drawn one may lie towards
AT_ONCE = 1 << 17
SHARES = (0.1, 0.2, 0.3, 0.4, 0.5, 0.6)
TRAINED_ON = 10_000  # pictures of the train part

Floats = npt.NDArray[np.float32]


class Outputs(NamedTuple):
    """Outputs of real pictures before the activation (n, bits), and the nearest of each (n, 8)."""

    values: Floats
    near: npt.NDArray[np.int64]


def train_outputs(features: Path, bits: int = 64) -> Floats:
    """Train a head on some of the train part of a file of features; return outputs of all pictures.

    The recipe is that of `recipes/compare/frozen-common.toml`.
    """
    from softhash import Hasher
    from softhash.experiments.feature_file import load_features
    from softhash.training.fit import fit_features
    from softhash.training.recipe import Recipe

    inputs = load_features(features).inputs
    values, labels = inputs.features.numpy(), inputs.labels.numpy().astype(np.uint8)
    fixed = {"mode": "frozen", "epochs": 40, "batch_size": 128, "hidden": 1024, "dropout": 0.5}
    recipe = Recipe().changed(method="softhash", bits=bits, skip_dropout=1.0, **fixed)
    hasher = Hasher.from_features(values.shape[1], bits)
    train = np.random.default_rng(0).permutation(inputs.train.numpy())[:TRAINED_ON]
    fit_features(hasher, values[train], labels[train], recipe=recipe)
    return _before_activation(hasher, values)


def default_outputs(features: Path, bits: int = 64) -> Floats:
    """Return the first outputs of the model that comes along, for a file of its features."""
    from softhash import Hasher
    from softhash.experiments.feature_file import load_features
    from softhash.model.default_model import default_model

    values = load_features(features).inputs.features.numpy()
    whole = _before_activation(Hasher.load(default_model()), values)
    return np.ascontiguousarray(whole[:, :bits])


def _before_activation(hasher: "Hasher", values: Floats) -> Floats:
    import torch

    head = hasher.network.head.cpu().eval()
    head.activation = "identity"
    with torch.no_grad():
        parts = [head(torch.from_numpy(part)) for part in np.array_split(values, 64)]
    return torch.cat(parts).numpy()


def find_near(values: Floats) -> Outputs:
    """Find the nearest outputs of each, by Euclidean distance."""
    import faiss

    index = faiss.IndexFlatL2(values.shape[1])
    index.add(values)
    near = index.search(values, NEAR + 1)[1][:, 1:]
    return Outputs(values, near)


def draw(outputs: Outputs, count: int, share: float, seed: int = 0) -> Codes:
    """Draw codes (count, bytes).

    Args:
        outputs: of real pictures.
        count: how many.
        share: of the difference between near pictures that is added.
        seed: of the draw.

    """
    codes = np.zeros((count, outputs.values.shape[1] // 8), np.uint8)
    with ThreadPoolExecutor(2) as pool:
        for start in range(0, count, AT_ONCE):
            rng = np.random.default_rng([seed, start])
            pool.submit(_draw, *outputs, np.float32(share), rng, codes[start : start + AT_ONCE])
    return codes


@njit(nogil=True)  # type: ignore[untyped-decorator]
def _draw(
    values: Floats,
    near: npt.NDArray[np.int64],
    share: np.float32,
    rng: np.random.Generator,
    codes: Codes,
) -> None:
    for row in range(len(codes)):
        place, other = rng.integers(0, len(values)), rng.integers(0, len(values))
        towards = near[place, rng.integers(0, NEAR)]
        further = near[other, rng.integers(0, NEAR)]
        way = np.float32(rng.random())
        for bit in range(values.shape[1]):
            value = values[place, bit] + way * (values[towards, bit] - values[place, bit])
            value += share * (values[further, bit] - values[other, bit])
            codes[row, bit >> 3] |= (value > 0) << (7 - bit % 8)


def statistics(codes: Codes, queries: int = 500, seed: int = 1) -> dict[str, float]:
    """Describe a distribution: distances of pairs, of the nearest, and what bits are like."""
    rng = np.random.default_rng(seed)
    first, second = rng.integers(0, len(codes), (2, 200_000))
    apart = np.bitwise_count(codes[first] ^ codes[second]).sum(1)
    some = rng.choice(len(codes), queries, replace=False)
    near = nearest(codes[some], codes, 101)[0]
    bits = np.unpackbits(codes[rng.choice(len(codes), min(len(codes), 50_000))], axis=1)
    correlations = np.corrcoef(bits.T[bits.std(0) > 0])
    off = ~np.eye(len(correlations), dtype=bool)
    found = {"pair, 1 %": np.quantile(apart, 0.01), "pair, median": np.median(apart)}
    found["pair, 99 %"] = np.quantile(apart, 0.99)
    for k in (1, 10, 100):
        found |= {f"{k}. nearest, mean": near[:, k].mean()}
        found |= {f"{k}. nearest, 90 %": np.quantile(near[:, k], 0.9)}
    found |= {
        "share of ones": bits.mean(),
        "correlation, mean of |r|": abs(correlations[off]).mean(),
    }
    found["distinct"] = len(np.unique(codes.view(np.uint64))) / len(codes)
    return {name: round(float(value), 3) for name, value in found.items()}


def choose_share(outputs: Outputs) -> float:
    """Choose the share at which neighbours are as near as among the real codes."""
    wanted = statistics(pack(outputs.values))["10. nearest, mean"]
    count = len(outputs.values)

    def miss(share: float) -> float:
        return abs(statistics(draw(outputs, count, share))["10. nearest, mean"] - wanted)

    return min(SHARES, key=miss)
