"""The rows of one recipe on one collection, and the differences that were tested."""

from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path

from softhash import InputError
from softhash.experiments.results import read_results
from softhash.plots.differences import Differences, Line, find_file, read_differences
from softhash.plots.groups import Group, group_rows

SHOWN_BITS = 48  # the length of tables that show one


@dataclass(frozen=True)
class Part:
    """The rows of one recipe, as a table has them.

    Attributes:
        name: of the file, without its ending.
        group: the rows.
        lines: tested differences, none where they were not tested.

    """

    name: str
    group: Group
    lines: Sequence[Line]

    @property
    def tested(self) -> Differences:
        """The differences, for tables."""
        return Differences(self.lines)


def read_part(folder: Path, name: str) -> Part:
    """Read the rows of one recipe.

    Raises:
        InputError: there are none, or they are of several splits or modes.

    """
    file = folder / f"{name}.jsonl"
    groups = group_rows(read_results(file))
    if len(groups) > 1:
        raise InputError(f"{file} has rows of {len(groups)} splits or modes", "separate them")
    differences = find_file(file)
    return Part(name, groups[0], read_differences(differences) if differences.exists() else [])
