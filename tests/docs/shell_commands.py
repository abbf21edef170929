"""Shell commands in Markdown files: every line of a fenced block that runs softhash."""

import re
import shlex
from collections.abc import Iterator
from pathlib import Path
from typing import NamedTuple

ROOT = Path(__file__).parents[2]
SHELL = ("", "sh", "bash", "shell", "console")  # what follows the backticks of a block
_FENCE = re.compile(r"^(?P<indent> *)```(?P<language>[\w-]*)[^`]*$")
_RUNS = re.compile(r"^(?:\$ )?(?:\S+=\S+ )*(?:torchrun .*-m )?softhash (?P<rest>.*)$")
_PART = re.compile(r"""(?:'[^']*'|"[^"]*"|(?!\s(?:\||&&|;)\s).)+""")  # of a pipe or a list


class Command(NamedTuple):
    """A command line, and where it stands."""

    place: str
    words: list[str]


def pages() -> list[Path]:
    """Return the Markdown files that people read."""
    return [ROOT / "README.md", ROOT / "CONTRIBUTING.md", *sorted((ROOT / "docs").rglob("*.md"))]


def commands(path: Path) -> Iterator[Command]:
    """Yield the softhash commands of a page's shell blocks."""
    for number, line in _shell_lines(path.read_text(encoding="utf-8")):
        for part in _PART.findall(line):
            found = _RUNS.match(part.strip(" |&;"))
            if found:
                words = shlex.split(found["rest"], comments=True)
                yield Command(f"{path.relative_to(ROOT)}:{number}", [w.strip("[]") for w in words])


def _shell_lines(text: str) -> Iterator[tuple[int, str]]:
    """Yield the lines of shell blocks with their numbers, continued ones as one."""
    inside, shell, pending, start = False, False, "", 0
    for number, line in enumerate(text.splitlines(), start=1):
        fence = _FENCE.match(line)
        if fence:
            inside = not inside
            shell = inside and fence["language"] in SHELL
        elif shell:
            start = start if pending else number
            pending += line.strip()
            if pending.endswith("\\"):
                pending = pending[:-1]
                continue
            yield start, pending
            pending = ""
