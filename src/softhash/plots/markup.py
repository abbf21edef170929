"""A table written as Markdown, LaTeX or HTML."""

import html
from collections.abc import Mapping, Sequence

from softhash.plots.places import BEST, DIGITS, LEVEL, SECOND
from softhash.plots.tables import Cell, Table

NOTHING = "–"
LATEX_HEAD = "% \\usepackage{booktabs,xcolor}\n"
_LATEX = {
    "&": r"\&", "%": r"\%", "_": r"\_", "#": r"\#", "α": r"$\alpha$", "λ": r"$\lambda$",
    "γ": r"$\gamma$", "±": r"$\pm$", "†": r"$^\dagger$", "‡": r"$^\ddagger$", "²": r"$^2$",
    "–": "--", "≈": r"$\approx$",
}  # fmt: skip


def to_markdown(table: Table) -> str:
    """Write a table as Markdown, with its title as a heading."""
    lines = [f"### {table.title}", "", f"{_sentence(table.caption)}", ""]
    lines += [_pipes([table.corner, *table.columns]), "|---" * (len(table.columns) + 1) + "|"]
    for label, cells in table.rows:
        lines.append(_pipes([label, *(_in_markdown(cell) for cell in cells)]))
    lines += ["", *(f"{_sentence(note)}\n" for note in table.notes)]
    return "\n".join(lines).rstrip() + "\n"


def to_latex(table: Table) -> str:
    """Write a table as LaTeX with rules of the package booktabs and grey of xcolor."""
    caption = " ".join(_sentence(part) for part in (table.title, table.caption, *table.notes))
    head = [table.corner, *table.columns]
    rows = [" & ".join(map(_escaped, head)) + r" \\", r"\midrule"]
    for label, cells in table.rows:
        rows.append(" & ".join([_escaped(label), *(_in_latex(cell) for cell in cells)]) + r" \\")
    inner = "\n".join(rows)
    return (
        "\\begin{table}\n\\centering\n"
        f"\\caption{{{_escaped(caption)}}}\n"
        f"\\begin{{tabular}}{{l{'c' * len(table.columns)}}}\n\\toprule\n{inner}\n"
        "\\bottomrule\n\\end{tabular}\n\\end{table}\n"
    )


def to_html(table: Table) -> str:
    """Write a table as a piece of HTML."""
    head = "".join(f'<th scope="col">{html.escape(c)}</th>' for c in (table.corner, *table.columns))
    rows = "\n".join(
        f'<tr><th scope="row">{html.escape(label)}</th>'
        + "".join(f"<td>{_in_html(cell)}</td>" for cell in cells)
        + "</tr>"
        for label, cells in table.rows
    )
    notes = "".join(f'<p class="note">{html.escape(_sentence(n))}</p>' for n in table.notes)
    title, caption = html.escape(table.title), html.escape(_sentence(table.caption))
    return (
        f'<h3>{title}</h3>\n<p class="caption">{caption}</p>\n<div class="wide"><table>\n'
        f"<thead><tr>{head}</tr></thead>\n<tbody>\n{rows}\n</tbody></table></div>\n{notes}\n"
    )


def _sentence(text: str) -> str:
    return f"{text[:1].upper()}{text[1:]}."


def _pipes(cells: Sequence[str]) -> str:
    return f"| {' | '.join(cells)} |"


def _in_markdown(cell: Cell | None) -> str:
    marks = {BEST: "**{}**", SECOND: "<u>{}</u>", LEVEL: "{}≈"}
    return _written(cell, marks, "{}")


def _in_html(cell: Cell | None) -> str:
    grey = '<span class="level">{}</span>'
    marks = {BEST: "<strong>{}</strong>", SECOND: "<u>{}</u>", LEVEL: grey}
    return _written(cell, marks, '<span class="printed">{}</span>')


def _in_latex(cell: Cell | None) -> str:
    marks = {
        BEST: r"\textbf{{{}}}", SECOND: r"\underline{{{}}}", LEVEL: r"\textcolor{{gray}}{{{}}}",
    }  # fmt: skip
    return _escaped(_written(cell, marks, r"{{\scriptsize {}}}"))


def _written(cell: Cell | None, marks: Mapping[int, str], small: str) -> str:
    """Write a cell: the mean, marked by its place, its deviation, and what is printed.

    Args:
        cell: None where nothing was run.
        marks: a format for the mean at each place.
        small: a format for what is printed.

    """
    if cell is None:
        return NOTHING
    text = marks.get(cell.place, "{}").format(f"{cell.mean:.{DIGITS}f}")
    if cell.deviation is not None:
        text += f" ± {cell.deviation:.{DIGITS}f}"
    if cell.printed:
        text += " " + small.format(f"[{cell.printed.value:.{DIGITS}f}{cell.mark}]")
    return text


def _escaped(text: str) -> str:
    r"""Write what LaTeX reads otherwise in its own way.

    >>> print(_escaped("idhn_2, α = 5 %"))
    idhn\_2, $\alpha$ = 5 \%
    """
    return "".join(_LATEX.get(letter, letter) for letter in text)
