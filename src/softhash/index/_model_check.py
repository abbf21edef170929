"""The model that made the codes of an index, and whether another is the same."""

from contextlib import suppress
from typing import TYPE_CHECKING

from softhash.errors import ModelMismatchError, NoModelError, UsageError
from softhash.index.store import Store
from softhash.model.config import ENGINES

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


def match_model(store: Store, hasher: "Hasher") -> "Hasher":
    """Return a hasher as an index needs it: with the engine that made its codes.

    Raises:
        ModelMismatchError: it is of other weights.

    """
    made_by = store.meta.model
    if made_by and hasher.bits == store.meta.bits and hasher.identity != made_by:
        for engine in ENGINES:
            with suppress(UsageError):  # an engine that is not for this network
                other = hasher.with_engine(engine)
                if other.identity == made_by:
                    return other
    check_model(store, hasher)
    return hasher


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
