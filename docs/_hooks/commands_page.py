"""The page of the commands, from the typer application itself."""

from pathlib import Path
from typing import Any

from markdown_tables import code, table

INTRODUCTION = """# Commands

For those who use softhash from a shell: every command with its arguments and options.

Results go to stdout, everything else to stderr. `-v` shows details and tracebacks, and `--version`
the version.

| exit code | means |
|---|---|
| 0 | done |
| 1 | failed; one line on stderr says why |
| 2 | wrong use: an unknown option, name or combination |
| 130 | interrupted |
"""


def commands_page() -> str:
    """Write the page."""
    return "\n\n".join([INTRODUCTION, *map(_section, commands().values())]) + "\n"


def commands() -> dict[str, Any]:
    """Return the commands by name."""
    import typer

    from softhash.cli._app import app

    return dict(typer.main.get_command(app).commands)  # type: ignore[attr-defined]


def _section(command: Any) -> str:
    arguments = [one for one in command.params if one.param_type_name == "argument"]
    options = [one for one in command.params if one.param_type_name == "option"]
    parts = [
        f"## softhash {command.name}",
        _text(command.help),
        _usage(command, arguments, options),
    ]
    if arguments:
        rows = [(code(_metavar(one)), _text(one.help)) for one in arguments]
        parts.append(table(("argument", "is"), rows))
    if options:
        rows = [(_names(one), _text(one.help), _default(one)) for one in options]
        parts.append(table(("option", "does", "default"), rows))
    return "\n\n".join(parts)


def _usage(command: Any, arguments: list[Any], options: list[Any]) -> str:
    words = [f"softhash {command.name}"]
    words += [_metavar(one) if one.required else f"[{_metavar(one)}]" for one in arguments]
    words += [f"{one.opts[0]} {_metavar(one)}" for one in options if one.required]
    words += ["[OPTIONS]"]
    return "```text\n" + " ".join(words) + "\n```"


def _metavar(one: Any) -> str:
    """Name what is given: as the command calls it, by its type for options that say nothing."""
    if one.metavar or one.param_type_name == "argument":
        return (one.metavar or one.name.upper()).strip("[]")
    kind = getattr(getattr(one, "type_descriptor", None), "annotation", None)
    return {int: "N", Path: "PATH"}.get(kind, "TEXT")


def _names(one: Any) -> str:
    names = ", ".join(code(name) for name in [*one.opts, *one.secondary_opts])
    return names if one.is_flag else f"{names} {code(_metavar(one))}"


def _default(one: Any) -> str:
    default = "required" if one.required else _value(one.default)
    notes = [default] if default else []
    notes += [f"or `{one.envvar}` of the environment"] if one.envvar else []
    notes += ["may be repeated"] if one.multiple else []
    return "; ".join(notes)


def _value(default: Any) -> str:
    return "" if default is None or default is False else code(default)


def _text(help_text: str | None) -> str:
    """Return a help text as Markdown; typer's own markup escapes brackets."""
    return (help_text or "").replace("\\[", "[")
