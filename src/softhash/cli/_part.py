"""The part of a command's work that one of several processes does."""

import typer


def read_part(text: str | None) -> tuple[int, int]:
    """Read which part is this process's, and of how many; all of the work by default.

    >>> read_part("2/3"), read_part(None)
    ((2, 3), (1, 1))
    """
    number, _, count = (text or "1/1").partition("/")
    if not (number.isdecimal() and count.isdecimal() and 1 <= int(number) <= int(count)):
        raise typer.BadParameter(f"--part is {text!r}; give one as 1/3, 2/3 or 3/3")
    return int(number), int(count)
