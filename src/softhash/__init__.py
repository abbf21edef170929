"""Find pictures by what is in them: binary codes whose Hamming distance follows shared labels."""

from importlib import import_module
from typing import TYPE_CHECKING, Any

from softhash.errors import (
    AddressError,
    AlreadyExistsError,
    DivergedError,
    EmptyUpdateError,
    ExpressionError,
    ImageError,
    IndexBusyError,
    IndexDamagedError,
    InputError,
    MissingExtraError,
    ModelMismatchError,
    NoFeaturesError,
    NoModelError,
    NoOutputsError,
    QueryError,
    ShardError,
    SofthashError,
    StoreUnavailableError,
    UnknownItemError,
    UnknownWordError,
    UsageError,
)

if TYPE_CHECKING:
    from softhash.codes import pack, unpack
    from softhash.data.decoding import open_image
    from softhash.data.image_set import ImageSet
    from softhash.data.splits.split import Split
    from softhash.evaluation.by_score import tie_aware_map, tie_aware_ndcg
    from softhash.evaluation.code_statistics import describe_codes
    from softhash.evaluation.evaluate import evaluate, evaluate_codes, evaluate_lengths
    from softhash.evaluation.report import Report
    from softhash.evaluation.tie_range import evaluate_range
    from softhash.evaluation.torchmetrics_metric import TieAwareMAP, TieAwareNDCG
    from softhash.hamming.search import nearest, within
    from softhash.index.hamming_index import HammingIndex
    from softhash.index.items import Entry, Hit
    from softhash.index.result import SearchResult
    from softhash.model.encoding import Encoded
    from softhash.model.hasher import Hasher
    from softhash.training.fit import fit, fit_features
    from softhash.training.options import Options
    from softhash.training.recipe import Recipe

__version__ = "0.1.0"

_HOMES = {
    "Encoded": "softhash.model.encoding",
    "Entry": "softhash.index.items",
    "HammingIndex": "softhash.index.hamming_index",
    "Hasher": "softhash.model.hasher",
    "Hit": "softhash.index.items",
    "ImageSet": "softhash.data.image_set",
    "Options": "softhash.training.options",
    "Recipe": "softhash.training.recipe",
    "Report": "softhash.evaluation.report",
    "SearchResult": "softhash.index.result",
    "Split": "softhash.data.splits.split",
    "TieAwareMAP": "softhash.evaluation.torchmetrics_metric",
    "TieAwareNDCG": "softhash.evaluation.torchmetrics_metric",
    "describe_codes": "softhash.evaluation.code_statistics",
    "evaluate": "softhash.evaluation.evaluate",
    "evaluate_codes": "softhash.evaluation.evaluate",
    "evaluate_lengths": "softhash.evaluation.evaluate",
    "evaluate_range": "softhash.evaluation.tie_range",
    "fit": "softhash.training.fit",
    "fit_features": "softhash.training.fit",
    "nearest": "softhash.hamming.search",
    "open_image": "softhash.data.decoding",
    "pack": "softhash.codes",
    "tie_aware_map": "softhash.evaluation.by_score",
    "tie_aware_ndcg": "softhash.evaluation.by_score",
    "unpack": "softhash.codes",
    "within": "softhash.hamming.search",
}

__all__ = [
    "AddressError",
    "AlreadyExistsError",
    "DivergedError",
    "EmptyUpdateError",
    "Encoded",
    "Entry",
    "ExpressionError",
    "HammingIndex",
    "Hasher",
    "Hit",
    "ImageError",
    "ImageSet",
    "IndexBusyError",
    "IndexDamagedError",
    "InputError",
    "MissingExtraError",
    "ModelMismatchError",
    "NoFeaturesError",
    "NoModelError",
    "NoOutputsError",
    "Options",
    "QueryError",
    "Recipe",
    "Report",
    "SearchResult",
    "ShardError",
    "SofthashError",
    "Split",
    "StoreUnavailableError",
    "TieAwareMAP",
    "TieAwareNDCG",
    "UnknownItemError",
    "UnknownWordError",
    "UsageError",
    "describe_codes",
    "evaluate",
    "evaluate_codes",
    "evaluate_lengths",
    "evaluate_range",
    "fit",
    "fit_features",
    "nearest",
    "open_image",
    "pack",
    "tie_aware_map",
    "tie_aware_ndcg",
    "unpack",
    "within",
]


def __getattr__(name: str) -> Any:
    """Import a public name when it is first used, so that `import softhash` stays light."""
    if name not in _HOMES:
        raise AttributeError(f"module 'softhash' has no attribute '{name}'")
    try:
        return getattr(import_module(_HOMES[name]), name)
    except ModuleNotFoundError as error:
        if error.name == "torch":
            raise MissingExtraError("torch", "train") from error
        raise


def __dir__() -> list[str]:
    return [*__all__, "__version__"]
