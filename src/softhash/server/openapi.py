"""The description of the API, with every error that a route may answer with."""

from http import HTTPStatus
from typing import Any

from fastapi import FastAPI
from fastapi.openapi.utils import get_openapi

from softhash.server.problems import MEDIA_TYPE
from softhash.server.schemas import Problem

Responses = dict[int | str, dict[str, Any]]

_PROBLEM = {MEDIA_TYPE: {"schema": {"$ref": "#/components/schemas/Problem"}}}
UPLOAD = (400, 408, 413, 415, 422, 503)  # errors of any request with a body
FORM: dict[str, Any] = {"media_type": "multipart/form-data"}


def problems(*statuses: int) -> Responses:
    """Describe the errors of a route."""
    described = (*statuses, 421, 500)
    return {
        status: {"description": HTTPStatus(status).phrase, "content": _PROBLEM}
        for status in dict.fromkeys(described)
    }


def describe(app: FastAPI) -> None:
    """Add the schema of problems to an application's description, in place of FastAPI's errors."""

    def openapi() -> dict[str, Any]:
        if app.openapi_schema is None:
            found = get_openapi(
                title=app.title,
                version=app.version,
                description=app.description,
                routes=app.routes,
            )
            components = found["components"]
            components["securitySchemes"] = {"token": {"type": "http", "scheme": "bearer"}}
            components["schemas"]["Problem"] = Problem.model_json_schema()
            app.openapi_schema = found
        return app.openapi_schema

    app.openapi = openapi  # type: ignore[method-assign]
