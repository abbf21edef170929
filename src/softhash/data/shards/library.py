"""pyarrow, which reads and writes tables, imported when it is first needed."""

from typing import Any

from softhash.errors import MissingExtraError


def import_pyarrow() -> Any:
    """Import pyarrow, with its readers of streams.

    Raises:
        MissingExtraError: it is not installed.

    """
    try:
        import pyarrow
        import pyarrow.ipc
    except ModuleNotFoundError as error:
        raise MissingExtraError("pyarrow", "parquet") from error
    return pyarrow
