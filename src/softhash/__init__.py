"""Find pictures by what is in them: binary codes whose Hamming distance follows shared labels."""

from importlib import import_module
from typing import TYPE_CHECKING, Any

from softhash.errors import InputError, MissingExtraError, SofthashError, UsageError

if TYPE_CHECKING:
    from softhash.codes import pack, unpack
    from softhash.evaluation import evaluate, evaluate_codes
    from softhash.fitting import fit
    from softhash.hamming import nearest, within
    from softhash.hasher import Hasher
    from softhash.images import ImageSet, open_image
    from softhash.index import HammingIndex
    from softhash.model.encoding import Encoded
    from softhash.recipe import Recipe
    from softhash.report import Report

__version__ = "0.1.0.dev0"

__all__ = [
    "Encoded",
    "HammingIndex",
    "Hasher",
    "ImageSet",
    "InputError",
    "MissingExtraError",
    "Recipe",
    "Report",
    "SofthashError",
    "UsageError",
    "evaluate",
    "evaluate_codes",
    "fit",
    "nearest",
    "open_image",
    "pack",
    "unpack",
    "within",
]

_HOMES = {
    "Encoded": "softhash.model.encoding",
    "HammingIndex": "softhash.index",
    "Hasher": "softhash.hasher",
    "ImageSet": "softhash.images",
    "Recipe": "softhash.recipe",
    "Report": "softhash.report",
    "evaluate": "softhash.evaluation",
    "evaluate_codes": "softhash.evaluation",
    "fit": "softhash.fitting",
    "nearest": "softhash.hamming",
    "open_image": "softhash.images",
    "pack": "softhash.codes",
    "unpack": "softhash.codes",
    "within": "softhash.hamming",
}


def __getattr__(name: str) -> Any:
    """Import a public name when it is first used, so that `import softhash` stays light."""
    if name not in _HOMES:
        raise AttributeError(f"module 'softhash' has no attribute '{name}'")
    return getattr(import_module(_HOMES[name]), name)


def __dir__() -> list[str]:
    return [*__all__, "__version__"]
