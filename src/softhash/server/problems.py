"""Errors as RFC 9457 problems: what is wrong, and the way out."""

import re
from collections.abc import Mapping
from http import HTTPStatus
from typing import Any, Final

from fastapi import FastAPI, HTTPException, Request
from fastapi.exceptions import RequestValidationError
from starlette.exceptions import HTTPException as StarletteHTTPException
from starlette.responses import JSONResponse, Response

from softhash.errors import (
    ImageError,
    IndexBusyError,
    IndexDamagedError,
    ModelMismatchError,
    SofthashError,
    StoreUnavailableError,
    UnknownItemError,
)

MEDIA_TYPE = "application/problem+json"
RETRY = {"Retry-After": "1"}

# The first that fits counts.
_OF_ERRORS: Final[tuple[tuple[type[SofthashError], int, str], ...]] = (
    (UnknownItemError, 404, "unknown-item"),
    (ModelMismatchError, 409, "other-model"),
    (ImageError, 422, "no-picture"),
    (IndexBusyError, 503, "busy"),
    (StoreUnavailableError, 503, "away"),
    (IndexDamagedError, 500, "damaged"),
    (SofthashError, 422, "invalid"),
)


class Problem(HTTPException):
    """An answer that is an error; raised wherever the reason is found."""

    def __init__(
        self,
        status: int,
        kind: str,
        detail: str,
        hint: str = "",
        headers: Mapping[str, str] | None = None,
        **more: Any,
    ) -> None:
        super().__init__(status, detail, dict(headers or {}))
        self.kind, self.hint, self.more = kind, hint, more

    def response(self) -> Response:
        """Write the problem as JSON."""
        content = {
            "type": f"urn:softhash:problem:{self.kind}",
            "title": HTTPStatus(self.status_code).phrase,
            "status": self.status_code,
            "detail": self.detail,
            "hint": self.hint,
            **self.more,
        }
        headers = dict(self.headers or {})
        return JSONResponse(content, self.status_code, headers, media_type=MEDIA_TYPE)


def build_problem(error: SofthashError) -> Problem:
    """Build the problem of an error, with the status that its kind has."""
    status, kind = next((s, k) for known, s, k in _OF_ERRORS if isinstance(error, known))
    return Problem(status, kind, error.detail, error.hint, RETRY if status == 503 else None)


def defect() -> Problem:
    """Admit an error that nobody thought of."""
    return Problem(
        500, "defect", "the server met an error of its own", "see the server's log; it goes on"
    )


def add_handlers(app: FastAPI) -> None:
    """Make every error of an application a problem."""

    @app.exception_handler(StarletteHTTPException)
    async def by_status(request: Request, error: StarletteHTTPException) -> Response:
        if isinstance(error, Problem):
            return error.response()
        status, headers = error.status_code, dict(error.headers or {})
        detail = str(error.detail)
        allowed = _methods(app.openapi()["paths"], request.url.path)
        if status in (404, 405) and allowed and request.method not in allowed:
            status, headers["Allow"] = 405, ", ".join(sorted(allowed))
            detail = f"{request.method} is not for {request.url.path}"
        kind = HTTPStatus(status).phrase.lower().replace(" ", "-")
        return Problem(status, kind, detail, "/docs lists what there is", headers).response()

    @app.exception_handler(RequestValidationError)
    async def by_validation(request: Request, error: RequestValidationError) -> Response:
        wrong = [{"field": _field(one["loc"]), "message": one["msg"]} for one in error.errors()]
        detail = "; ".join(f"{one['field']}: {one['message']}" for one in wrong[:5])
        problem = Problem(422, "invalid", detail, "/docs lists what is expected", errors=wrong[:50])
        return problem.response()

    @app.exception_handler(SofthashError)
    async def by_kind(request: Request, error: SofthashError) -> Response:
        return build_problem(error).response()


def _field(location: tuple[int | str, ...]) -> str:
    return ".".join(str(part) for part in location[1:]) or str(location[0])


def _methods(paths: Mapping[str, Mapping[str, Any]], path: str) -> set[str]:
    """Collect the methods of the routes that a path belongs to."""
    found: set[str] = set()
    for template, methods in paths.items():
        if re.fullmatch(re.sub(r"\{\w+\}", "[^/]+", template), path):
            found.update(method.upper() for method in methods)
    return found
