"""From rows of results to a folder of tables, figures and a page."""

import io
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING

from softhash.errors import unknown_name
from softhash.experiments import paper
from softhash.experiments.results import Row
from softhash.files import check_free, write_whole
from softhash.plots.canvas import FORMATS, new_figure, save_figure
from softhash.plots.details import describe_group, list_entries
from softhash.plots.differences import Differences
from softhash.plots.groups import Group, check_commits, group_rows
from softhash.plots.lines import bits_figure, has_curves, recall_figure, returned_figure
from softhash.plots.markup import LATEX_HEAD, to_html, to_latex, to_markdown
from softhash.plots.page import Section, embedded, page
from softhash.plots.panels import bars_figure, sweeps_figure
from softhash.plots.retrieval import find_answers, list_queries, retrieval_sheet
from softhash.plots.tables import Table, comparison_table, overview_table, sweep_table

if TYPE_CHECKING:
    from matplotlib.figure import Figure

    from softhash.data.image_set import ImageSet

TABLES = ("map", "wap", "acg", "ndcg")
FIRST_SCREEN = (("ndcg", "20"), ("acg", "20"), ("precision", "20"))  # what a person sees at once
MEASURES = (
    *((metric, paper.CUT) for metric in TABLES), *FIRST_SCREEN, ("ndcg", "100"), ("acg", "100"),
)  # fmt: skip
CUTS = (paper.CUT, "100")  # of figures, where none are asked for
REPORT = "report.html"


@dataclass
class Choice:
    """What is wanted of the tables and figures.

    Attributes:
        at: cut-offs of the tables; figures take the first, that of NDCG the last. By default
            tables are of `MEASURES`, as far as the rows have them.
        ties: `expected` or `stable`.
        formats: of the figures; the page has SVG.
        force: whether files are overwritten.
        images: the collection, for the sheets of nearest pictures.
        tested: differences between the methods, where they were tested.
        mixed_commits: whether a table may have rows of several commits.
        warn: called with one line about everything that is left out.

    """

    at: Sequence[str] = ()
    ties: str = "expected"
    formats: Sequence[str] = ("png", "svg")
    force: bool = False
    images: "ImageSet | None" = None
    tested: Differences | None = None
    mixed_commits: bool = False
    warn: Callable[[str], None] = lambda note: None


def write_report(rows: Sequence[Row], folder: Path, choice: Choice) -> list[Path]:
    """Write tables.md, tables.tex, figures and report.html; return what was written.

    Args:
        rows: of results.
        folder: made if need be.
        choice: what is wanted.

    Raises:
        MissingExtraError: matplotlib is not installed.
        UsageError: a table would have rows of several commits.

    """
    new_figure(1, 1)  # raises without matplotlib, before any work
    for name in choice.formats:
        if name not in FORMATS:
            raise unknown_name("format of figures", name, FORMATS)
    groups = group_rows(rows)
    if not choice.mixed_commits:
        check_commits(groups)
    folder.mkdir(parents=True, exist_ok=True)
    check_free(folder / REPORT, force=choice.force)
    writer = _Writer(folder, choice)
    sections = [writer.section(group) for group in groups]
    writer.text("tables.md", "# Results\n\n" + "\n".join(map(to_markdown, writer.tables)))
    writer.text("tables.tex", LATEX_HEAD + "\n" + "\n".join(map(to_latex, writer.tables)))
    writer.text(REPORT, page(sections, writer.notes))
    return writer.files


def choose_measures(group: Group, at: Sequence[str], ties: str) -> list[tuple[str, str]]:
    """List the metrics and cut-offs that tables show.

    Args:
        group: the methods.
        at: cut-offs; without any, `MEASURES` as far as all rows have them.
        ties: `expected` or `stable`.

    """
    key = "metrics" if ties == "expected" else f"metrics_{ties}"
    parts = [row.get(key, {}) for entry in group.entries for row in entry.rows]

    def is_there(measure: tuple[str, str]) -> bool:
        return all("@".join(measure) in part for part in parts)

    if not at:
        return list(filter(is_there, MEASURES)) or [MEASURES[0]]  # which its table then misses
    shown = [metric for metric in FIRST_SCREEN if metric[0] not in TABLES and metric[1] in at]
    return [(metric, cut) for metric in TABLES for cut in at] + list(filter(is_there, shown))


class _Writer:
    """Writes files and lists them; reports once what is left out."""

    def __init__(self, folder: Path, choice: Choice) -> None:
        self.folder = folder
        self.choice = choice
        self.files: list[Path] = []
        self.tables: list[Table] = []
        self.notes: list[str] = []

    def text(self, name: str, content: str) -> None:
        write_whole(self.folder / name, content, force=self.choice.force)
        self.files.append(self.folder / name)

    def note(self, text: str) -> None:
        if text not in self.notes:
            self.notes.append(text)
            self.choice.warn(text)

    def section(self, group: Group) -> Section:
        """Make the tables and figures of a group."""
        tables = self._tables(group)
        self.tables += tables
        section = Section(group.slug, group.title, [to_html(table) for table in tables])
        section.facts, section.entries = describe_group(group), list_entries(group)
        for name, caption, figure in self._figures(group):
            section.figures.append(self._saved(figure, f"{group.slug}-{name}", caption))
        section.figures += self._sheets(group)
        return section

    def _tables(self, group: Group) -> list[Table]:
        at, ties, tested = self.choice.at, self.choice.ties, self.choice.tested
        tables = []
        if group.bits:
            measures = choose_measures(group, at, ties)
            tables.append(overview_table(group, max(group.bits), measures, ties, tested))
            tables += [comparison_table(group, *measure, ties, tested) for measure in measures]
        cuts = at or CUTS[:1]
        return tables + [sweep_table(group, s, cut, ties) for s in group.sweeps for cut in cuts]

    def _figures(self, group: Group) -> list[tuple[str, str, "Figure"]]:
        cuts, ties = self.choice.at or CUTS, self.choice.ties
        cut, last = cuts[0], cuts[-1]
        figures = []
        if group.bits:
            of_map, of_wap = (group, "map", cut, ties), (group, "wap", cut, ties)
            figures += [("map-bits", f"MAP@{cut} against bits", bits_figure(*of_map))]
            of_ndcg = f"NDCG@{last} against bits", bits_figure(group, "ndcg", last, ties)
            figures += [("ndcg-bits", *of_ndcg)]
            figures += [("wap", f"WAP@{cut}", bars_figure(*of_wap))]
        if group.bits and has_curves(group):
            caption = "ACG, NDCG and precision against returned pictures"
            figures += [("curves", caption, returned_figure(group))]
            figures += [("precision-recall", "Precision against recall", recall_figure(group))]
        elif group.bits:
            self.note("rows without curves, of an older version: figures of curves are left out")
        if group.sweeps:
            caption = f"MAP@{cut} for values of a setting"
            figures += [("settings", caption, sweeps_figure(group, cut, ties))]
        return figures

    def _saved(self, figure: "Figure", name: str, caption: str) -> str:
        """Save a figure in every format, and return it for the page."""
        for suffix in self.choice.formats:
            path = self.folder / f"{name}.{suffix}"
            check_free(path, force=self.choice.force)
            save_figure(figure, path)
            self.files.append(path)
        buffer = io.BytesIO()
        save_figure(figure, buffer, "svg")
        return embedded(buffer.getvalue(), "svg+xml", caption)

    def _sheets(self, group: Group) -> list[str]:
        """Draw what each method found for the queries that rows name, where pictures are given."""
        queries = list_queries(group) if group.bits else []
        if queries and self.choice.images is None:
            self.note("the nearest pictures of queries are drawn when the collection is given too")
            return []
        sheets = []
        for number, query in enumerate(queries, start=1):
            bits, answers = find_answers(group, query)
            if not answers or self.choice.images is None:
                continue
            title = f"The {len(answers[0].nearest)} nearest with {bits} bits: {group.title}"
            sheet = retrieval_sheet(self.choice.images, query, answers, title)
            path = self.folder / f"{group.slug}-nearest-{number}.png"
            check_free(path, force=self.choice.force)
            sheet.save(path)
            self.files.append(path)
            buffer = io.BytesIO()
            sheet.save(buffer, "JPEG", quality=88)
            sheets.append(embedded(buffer.getvalue(), "jpeg", f"{title}; query {query}"))
        return sheets
