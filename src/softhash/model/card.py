"""A model's card, its README.md: what it is, how it was made, how good it is, how to use it."""

from collections.abc import Mapping, Sequence
from typing import Any

from softhash.model.config import ModelConfig

LIMITS = (
    "Two codes are near where the pictures look alike to this model; it names no other labels than "
    "those it was trained on, and pictures unlike its training data get codes that mean little. "
    "Numbers hold for the data and the split they were measured on."
)

CODES_FROM_LABELS = "The more labels two pictures share, the nearer their codes."
CODES_WITHOUT_LABELS = (
    "The more alike the features of two pictures, the nearer their codes: no labels were used."
)


def write_card(name: str, config: ModelConfig) -> str:
    """Write the card of a model; parts that nobody gave are left out.

    The parts are `config.card`: `codes` (what makes two codes near), `summary` and `limits` (text),
    `data`, `split`, `settings` and `metrics` (mappings; metrics as in a Report, such as
    `map@5000`). A part of another name becomes a section of that name. Text stands as it is,
    mappings become tables, sequences lists.
    """
    given = config.as_dict()["card"]  # plain values, whatever they were given as
    codes = given.pop("codes", CODES_FROM_LABELS)
    summary = given.pop("summary", None)
    limits = given.pop("limits", None)
    parts = [f"# {name}", f"{_what(config)} {codes}"]
    parts += [str(summary)] if summary else []
    parts += [_section("Classes", config.classes)] if config.classes else []
    for key in ("data", "split", "settings", "metrics"):
        if given.get(key):
            parts.append(_section(key.capitalize(), given[key]))
        given.pop(key, None)
    parts += [_section(key.capitalize(), value) for key, value in given.items() if value]
    parts += [_usage(name, config), _section("Limits", limits or LIMITS)]
    return "\n\n".join(parts) + "\n"


def _what(config: ModelConfig) -> str:
    source = (
        f"pictures, through `{config.backbone}` at {config.size}×{config.size} pixels"
        if config.backbone
        else f"features of {config.features} numbers"
    )
    return f"A softhash model: binary codes of {config.bits} bits from {source}."


def _usage(name: str, config: ModelConfig) -> str:
    argument = '"dog.jpg"' if config.backbone else f"features)  # (n, {config.features}"
    return (
        "## Use\n\n```python\nfrom softhash import Hasher\n\n"
        f'hasher = Hasher.load("{name}")\ncodes = hasher.encode({argument})\n```\n\n'
        "`model.onnx` is complete in itself and runs in any ONNX runtime; "
        "`model.safetensors` holds the same weights for torch."
    )


def _section(title: str, content: Any) -> str:
    return f"## {title}\n\n{_body(title, content)}"


def _body(title: str, content: Any) -> str:
    if isinstance(content, Mapping):
        return _metrics(content) if title == "Metrics" else _table(("", ""), content.items())
    if isinstance(content, Sequence) and not isinstance(content, str):
        return ", ".join(map(str, content))
    return str(content)


def _metrics(metrics: Mapping[str, Any]) -> str:
    """Lay out `map@100`-like names as one row per metric and one column per cut-off."""
    if not all("@" in name for name in metrics):
        return _table(("metric", "value"), metrics.items())
    cuts = list(dict.fromkeys(name.split("@", 1)[1] for name in metrics))
    names = list(dict.fromkeys(name.split("@", 1)[0] for name in metrics))
    rows = [(name, *(metrics.get(f"{name}@{cut}", "") for cut in cuts)) for name in names]
    return _table(("", *(f"@{cut}" for cut in cuts)), rows)


def _table(header: Sequence[str], rows: Any) -> str:
    lines = [header, ["---"] * len(header), *rows]
    return "\n".join("| " + " | ".join(map(_cell, line)) + " |" for line in lines)


def _cell(value: Any) -> str:
    if isinstance(value, float):
        return f"{value:.4g}"
    if isinstance(value, Mapping):
        value = ", ".join(f"{key}: {_cell(one)}" for key, one in value.items())
    elif isinstance(value, list | tuple):
        value = ", ".join(map(_cell, value))
    return str(value).replace("|", "\\|").replace("\n", " ")
