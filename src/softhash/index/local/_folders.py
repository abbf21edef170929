"""The folders of all slots in memory, for filters."""

from collections.abc import Callable, Iterable

import numpy as np
import numpy.typing as npt

from softhash.index.local._columns import Ids
from softhash.index.local._crc32 import Flags
from softhash.index.local._database import State
from softhash.index.local._derived_columns import rows_at
from softhash.index.where import Folder

NO_FOLDER = -1  # of a slot whose item was removed

Places = npt.NDArray[np.int32]
Names = Callable[[int], Iterable[tuple[int, str]]]


class FolderColumn:
    """The folder of each of the first slots, as its place among all paths."""

    def __init__(self, paths: dict[str, int], places: Places) -> None:
        self.paths, self.places = paths, places

    def take(self, ids: Ids) -> "FolderColumn":
        """Return the rows of some slots."""
        return FolderColumn(self.paths, rows_at(self.places, ids, NO_FOLDER))

    def flags(self, leaf: Folder) -> Flags:
        """Return which of the first slots are in a folder, or below it."""
        kept = np.array([*map(leaf.holds, self.paths), False])  # the last for `NO_FOLDER`
        return kept[self.places]


NO_FOLDERS = FolderColumn({}, np.empty(0, np.int32))


class KeptFolders:
    """The folders as items.sqlite has them; new items are added to what was read before."""

    def __init__(self, names: Names) -> None:
        """Take what returns ids and file names above an id, in id order."""
        self._names = names
        self._last = -1, NO_FOLDERS

    def read(self, state: State) -> FolderColumn:
        """Return the folders of all slots of a state."""
        edits, known = self._last
        if edits != state.edits:
            known = NO_FOLDERS
        if len(known.places) < state.slots:
            known = self._grown(known, state.slots)
            self._last = state.edits, known
        return known

    def _grown(self, known: FolderColumn, slots: int) -> FolderColumn:
        places = np.full(slots, NO_FOLDER, np.int32)
        done, paths = len(known.places), dict(known.paths)
        places[:done] = known.places
        for id, name in self._names(done - 1):
            if id >= slots:  # added meanwhile
                break
            places[id] = paths.setdefault(name.rpartition("/")[0], len(paths))
        return FolderColumn(paths, places)
