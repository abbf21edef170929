"""The page of the errors, from the tree that `softhash.errors` defines."""

import inspect
from typing import Any

from markdown_tables import code, table

INTRODUCTION = """# Errors

For those who catch errors, or write a program around softhash: the whole tree, with exit codes.

Every error that softhash raises on purpose is a `SofthashError`, and all of them are exported by
`softhash`.

| attribute | is |
|---|---|
| `error.detail` | what is wrong, and which value it was |
| `error.hint` | the way out, where there is one |
| `str(error)` | both in one line: "detail; hint" |
| `error.exit_code` | what the command line exits with |

The command line prints that line after `error:`. `softhash serve` answers with the same detail and
hint as a problem in JSON.

```python
from softhash import HammingIndex, SofthashError

try:
    index = HammingIndex.open("photos.index")
except SofthashError as error:
    print(error.detail)
    print(error.hint)
```
"""


def errors_page() -> str:
    """Write the page."""
    from softhash import SofthashError

    rows = [
        (_link(kind), _also(kind), kind.exit_code, _line(kind)) for kind in _tree(SofthashError)
    ]
    header = ("error", "also a", "exit code", "is raised for")
    parts = [INTRODUCTION, "## The tree", _drawn(), "## Each of them", table(header, rows)]
    return "\n\n".join(parts) + "\n"


def _drawn() -> str:
    """Return the tree as the module's docstring draws it."""
    from softhash import errors

    lines = inspect.cleandoc(errors.__doc__ or "").splitlines()
    drawn = [line.removeprefix("    ") for line in lines if line.startswith("    ")]
    return "\n".join(["```text", *drawn, "```"])


def _tree(kind: Any) -> list[Any]:
    """List an error and those below it that are public."""
    import softhash

    below = [one for one in kind.__subclasses__() if one.__name__ in softhash.__all__]
    return [kind, *(found for one in below for found in _tree(one))]


def _link(kind: Any) -> str:
    return f"[{code(kind.__name__)}](api.md#softhash.{kind.__name__})"


def _also(kind: Any) -> str:
    builtin = [base for base in kind.__mro__ if base.__module__ == "builtins"]
    own = [base for base in builtin if base not in (object, BaseException, Exception)]
    return ", ".join(code(base.__name__) for base in own[:1])


def _line(kind: Any) -> str:
    return (inspect.getdoc(kind) or "").partition("\n")[0]
