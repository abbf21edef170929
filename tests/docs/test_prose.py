"""Pages are easy to read: they say whom they are for, in short sentences and short lines."""

import re
from pathlib import Path

import pytest

ROOT = Path(__file__).parents[2]
PAGES = [path for path in sorted((ROOT / "docs").rglob("*.md")) if path.name != "tables.md"]
MOST_WORDS = 30
WIDTH = 100

each_page = pytest.mark.parametrize("page", PAGES, ids=lambda page: str(page.relative_to(ROOT)))


def prose(page: Path) -> list[str]:
    """Return the lines of a page without code, tables, headings and pictures; empty instead."""
    lines, code = [], False
    for line in page.read_text(encoding="utf-8").splitlines():
        fence = line.lstrip().startswith("```")
        code = code != fence
        skipped = code or fence or line.startswith(("|", "#", "!["))
        lines.append("" if skipped else line)
    return lines


def sentences(lines: list[str]) -> list[str]:
    """Return the sentences, code spans as one word and links as their text."""
    found = []
    for paragraph in re.split(r"\n\s*\n|\n(?=(?:-|\d+\.) )", "\n".join(lines)):
        text = re.sub(r"\]\([^)]*\)", "]", re.sub(r"`[^`]*`", "code", " ".join(paragraph.split())))
        found += re.split(r"(?<=[.!?;:])\s+", text)
    return [sentence for sentence in found if sentence]


@each_page
def test_a_page_opens_with_whom_it_is_for(page):
    first = sentences(prose(page))[0]
    assert re.search(r"\b[Ff]or\b", first), first


@each_page
def test_sentences_are_short(page):
    long = [one for one in sentences(prose(page)) if len(one.split()) > MOST_WORDS]
    assert long == []


@each_page
def test_lines_are_short(page):
    assert [line for line in prose(page) if len(line) > WIDTH] == []


def test_long_sentences_are_noticed():
    assert [len(one.split()) for one in sentences(["Two words. " + "word " * 40])] == [2, 40]
