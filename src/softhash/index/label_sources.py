"""Where an index takes more labels from than its collection gives: remembered beside its codes.

`labels-from.json` in the folder of an index holds the names of the sources. Milvus remembers none.
"""

import json
from collections.abc import Sequence
from pathlib import Path

from softhash.data.labelling import SOURCES, source_names
from softhash.errors import InputError
from softhash.files import write_whole

NAME = "labels-from.json"
MAX_BYTES = 1_000
NOTHING = "none"  # to be asked for: no source, and none remembered


def choose_sources(location: str, asked: Sequence[str] | None) -> list[str]:
    """Return where labels come from: as asked for, otherwise as the last time.

    Args:
        location: of the index.
        asked: names of sources, or `none`; None where nobody asked.

    """
    if asked is None:
        return remembered_sources(location)
    return [] if list(asked) == [NOTHING] else source_names(asked)


def remembered_sources(location: str) -> list[str]:
    """Return the sources that an index was last updated with; none for one that is new.

    Raises:
        InputError: the file is damaged.

    """
    path = Path(location) / NAME
    try:
        with path.open("rb") as file:
            found = json.loads(file.read(MAX_BYTES + 1))
    except (FileNotFoundError, NotADirectoryError):
        return []
    except (OSError, ValueError, RecursionError):
        found = None
    if not isinstance(found, list) or not all(isinstance(one, str) for one in found):
        raise InputError(f"{path} is damaged", "name the sources anew, with --labels-from")
    if not set(found) <= SOURCES.keys():
        raise InputError(f"{path} names a source of labels that this version does not know")
    return found


def remember_sources(location: str, sources: Sequence[str]) -> None:
    """Remember the sources of an index in a folder, for its next update.

    Args:
        location: of the index; one that is no folder remembers none.
        sources: names of `softhash.data.labelling.SOURCES`.

    """
    folder = Path(location)
    if folder.is_dir():
        if sources:
            write_whole(folder / NAME, json.dumps(list(sources)), force=True)
        else:
            (folder / NAME).unlink(missing_ok=True)
