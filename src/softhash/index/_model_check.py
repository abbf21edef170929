"""The model that made the codes of an index, and whether another is the same."""

from typing import TYPE_CHECKING

from softhash.errors import ModelMismatchError, NoModelError
from softhash.index.store import Store

if TYPE_CHECKING:
    from softhash.model.hasher import Hasher


def check_model(store: Store, hasher: "Hasher") -> None:
    """Raise ModelMismatchError for a model whose codes would mean something else."""
    bits, made_by = store.meta.bits, store.meta.model
    if hasher.bits != bits or (made_by and hasher.identity != made_by):
        raise ModelMismatchError(
            f"{store.location} was made with another model ({bits} bits, weights "
            f"{made_by[:12] or 'unknown'}…) than this one ({hasher.bits} bits, weights "
            f"{hasher.identity[:12]}…)",
            "use that model, or make a new index",
        )


def load_model(store: Store) -> "Hasher":
    """Load the model kept with an index, or raise NoModelError."""
    from softhash.model.hasher import Hasher

    if not store.model_folder.exists():
        raise NoModelError(
            f"{store.location} has no model to encode pictures with",
            "open it with the hasher that made its codes, or search by id or code",
        )
    hasher = Hasher.load(store.model_folder)
    check_model(store, hasher)
    return hasher
