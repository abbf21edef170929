"""One page of HTML with everything in it: tables, figures, settings; light or dark."""

import base64
import html
from collections.abc import Sequence
from dataclasses import dataclass, field

from softhash import __version__
from softhash.experiments import paper
from softhash.plots.details import Facts, Line
from softhash.plots.markup import NOTHING

_STYLE = """
:root { color-scheme: light dark;
  --ink: #1d2126; --paper: #fbfbfa; --faint: #667; --line: #d9dce0; }
@media (prefers-color-scheme: dark) {
  :root { --ink: #e6e8ea; --paper: #16181b; --faint: #9aa3ad; --line: #353a40; }
}
body { margin: 0 auto; max-width: 76rem; padding: 1.5rem; background: var(--paper);
  color: var(--ink); font: 16px/1.5 system-ui, sans-serif; }
h1, h2, h3 { line-height: 1.2; } h2 { margin-top: 3rem; } h3 { margin-top: 2rem; }
nav a { margin-right: 1rem; } a { color: inherit; }
table { border-collapse: collapse; font-variant-numeric: tabular-nums; font-size: .9rem; }
th, td { padding: .3rem .7rem; text-align: left; border-bottom: 1px solid var(--line); }
thead th { border-bottom: 2px solid var(--ink); } tbody th { font-weight: 500; }
td.number { text-align: right; }
.wide { overflow-x: auto; }
.caption, .note, .printed, .level, figcaption { color: var(--faint); }
.caption, .note { font-size: .9rem; } .printed { font-size: .85em; white-space: nowrap; }
figure { margin: 1.5rem 0; } figure img { width: 100%; background: #fff; border-radius: .4rem; }
details { margin: 1rem 0; } summary { cursor: pointer; }
"""


@dataclass
class Section:
    """A part of the page: tables and figures of one group, and the facts behind them."""

    name: str
    title: str
    tables: list[str] = field(default_factory=list)
    figures: list[str] = field(default_factory=list)
    facts: Facts = field(default_factory=list)
    entries: Sequence[Line] = ()


def embedded(content: bytes, kind: str, caption: str) -> str:
    """Write a picture as part of the page itself.

    Args:
        content: of the file.
        kind: what comes after "image/" in its media type.
        caption: below the picture, and read out instead of it.

    """
    data = base64.b64encode(content).decode()
    text = html.escape(caption)
    return (
        f'<figure><img alt="{text}" src="data:image/{kind};base64,{data}">'
        f"<figcaption>{text}</figcaption></figure>\n"
    )


def page(sections: Sequence[Section], notes: Sequence[str]) -> str:
    """Write the page."""
    links = "".join(f'<a href="#{s.name}">{html.escape(s.title)}</a>' for s in sections)
    warnings = "".join(f'<p class="note">{html.escape(note)}</p>\n' for note in notes)
    body = "".join(map(_section, sections))
    source = html.escape(str(paper.content()["source"]))
    return (
        '<!doctype html>\n<html lang="en">\n<head>\n<meta charset="utf-8">\n'
        '<meta name="viewport" content="width=device-width, initial-scale=1">\n'
        f"<title>Results of softhash bench</title>\n<style>{_STYLE}</style>\n</head>\n<body>\n"
        f"<h1>Results of softhash bench</h1>\n<nav>{links}</nav>\n{warnings}{body}"
        f'<p class="note">Made by softhash {__version__}. The paper: {source}.</p>\n'
        "</body>\n</html>\n"
    )


def _section(section: Section) -> str:
    tables, figures = "".join(section.tables), "".join(section.figures)
    return (
        f'<section id="{section.name}">\n<h2>{html.escape(section.title)}</h2>\n'
        f"{tables}{figures}{_facts(section.facts)}{_entries(section.entries)}</section>\n"
    )


def _facts(facts: Facts) -> str:
    rows = "".join(
        f'<tr><th scope="row">{html.escape(name)}</th><td>{html.escape(value)}</td></tr>\n'
        for name, value in facts
    )
    return (
        "<details><summary>Data, settings, versions</summary>\n"
        f'<div class="wide"><table><tbody>\n{rows}</tbody></table></div></details>\n'
    )


def _entries(entries: Sequence[Line]) -> str:
    rows = "".join(
        f'<tr><th scope="row">{html.escape(label)}</th><td>{html.escape(own)}</td>'
        f'<td class="number">{cells}</td><td class="number">{_seconds(seconds)}</td></tr>\n'
        for label, own, cells, seconds in entries
    )
    return (
        "<details><summary>Settings and training time of each method</summary>\n"
        '<div class="wide"><table><thead><tr><th>method</th><th>settings of its own</th>'
        "<th>cells</th><th>median seconds of training</th></tr></thead>\n"
        f"<tbody>\n{rows}</tbody></table></div></details>\n"
    )


def _seconds(seconds: float | None) -> str:
    return NOTHING if seconds is None else f"{seconds:,.1f}"
