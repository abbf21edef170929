"""The commit of softhash that rows were measured with."""

import os
import re
import subprocess
from functools import cache
from pathlib import Path

from softhash.errors import UsageError

UNKNOWN = "unknown"
SECONDS = 10
_PACKAGE = Path(__file__).parents[1]
_TEXT = re.compile(r"[0-9A-Za-z][0-9A-Za-z._+-]{0,63}")


def find_commit() -> str:
    """Name the commit of this code: `SOFTHASH_COMMIT`, or that of its git checkout.

    The variable is for a copy of the checkout without its history. A checkout whose code was
    changed since the commit is marked by `-dirty`. An installed package outside a checkout has no
    commit: `unknown`.

    Raises:
        UsageError: the environment's text is not the name of a commit.

    """
    given = os.environ.get("SOFTHASH_COMMIT", "")
    if not given:
        return read_commit(_PACKAGE)
    if not _TEXT.fullmatch(given):
        raise UsageError(
            f"SOFTHASH_COMMIT is {ascii(given)[:80]}", "give the output of: git describe --always"
        )
    return given


@cache  # once per process: the code that runs is the code that was imported
def read_commit(package: Path) -> str:
    """Name the commit that a package's folder is at, `unknown` where git does not track it."""
    tracked = _git(package, "ls-files", "--error-unmatch", "__init__.py")
    commit = _git(package, "rev-parse", "--short=12", "HEAD") if tracked else None
    if not commit:
        return UNKNOWN
    return f"{commit}-dirty" if _git(package, "status", "--porcelain", "--", ".") else commit


def _git(folder: Path, *arguments: str) -> str | None:
    """Return what git prints, None where it fails or is not installed."""
    try:
        done = subprocess.run(  # noqa: S603 - words of this module
            ["git", *arguments],  # noqa: S607 - whichever git there is
            cwd=folder, capture_output=True, text=True, timeout=SECONDS, check=True,
        )  # fmt: skip
    except (OSError, subprocess.SubprocessError, UnicodeDecodeError):
        return None
    return done.stdout.strip()
