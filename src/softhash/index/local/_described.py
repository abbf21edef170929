"""All that filters look at beside given labels: likely labels, facts and folders of all slots."""

from pathlib import Path
from typing import NamedTuple

from softhash.hamming.words import Words
from softhash.index.local._columns import Ids
from softhash.index.local._database import State
from softhash.index.local._derived_columns import packed
from softhash.index.local._fact_columns import NO_FACTS, FactColumns, KeptFactColumns
from softhash.index.local._folders import NO_FOLDERS, FolderColumn, KeptFolders, Names
from softhash.index.local._likely_columns import NO_COLUMNS, KeptColumns, LikelyColumns
from softhash.index.where import Camera, Folder, Likely, Taken, Where, leaves


class DescribedSlots(NamedTuple):
    """What a filter needs of some slots; what it does not need is empty."""

    likely: LikelyColumns = NO_COLUMNS
    facts: FactColumns = NO_FACTS
    folders: FolderColumn = NO_FOLDERS

    @property
    def version(self) -> tuple[int, int]:
        """What differs between two times at which something else was kept of the same items."""
        return self.likely.version, self.facts.version

    def take(self, ids: Ids) -> "DescribedSlots":
        """Return the same of some slots."""
        return DescribedSlots(self.likely.take(ids), self.facts.take(ids), self.folders.take(ids))

    def mask(self, leaf: Likely | Folder | Taken | Camera, n: int) -> Words:
        """Return a packed mask of the first n slots: which of them a leaf keeps."""
        match leaf:
            case Likely(name, at_least):
                return self.likely.mask(name, at_least, n)
            case Folder():
                return packed(self.folders.flags(leaf), n)
            case _:
                return packed(self.facts.flags(leaf), n)


class KeptDescriptions:
    """What an index keeps of its items now, beside their codes and given labels."""

    def __init__(self, folder: Path, names: Names) -> None:
        """Take the folder of an index, and what reads file names as `KeptFolders` does."""
        self._likely, self._facts = KeptColumns(folder), KeptFactColumns(folder)
        self._folders = KeptFolders(names)

    def read(self, where: Where, state: State, *, likely: bool = False) -> DescribedSlots:
        """Read what a filter needs.

        Args:
            where: the filter.
            state: of the index.
            likely: whether likely labels are needed in any case.

        """
        kinds = {type(leaf) for leaf, _ in leaves(where)}
        found = DescribedSlots()
        if likely or Likely in kinds:
            found = found._replace(likely=self._likely.read(state.model))
        if kinds & {Taken, Camera}:
            found = found._replace(facts=self._facts.read())
        if Folder in kinds:
            found = found._replace(folders=self._folders.read(state))
        return found
