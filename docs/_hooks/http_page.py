"""The page of the HTTP API, from the OpenAPI description that the server itself gives."""

import tempfile
from pathlib import Path
from typing import Any

from markdown_tables import code, table

INTRODUCTION = """# HTTP API

For those who write a program that talks to `softhash serve`: every route, with parameters and
answers.

The same description is served at `/docs` and `/openapi.json`. [Serve an
index](../how-to/serve.md) has examples. Errors are RFC 9457 problems (`application/problem+json`).
Routes marked with a token need `--writable` and the header `Authorization: Bearer TOKEN`.
"""
FAILED = 400  # the first status that is an error
METHODS = ("get", "post", "put", "patch", "delete")


def http_page() -> str:
    """Write the page."""
    description = openapi()
    description = _inlined(description, description["components"]["schemas"])
    schemas = description["components"]["schemas"]
    parts = [INTRODUCTION, "## Routes"]
    for path, methods in description["paths"].items():
        parts += [_route(path, name, methods[name], schemas) for name in METHODS if name in methods]
    parts.append("## Answers")
    forms = {_schema_name(body) for body in _bodies(description)}
    for name, schema in schemas.items():
        if name not in forms and "properties" in schema:
            rows = _properties(schema)
            text = schema.get("description", "").partition("\n\n")[0]
            parts += [f"### {name}", text, table(("field", "type", "is"), rows)]
    return "\n\n".join(part for part in parts if part) + "\n"


def openapi() -> dict[str, Any]:
    """Return the description that a server of an empty index gives."""
    from softhash import HammingIndex
    from softhash.server import create_app

    with (
        tempfile.TemporaryDirectory() as folder,
        HammingIndex.create(Path(folder) / "index", bits=48) as index,
    ):
        return dict(create_app(index, writable=True, token="0123456789abcdef").openapi())  # noqa: S106


def _inlined(value: Any, schemas: dict[str, Any]) -> Any:
    """Put plain schemas, such as a choice of numbers, where they are referred to."""
    if isinstance(value, list):
        return [_inlined(one, schemas) for one in value]
    if not isinstance(value, dict):
        return value
    named = schemas.get(str(value.get("$ref", "")).rpartition("/")[2], {"properties": {}})
    if "properties" not in named:
        value = {key: one for key, one in value.items() if key != "$ref"} | named
    return {key: _inlined(one, schemas) for key, one in value.items()}


def _route(path: str, method: str, route: dict[str, Any], schemas: dict[str, Any]) -> str:
    needs = " (token)" if route.get("security") else ""
    text = route.get("description") or route.get("summary", "")
    parts = [f"### {method.upper()} {path}{needs}", text]
    rows = [
        (code(one["name"]), one["in"], _type(one["schema"]), one.get("description", ""))
        for one in route.get("parameters", ())
    ]
    body = _schema_name(route.get("requestBody"))
    if body:
        form = schemas[body]
        rows += [(name, "form", kind, text) for name, kind, text in _properties(form)]
    if rows:
        parts.append(table(("parameter", "in", "type", "is"), rows))
    parts.append(table(("status", "answer"), _answers(route["responses"])))
    return "\n\n".join(parts)


def _answers(responses: dict[str, Any]) -> list[tuple[str, str]]:
    """List the answers of a route, all problems in one row."""
    failures = [status for status in responses if int(status) >= FAILED]
    rows = [(code(status), _answer(responses[status])) for status in responses]
    rows = [row for row, status in zip(rows, responses, strict=True) if status not in failures]
    if failures:
        rows.append((", ".join(map(code, sorted(failures))), "[Problem](#problem)"))
    return rows


def _bodies(description: dict[str, Any]) -> list[Any]:
    return [
        route.get("requestBody")
        for methods in description["paths"].values()
        for route in methods.values()
        if isinstance(route, dict)
    ]


def _schema_name(body: Any) -> str:
    """Return the name of the form that a request consists of, empty without one."""
    for content in (body or {}).get("content", {}).values():
        return str(content["schema"].get("$ref", "")).rpartition("/")[2]
    return ""


def _properties(schema: dict[str, Any]) -> list[tuple[str, str, str]]:
    required = schema.get("required", ())
    return [
        (
            code(name),
            _type(value) + (", required" if name in required else ""),
            value.get("description", ""),
        )
        for name, value in schema["properties"].items()
    ]


def _type(schema: dict[str, Any]) -> str:
    """Name a type in a few words, with its bounds and its default."""
    options = [one for one in schema.get("anyOf", ()) if one.get("type") != "null"]
    if options:
        names = " or ".join(_type(one) for one in options)
    elif "$ref" in schema:
        name = schema["$ref"].rpartition("/")[2]
        names = f"[{name}](#{name.lower()})"
    elif schema.get("type") == "array":
        names = f"list of {_type(schema['items'])}"
    else:
        names = schema.get("format") or schema.get("type", "any")
    bounds = [
        f"{word} {schema[key]}"
        for key, word in (("minimum", "from"), ("maximum", "to"), ("maxLength", "at most"))
        if key in schema
    ]
    if "enum" in schema:
        bounds.append("one of " + ", ".join(map(str, schema["enum"])))
    if schema.get("default") not in (None, "", []):
        bounds.append(f"default {schema['default']}")
    return ", ".join([names, *bounds])


def _answer(answer: dict[str, Any]) -> str:
    for kind, content in answer.get("content", {}).items():
        schema = content.get("schema", {})
        if "$ref" in schema:
            return f"{answer['description']}: {_type(schema)}"
        return f"{answer['description']}: {kind}"
    return str(answer["description"])
