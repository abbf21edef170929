r"""CSV as spreadsheets write it: with commas, semicolons or tabs, and headers as people word them.

>>> table = parse("File Name;Keywords\r\na.jpg;sea, sky\r\n;\r\n", "m.csv")
>>> [cells for _, cells in table]
[{'file_name': 'a.jpg', 'labels': 'sea, sky'}]
"""

import csv
import io
import re
from collections.abc import Iterator, Sequence
from contextlib import suppress

from softhash.errors import InputError

SEPARATORS = ",;\t"
FILE_NAME, LABELS, SPLIT = "file_name", "labels", "split"

# A column has the first of these names that there is, whatever its case, spaces and underscores.
_NAMES = {
    FILE_NAME: "filename file image imagename imagefile imagepath picture photo filepath path "
    "sourcefile",
    LABELS: "labels label tags tag keywords keyword subject categories category",
    SPLIT: "split",
}
_SEPARATOR_LINE = re.compile(
    r'"?sep=([,;\t|])"?\r?\n', re.IGNORECASE
)  # as Excel reads and writes it
_BITS = frozenset(("", "0", "0.0", "False", "1", "1.0", "True"))

Row = tuple[str, dict[str, str]]  # where it stands, and its cells by column


def parse(text: str, path: object) -> list[Row]:
    """Return the rows of a table that are not empty; errors name `path` and the line.

    Columns that are named in other words than `file_name`, `labels` and `split` are renamed, unless
    a column of that name is there.
    """
    lines, separator = 0, ","
    if given := _SEPARATOR_LINE.match(text):
        lines, separator, text = 1, given[1], text[given.end() :]
    else:
        with suppress(csv.Error):  # which reading it with commas will report
            separator = _separator(re.split(r"[\r\n]", text, maxsplit=1)[0])
    reader = csv.reader(io.StringIO(text, newline=""), delimiter=separator, strict=True)
    try:
        header = _trimmed([name.strip() for name in next(reader, [])])
        if len(set(header)) < len(header):
            raise InputError(f"{path} has two columns of one name", "rename one of them")
        rows = [
            (f"{path} line {reader.line_num + lines}", cells) for cells in reader if _trimmed(cells)
        ]
    except csv.Error as error:
        line = reader.line_num + lines
        raise InputError(f"{path} line {line} is not CSV: {error}") from None
    return list(_named(header, rows))


def _separator(line: str) -> str:
    """Return what separates the cells of a header: the first that gives a column of files."""
    headers = {one: next(csv.reader([line], delimiter=one), []) for one in SEPARATORS}
    for one, header in headers.items():
        if any(_plain(name) in _NAMES[FILE_NAME].split() for name in header):
            return one
    return max(headers, key=lambda one: len(headers[one]))


def _named(header: Sequence[str], rows: Sequence[tuple[str, list[str]]]) -> Iterator[Row]:
    columns = _renamed(header, [cells for _, cells in rows])
    for where, cells in rows:
        if len(_trimmed(cells)) > len(header):
            raise InputError(
                f"{where} has {len(cells)} cells, but the header has {len(header)}",
                "put text with a comma into quotes",
            )
        yield where, dict(zip(columns, cells, strict=False))


def _renamed(header: Sequence[str], rows: Sequence[Sequence[str]]) -> list[str]:
    """Return the header in our words; a column of 0 and 1 is a label and keeps its name."""
    columns = list(header)
    for ours, theirs in _NAMES.items():
        if ours in header or (ours == LABELS and "label" in header):
            continue
        places = {_plain(name): at for at, name in reversed(list(enumerate(header)))}
        for name in theirs.split():
            at = places.get(name)
            if at is not None and not all(
                row[at].strip() in _BITS for row in rows if at < len(row)
            ):
                columns[at] = ours
                break
    return columns


def _plain(name: str) -> str:
    return re.sub(r"[\s_\-]+", "", name).casefold()


def _trimmed(cells: Sequence[str]) -> list[str]:
    """Leave out empty cells at the end, which spreadsheets write for columns once in use."""
    count = len(cells)
    while count and not cells[count - 1].strip():
        count -= 1
    return list(cells[:count])
