"""Tie-aware MAP and NDCG as metrics of torchmetrics, whose own leave the AP of ties to a sort.

It needs the extra `torchmetrics`. They differ from `RetrievalMAP` and `RetrievalNormalizedDCG` in
three points:

- Items of a query with equal scores are counted in all orders, not in the order of a sort.
  `RetrievalNormalizedDCG` does that too.
- Scores have any sign. `RetrievalMAP` counts an item with a score ≤ 0 as irrelevant.
- The gain of NDCG is 2^target − 1. `RetrievalNormalizedDCG` takes the target itself, which is the
  same where targets are 0 and 1.
"""

from importlib import import_module
from typing import TYPE_CHECKING, Any

from softhash.errors import MissingExtraError
from softhash.evaluation.by_score import check_cut, tie_aware_map, tie_aware_ndcg

if TYPE_CHECKING:
    from torch import Tensor


class _Missing:
    """Stands in for the base class where torchmetrics is not installed."""

    def __init__(self, **options: Any) -> None:
        raise MissingExtraError("torchmetrics", "torchmetrics")


def _retrieval_metric() -> Any:
    try:
        return import_module("torchmetrics.retrieval.base").RetrievalMetric
    except ModuleNotFoundError:
        return _Missing


RetrievalMetric: Any = _retrieval_metric()


class _TieAware(RetrievalMetric):  # type: ignore[misc]
    def __init__(self, n: int | None = 5000, **options: Any) -> None:
        super().__init__(**options)
        self.n = check_cut(n)
        self.allow_non_binary_target = True


class TieAwareMAP(_TieAware):
    """Mean average precision, averaged over all orders of items with equal scores.

    `update(preds, target, indexes)` takes scores, gains (whole numbers, relevant above 0) and the
    query of each item, as the retrieval metrics of torchmetrics do. AP@n is divided by the relevant
    items within the first n.

    Args:
        n: the cut-off; None for all items.
        options: of `torchmetrics.retrieval.RetrievalMAP`: `empty_target_action`, by which queries
            without a relevant item count as 0, `ignore_index` and `aggregation`.

    Raises:
        MissingExtraError: torchmetrics is not installed.

    >>> from torch import tensor
    >>> metric = TieAwareMAP()
    >>> metric.update(tensor([2.0, 1, 1, 0]), tensor([1, 1, 0, 0]), tensor([0, 0, 0, 0]))
    >>> metric.compute()
    tensor(0.9167)

    """

    def _metric(self, preds: "Tensor", target: "Tensor") -> "Tensor":
        return preds.new_tensor(tie_aware_map(*_arrays(preds, target), self.n))


class TieAwareNDCG(_TieAware):
    """NDCG with the gain 2^target − 1, averaged over all orders of items with equal scores.

    Args:
        n: the cut-off; None for all items.
        options: as for `TieAwareMAP`.

    Raises:
        MissingExtraError: torchmetrics is not installed.

    >>> from torch import tensor
    >>> metric = TieAwareNDCG(n=None)
    >>> metric.update(tensor([0.5, 0.5, 0.1]), tensor([2, 0, 1]), tensor([0, 0, 0]))
    >>> metric.compute()
    tensor(0.8115)

    """

    def _metric(self, preds: "Tensor", target: "Tensor") -> "Tensor":
        return preds.new_tensor(tie_aware_ndcg(*_arrays(preds, target), self.n))


def _arrays(preds: "Tensor", target: "Tensor") -> tuple[Any, Any]:
    return preds.detach().cpu().numpy(), target.cpu().numpy()
