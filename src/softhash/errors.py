"""The errors softhash raises on purpose.

::

    SofthashError                 exit code 1
    ├── InputError                a file, array or picture that cannot be used as it is
    │   ├── ImageError            a file or upload that is not a picture, or cannot be decoded
    │   ├── ShardError            a file of many pictures that is damaged, or has none to read
    │   ├── AlreadyExistsError    something is there, and nothing is overwritten without force
    │   ├── NoModelError          an index that was made without keeping its model
    │   ├── NoFeaturesError       an index, or an item, without features to rescore by
    │   ├── ModelMismatchError    codes of one model, an index of another
    │   ├── UnknownItemError      no item has that id
    │   ├── IndexDamagedError     a file of an index is not as it was written
    │   └── EmptyUpdateError      an update would remove every item of an index
    ├── UsageError                a setting or name that does not exist (exit code 2)
    │   ├── QueryError            a search for nothing, or for several things at once
    │   ├── ExpressionError       label logic that cannot be read, with the place
    │   ├── UnknownWordError      a word that neither an item has nor the model names
    │   ├── NoOutputsError        rescoring by what has neither outputs nor features, as a code
    │   └── AddressError          a server cannot listen on that host and port
    ├── MissingExtraError         an optional package is not installed
    ├── DivergedError             the training loss became NaN or infinite
    ├── IndexBusyError            another process writes to the index
    └── StoreUnavailableError     what keeps the index is away: its server, or its folder

Each has a `detail`, what is wrong and which value it was, and a `hint`, the way out; as text it is
both in one line, "detail; hint". Hints speak to a Python caller: commands add their own words.
"""

from collections.abc import Iterable
from difflib import get_close_matches
from typing import Any

NAMES_SHOWN = 40
EXCERPT = 40  # characters shown before and after a place


class SofthashError(Exception):
    """Something softhash cannot do; the message is meant for the person who asked.

    Args:
        detail: what is wrong, and which value it was.
        hint: the way out, where there is one.

    """

    exit_code = 1

    def __init__(self, detail: str, hint: str = "") -> None:
        super().__init__(f"{detail}; {hint}" if hint else detail)
        self.detail = detail
        self.hint = hint

    def __reduce__(self) -> tuple[Any, ...]:
        """Let the error cross a process boundary with both of its parts."""
        return type(self), (self.detail, self.hint)


class InputError(SofthashError, ValueError):
    """Data that cannot be used: a wrong shape, a wrong value, a file that is not what it claims."""


class ImageError(InputError):
    """A file, or bytes, that is not a picture or cannot be decoded.

    Args:
        detail: what is wrong, and which value it was.
        hint: the way out, where there is one.
        kind: of the reason, to count pictures by: damaged, refused (over a limit), unreadable
            (missing, or not allowed to be read), heic (its decoder is not installed) or video.

    """

    def __init__(self, detail: str, hint: str = "", kind: str = "damaged") -> None:
        super().__init__(detail, hint)
        self.kind = kind

    def __reduce__(self) -> tuple[Any, ...]:
        """Let the error cross a process boundary."""
        return type(self), (self.detail, self.hint, self.kind)


class ShardError(InputError):
    """A tar archive or table of pictures that is damaged or incomplete, or has none to read."""


class AlreadyExistsError(InputError):
    """Something is there already, and nothing is overwritten without `force`."""


class NoModelError(InputError):
    """An index that was made without keeping its model was asked to encode a picture."""


class NoFeaturesError(InputError):
    """An index that keeps no features, or not those of an item, was asked to rescore by them."""


class ModelMismatchError(InputError):
    """Codes of one model meet an index of another: their distances would mean nothing."""


class UnknownItemError(InputError):
    """No item has that id."""


class IndexDamagedError(InputError):
    """A file of the index is not as it was written; the message names it."""


class EmptyUpdateError(InputError):
    """An update would remove every item of an index, as when a drive is missing."""


class UsageError(SofthashError, ValueError):
    """A setting, name or combination of options that does not exist."""

    exit_code = 2


class QueryError(UsageError):
    """A search needs exactly one thing to search for."""


class ExpressionError(UsageError):
    """An expression over labels that cannot be read.

    Args:
        problem: what is wrong.
        hint: the way out.
        text: the expression.
        place: where in it, from 0 on.

    """

    def __init__(self, problem: str, hint: str, text: str, place: int) -> None:
        self.problem, self.text, self.place = problem, text, place
        shown = "".join(self.excerpt)
        super().__init__(f"{problem} at character {place + 1:,} of '{shown}'", hint)

    @property
    def excerpt(self) -> tuple[str, str]:
        """What stands before the place and after it, cut where that is long."""
        start, end = max(0, self.place - EXCERPT), self.place + EXCERPT
        before, after = self.text[start : self.place], self.text[self.place : end]
        return f"{'…' if start else ''}{before}", f"{after}{'…' if end < len(self.text) else ''}"

    def __reduce__(self) -> tuple[Any, ...]:
        """Let the error cross a process boundary."""
        return type(self), (self.problem, self.hint, self.text, self.place)


class UnknownWordError(UsageError):
    """A search for a word that no item has as a label, and the model does not name."""


class NoOutputsError(UsageError):
    """Rescoring needs the query's outputs or features, which a code does not have."""


class AddressError(UsageError):
    """A server cannot listen on that host and port."""


def install_hint(extra: str) -> str:
    """Return the line that installs an extra of softhash.

    >>> install_hint("heic")
    "install it with: pip install 'softhash[heic]'"
    """
    return f"install it with: pip install 'softhash[{extra}]'"


class MissingExtraError(SofthashError, ImportError):
    """A package that softhash uses only for some jobs is not installed.

    Args:
        package: what cannot be imported.
        extra: the extra of softhash that installs it.

    """

    def __init__(self, package: str, extra: str) -> None:
        super().__init__(f"this needs {package}", install_hint(extra))
        self.package = package
        self.extra = extra

    def __reduce__(self) -> tuple[Any, ...]:
        """Let the error cross a process boundary."""
        return type(self), (self.package, self.extra)


class DivergedError(SofthashError):
    """The training loss became NaN or infinite; the message names the step and the batch."""


class IndexBusyError(SofthashError):
    """Another process writes to the index."""


class StoreUnavailableError(SofthashError):
    """What keeps the index is away: a server does not answer, or a folder was deleted."""


def unknown_name(kind: str, name: str, known: Iterable[str]) -> UsageError:
    """Build the error for a name that is not among the known ones.

    Args:
        kind: what the name is a name of, such as "method".
        name: the one that was given.
        known: those that exist.

    >>> print(unknown_name("tie rule", "expcted", ["expected", "stable"]))
    unknown tie rule 'expcted'; did you mean 'expected'? known: expected, stable

    """
    names = sorted(known)
    close = get_close_matches(name, names, n=1)
    guess = f"did you mean '{close[0]}'? " if close else ""
    more = f" and {len(names) - NAMES_SHOWN:,} more" if len(names) > NAMES_SHOWN else ""
    listed = f"known: {', '.join(names[:NAMES_SHOWN]) or 'none'}{more}"
    return UsageError(f"unknown {kind} '{name}'", guess + listed)
