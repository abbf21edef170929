"""The model that comes with softhash; so far there is none."""

from pathlib import Path

from softhash.errors import UsageError


def default_model() -> Path:
    """Return the folder of the model to use where none is named."""
    raise UsageError(
        "a new index needs a model to encode its pictures with: -m MODEL, a folder that "
        "`softhash train` wrote"
    )
