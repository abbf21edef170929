import pytest
from commands_page import commands as real_commands
from shell_commands import Command, commands, pages

SHOWN = [command for page in pages() for command in commands(page)]


def parse(words: list[str]) -> None:
    """Parse a command line as typer would, without running anything; raise where it would."""
    import typer

    name, *rest = words
    if name.startswith("-"):
        assert name in ("--help", "--version", "-v", "--verbose"), f"no option {name}"
        return
    known = real_commands()
    assert name in known, f"no command {name}; there are {', '.join(known)}"
    command = known[name]
    context = typer.Context(command, info_name=name)
    parser = command.make_parser(context)
    _, left, _ = parser.parse_args(args=list(rest))
    assert not left, f"{name} takes no {' '.join(left)}"


def test_the_documentation_shows_commands():
    assert len(SHOWN) > 40
    shown = {command.words[0] for command in SHOWN}
    assert set(real_commands()) <= shown | {"--help"}, "a command is nowhere shown"


@pytest.mark.parametrize("command", SHOWN, ids=lambda one: f"{one.place} {one.words[0]}")
def test_every_command_shown_exists_with_its_options(command: Command):
    try:
        parse(command.words)
    except AssertionError as error:
        pytest.fail(f"{command.place}: {error}")
    except Exception as error:  # typer's usage errors, wherever it keeps them
        pytest.fail(f"{command.place}: softhash {' '.join(command.words)}: {error}")


@pytest.mark.parametrize(
    "line", ["serch a.jpg", "search a.jpg --lable sea", "serve a.index b.index", "search -i"]
)
def test_a_command_that_does_not_exist_is_noticed(line):
    with pytest.raises(Exception):  # noqa: B017, PT011 - of typer, or an assertion
        parse(line.split())
