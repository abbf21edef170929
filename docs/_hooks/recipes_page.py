"""The page of the recipe's keys, and of the settings that each method has."""

from dataclasses import MISSING, fields
from typing import Any

from docstrings import entries
from markdown_tables import code, table

INTRODUCTION = """# Recipes

For those who change how codes are learned: every key of a recipe, its default and its meaning.

A recipe is a TOML file for `softhash train --recipe` and `softhash bench`. It names what differs
from the defaults; an unknown key is an error. The resolved recipe is saved with the model.

```toml
mode = "finetune"
method = "idhn"
bits = 48
[settings]            # the method's own
alpha = 0.1
```

## Keys
"""
DEFAULTS = """## Defaults of single methods

What is not in this table has the default above.
"""
SETTINGS = """## Settings of methods

Keys of the table `[settings]`. `softhash list methods` prints one line about each method. A number
may be given in terms of the bits, as `"5/q"`. Defaults are those at 48 bits.
"""
GRIDS = """## Grids

`softhash bench` takes a recipe with a table `[grid]` of lists, and runs every combination. Settings
of a method are named `"settings.NAME"`. A table `[methods.NAME]` replaces keys for that method. A
table `[variants.NAME]` runs the grid again with its keys fixed, under that name. `float` among the
methods is the reference row of float features.

```toml
mode = "frozen"
[grid]
method = ["idhn", "dpsh"]
bits = [12, 24, 36, 48]
seed = [0, 1, 2]
[methods.dpsh]
head_rate = 1e-3
[methods.dpsh.settings]
eta = 0.1
[variants."no hidden layer"]
hidden = 0
```
"""
BITS = 48


def recipes_page() -> str:
    """Write the page."""
    parts = [INTRODUCTION, _keys(), DEFAULTS, _differences(), SETTINGS, _settings(), GRIDS]
    return "\n\n".join(parts)


def _keys() -> str:
    from softhash import Recipe

    meaning = entries(Recipe.__doc__, "Attributes", "Args")
    frozen, finetune = (_plain(mode) for mode in ("frozen", "finetune"))
    rows = []
    for key in fields(Recipe):
        if key.name not in meaning and key.name != "settings":
            raise ValueError(f"the docstring of Recipe does not explain the key {key.name}")
        plain = [getattr(recipe, key.name) for recipe in (frozen, finetune)]
        defaults = [key.default, key.default] if key.name == "method" else plain
        text = meaning.get(key.name, "settings of the method, a table of their own; see below.")
        rows.append((code(key.name), text, *map(_toml, defaults)))
    return table(("key", "meaning", "default, frozen", "default, fine-tuned"), rows)


def _plain(mode: str) -> Any:
    """Return the recipe that methods have which need nothing of their own."""
    from softhash import Recipe

    return Recipe.with_defaults(mode=mode, method="idhn")


def _differences() -> str:
    from softhash import Recipe
    from softhash.training.methods.registry import METHODS

    rows = []
    for method in METHODS:
        for mode in ("frozen", "finetune"):
            usual = _plain(mode).as_dict()
            own = Recipe.with_defaults(mode=mode, method=method).as_dict()
            changed = [
                f"`{key} = {_toml(value).strip('`')}`"
                for key, value in own.items()
                if value != usual[key] and key != "method"
            ]
            rows += [(code(method), mode, ", ".join(changed))] if changed else []
    return table(("method", "mode", "defaults"), rows)


def _toml(value: Any) -> str:
    if value is MISSING or value == {}:
        return "none"
    if isinstance(value, bool):
        return code(str(value).lower())
    return code(f'"{value}"' if isinstance(value, str) else value)


def _settings() -> str:
    """List the settings of every method that has some."""
    from softhash.training.methods.registry import METHODS, create

    rows = []
    for name, kind in METHODS.items():
        if kind.setting_names():
            shown = create(name, BITS, 20).settings()
            values = [
                f"`{key} = {_toml(_short(value)).strip('`')}`"
                for key in kind.setting_names()
                if (value := shown.get(key, MISSING)) is not MISSING
            ]
            rows.append((code(name), ", ".join(values)))
    return table(("method", "settings and defaults"), rows)


def _short(value: Any) -> Any:
    return float(f"{value:.4g}") if isinstance(value, float) else value
