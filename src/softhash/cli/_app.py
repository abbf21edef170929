"""The application: commands put together, errors turned into one line and an exit code."""

import logging
import os
import sys
from difflib import get_close_matches
from typing import Annotated, Any

import typer
from typer.core import TyperGroup

from softhash import __version__
from softhash.cli import (
    bench,
    check,
    demo,
    duplicates,
    encode,
    evaluate,
    export,
    index,
    plot,
    search,
    serve,
    train,
    trial,
)
from softhash.cli import list as list_command
from softhash.cli._errors import message
from softhash.cli._output import fail, printable
from softhash.errors import MissingExtraError, SofthashError

INTERRUPTED = 130
VERBOSE = ("-v", "--verbose")
WRONG_USE: Any = typer.BadParameter.__bases__[0]  # click's UsageError, wherever typer keeps it


class _Lines(logging.Formatter):
    """One line per message, whatever names are in it."""

    def formatMessage(self, record: logging.LogRecord) -> str:  # noqa: N802 (of logging)
        """Show what would steer a terminal."""
        return printable(super().formatMessage(record))


class _Commands(TyperGroup):
    """Suggests the command that was probably meant."""

    def resolve_command(self, ctx: Any, args: list[str]) -> Any:
        """Find the command, or fail with the nearest known name."""
        known = self.list_commands(ctx)
        if args and args[0] not in known:
            close = get_close_matches(args[0], known, n=1)
            guess = f" Did you mean '{close[0]}'?" if close else ""
            ctx.fail(f"No such command '{args[0]}'.{guess} Known: {', '.join(known)}.")
        return super().resolve_command(ctx, args)


app = typer.Typer(
    cls=_Commands,
    no_args_is_help=True,
    add_completion=False,
    pretty_exceptions_enable=False,
    help="Find pictures by what is in them: binary codes whose Hamming distance follows labels.",
)
app.command("try")(trial.try_folder)
app.command()(demo.demo)
app.command()(check.check)
app.command()(train.train)
app.command()(encode.encode)
app.command()(index.index)
app.command()(search.search)
app.command()(duplicates.duplicates)
app.command()(serve.serve)
app.command()(evaluate.evaluate)
app.command()(bench.bench)
app.command()(plot.plot)
app.command()(export.export)
app.command("list")(list_command.list_names)


def _print_version(wanted: bool) -> None:
    if wanted:
        typer.echo(f"softhash {__version__}")
        raise typer.Exit


@app.callback()
def options(
    verbose: Annotated[bool, typer.Option(*VERBOSE, help="Show tracebacks and details.")] = False,
    version: Annotated[
        bool,
        typer.Option("--version", is_eager=True, callback=_print_version, help="Show the version."),
    ] = False,
) -> None:
    """Find pictures by what is in them: binary codes whose Hamming distance follows labels."""


def _run(arguments: list[str]) -> Any:
    """Run a command; one that needs torch where there is none ends in how to install it."""
    try:
        return app(arguments, prog_name="softhash", standalone_mode=False)
    except ModuleNotFoundError as error:
        if error.name == "torch":
            raise MissingExtraError("torch", "train") from error
        raise


def main() -> None:
    """Run the command line, and exit."""
    arguments = [word for word in sys.argv[1:] if word not in VERBOSE]
    verbose = len(arguments) < len(sys.argv) - 1
    handler = logging.StreamHandler(sys.stderr)
    handler.setFormatter(_Lines("%(message)s"))
    logging.basicConfig(level=logging.WARNING, handlers=[handler])
    logging.getLogger("softhash").setLevel(logging.DEBUG if verbose else logging.INFO)
    try:
        code = _run(arguments)
        sys.stdout.flush()
    except BrokenPipeError:  # the reader of our output has seen enough
        os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())
        sys.exit(0)
    except (SofthashError, WRONG_USE) as error:
        if verbose:
            raise
        text = error.format_message() if isinstance(error, WRONG_USE) else message(error)
        fail(text, code=error.exit_code)
    except Exception as error:
        if verbose:
            raise
        fail(f"{type(error).__name__}: {error} (a defect; run again with -v for details)", code=1)
    if code == INTERRUPTED:
        fail("interrupted", code=INTERRUPTED)
    sys.exit(code)
