"""Queries and database, encoded: measured and searched by what their codes are to be ranked by."""

from collections.abc import Sequence
from contextlib import closing
from dataclasses import dataclass
from typing import Any

import numpy as np
import numpy.typing as npt
import torch
from torch import Tensor

from softhash import hamming
from softhash.codes import Codes, unpack
from softhash.evaluation.by_distance import (
    evaluate_distances,
    evaluate_feature_rescored,
    evaluate_rescored,
)
from softhash.evaluation.evaluate import evaluate_codes
from softhash.evaluation.feature_pair import FeaturePair
from softhash.evaluation.measure import Cut
from softhash.evaluation.report import Report
from softhash.training.batches import in_parts
from softhash.training.pictures import Inputs

AT_ONCE = 256

Positions = npt.NDArray[np.int64]


@dataclass(frozen=True, eq=False)
class EncodedSplit:
    """The codes and labels of queries and of a database.

    Attributes:
        codes: of queries and of the database, packed.
        labels: of queries and of the database.
        bits: length of the codes.
        near: distances (queries, n) where the Hamming distance does not count: codes are indices
            of codebooks, or there are none.
        distance: the name of what is ranked by, for the contract.
        outputs: real-valued outputs of the queries (queries, bits), for `rescored`.
        device: that measures rankings by Hamming distance, a processor by default.

    """

    codes: tuple[Codes, Codes]
    labels: tuple[npt.NDArray[Any], npt.NDArray[Any]]
    bits: int
    near: npt.NDArray[np.float32] | None = None
    distance: str = "Hamming"
    outputs: npt.NDArray[np.float32] | None = None
    device: torch.device | None = None

    def report(
        self, at: Sequence[Cut], ties: str = "expected", curves: Sequence[int] = ()
    ) -> Report:
        """Measure the rankings of all queries.

        Args:
            at: cut-offs, numbers or "all".
            ties: `expected` or `stable`.
            curves: numbers of returned pictures at which curves are measured.

        """
        if self.near is None:
            sides: Any = (*self.codes, *self.labels)
            if self.device and self.device.type == "cuda":
                sides = [torch.from_numpy(side).to(self.device) for side in sides]
            return evaluate_codes(*sides, bits=self.bits, at=at, ties=ties, curves=curves)
        return evaluate_distances(
            self.near, *self.labels,
            bits=self.bits, distance=self.distance, at=at, ties=ties, curves=curves,
        )  # fmt: skip

    def rescored(self, at: Sequence[Cut], features: FeaturePair | None) -> dict[str, Report]:
        """Measure the rankings of rescored searches, named as rows of results name them.

        Args:
            at: cut-offs, numbers or "all".
            features: of queries and database, where searches can be rescored by these too.

        """
        if self.near is not None or self.outputs is None:
            return {}
        sides = self.outputs, self.codes[1], *self.labels
        found = {"metrics_rescored": evaluate_rescored(*sides, at=at)}
        if features is not None:
            by_features = evaluate_feature_rescored(*sides, features, at=at)
            found["metrics_rescored_by_features"] = by_features
        return found

    def nearest(self, queries: Positions, k: int) -> Positions:
        """Find the k nearest in the database for some queries; ties in database order."""
        if self.near is not None:
            return np.argsort(self.near[queries], axis=1, kind="stable")[:, :k]
        k = min(k, len(self.codes[1]))
        found: Positions = hamming.nearest(self.codes[0][queries], self.codes[1], k)[1]
        return found


@torch.no_grad()
def outputs(network: Any, inputs: Inputs, device: torch.device) -> npt.NDArray[np.float32]:
    """Compute the real-valued u (n, bits), a few rows at a time.

    Args:
        network: a whole one, or the head alone.
        inputs: pixels for a whole network, features for a head.
        device: that the network is on.

    """
    network.eval()
    with closing(in_parts(inputs, AT_ONCE, device)) as rows:
        parts = [network(part).float().cpu() for part in rows]
    u: npt.NDArray[np.float32] = torch.cat(parts).numpy()
    return u


@torch.no_grad()
def quantiser_distances(
    network: Any, queries: Inputs, database: Codes, bits: int
) -> npt.NDArray[np.float32]:
    """Compute distances (queries, n) of queries from what codes of codebooks stand for.

    Args:
        network: a whole one, or the head alone.
        queries: pixels for a whole network, features for a head.
        database: packed codes, which are indices of codebooks.
        bits: length of the codes.

    """
    head = getattr(network.eval(), "head", network)
    features = Tensor.float if head is network else network.features
    device = head.codebooks.device
    with closing(in_parts(queries, AT_ONCE, device)) as rows:
        parts = [features(part) for part in rows]
    codes = torch.from_numpy(unpack(database, bits)).to(device)
    near: npt.NDArray[np.float32] = head.distances(torch.cat(parts), codes).cpu().numpy()
    return near
