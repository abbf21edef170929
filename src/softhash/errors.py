"""The errors softhash raises on purpose.

::

    SofthashError                 exit code 1
    ├── InputError                a file, array or picture that cannot be used as it is
    ├── UsageError                a setting or name that does not exist (exit code 2)
    └── MissingExtraError         an optional package is not installed

Every message says what is wrong, which value it was, and the way out, in one line.
"""

from collections.abc import Iterable
from difflib import get_close_matches

NAMES_SHOWN = 40


class SofthashError(Exception):
    """Something softhash cannot do; the message is meant for the person who asked."""

    exit_code = 1


class InputError(SofthashError, ValueError):
    """Data that cannot be used: a wrong shape, a wrong value, a file that is not what it claims."""


class UsageError(SofthashError, ValueError):
    """A setting, name or combination of options that does not exist."""

    exit_code = 2


class MissingExtraError(SofthashError, ImportError):
    """A package that softhash uses only for some jobs is not installed."""

    def __init__(self, package: str, extra: str) -> None:
        super().__init__(f"this needs {package}; install it with: pip install 'softhash[{extra}]'")


def unknown_name(kind: str, name: str, known: Iterable[str]) -> UsageError:
    """Build the error for a name that is not among the known ones.

    >>> print(unknown_name("tie rule", "expcted", ["expected", "stable"]))
    unknown tie rule 'expcted'; did you mean 'expected'? known: expected, stable
    """
    names = sorted(known)
    close = get_close_matches(name, names, n=1)
    guess = f" did you mean '{close[0]}'?" if close else ""
    more = f" and {len(names) - NAMES_SHOWN:,} more" if len(names) > NAMES_SHOWN else ""
    return UsageError(
        f"unknown {kind} '{name}';{guess} known: {', '.join(names[:NAMES_SHOWN]) or 'none'}{more}"
    )
