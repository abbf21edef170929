"""Errors as problem details (RFC 9457): what is wrong, and the way out."""

import logging
import re
from collections.abc import Mapping
from http import HTTPStatus
from typing import Any, Final

from fastapi import FastAPI, HTTPException, Request
from fastapi.exceptions import RequestValidationError
from starlette.exceptions import HTTPException as StarletteHTTPException
from starlette.responses import Response

from softhash.errors import (
    ImageError,
    IndexBusyError,
    IndexDamagedError,
    ModelMismatchError,
    NoFeaturesError,
    NoModelError,
    NoOutputsError,
    QueryError,
    SofthashError,
    StoreUnavailableError,
    UnknownItemError,
)
from softhash.server.json_response import Json

logger = logging.getLogger(__name__)

MEDIA_TYPE = "application/problem+json"
RETRY = {"Retry-After": "1"}
MAX_ERRORS = 50  # wrong fields in one problem
MAX_DETAIL = 1_000  # characters of any text in a problem, for it may quote what a client sent

# Status and kind of an error's problem; the first class that fits counts.
_STATUSES: Final[tuple[tuple[type[SofthashError], int, str], ...]] = (
    (UnknownItemError, 404, "unknown-item"),
    (ModelMismatchError, 409, "other-model"),
    (NoModelError, 409, "no-model"),
    (NoFeaturesError, 409, "no-features"),
    (ImageError, 422, "no-picture"),
    (IndexBusyError, 503, "busy"),
    (StoreUnavailableError, 503, "away"),
    (IndexDamagedError, 500, "damaged"),
    (SofthashError, 422, "invalid"),
)
# Hints in terms of fields, where the library's is in terms of arguments.
_HINTS: Final[dict[type[SofthashError], str]] = {
    NoFeaturesError: "send rescore=bits, or none; softhash index --keep-features keeps them",
    NoOutputsError: "send the picture itself as image, or no rescore",
    QueryError: "send exactly one of the fields image, id, code and words, or labels alone",
}


class Problem(HTTPException):
    """An error response, raised wherever the reason is found.

    Args:
        status: of the response.
        kind: the last part of the problem's type.
        detail: what is wrong.
        hint: the way out.
        headers: further ones of the response.
        more: further members of the problem.

    """

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
            "detail": _quotable(self.detail),
            "hint": _quotable(self.hint),
            **self.more,
        }
        headers = dict(self.headers or {})
        return Json(content, self.status_code, headers, media_type=MEDIA_TYPE)


def build_problem(error: SofthashError, folders: Mapping[str, str]) -> Problem:
    """Build the problem of an error, with the status of its class.

    Args:
        error: what was raised.
        folders: what clients are not shown, and what they are shown instead.

    """
    status, kind = next((s, k) for known, s, k in _STATUSES if isinstance(error, known))
    hint = _HINTS.get(type(error), error.hint)
    detail, hint = (without_folders(text, folders) for text in (error.detail, hint))
    return Problem(status, kind, detail, hint, RETRY if status == 503 else None)


def without_folders(text: str, folders: Mapping[str, str]) -> str:
    """Return a text without paths of the server; the name of a folder alone may be any word.

    >>> without_folders("/data/ix/codes.bin is damaged, below /data/ix", {"/data/ix": "the index"})
    'codes.bin is damaged, below the index'
    >>> without_folders("it has 9 pixels", {"ix": "the index"})
    'it has 9 pixels'
    """
    for folder in sorted(folders, key=len, reverse=True):
        if "/" in folder or "\\" in folder:
            path = rf"(?<![\w./\\-]){re.escape(folder)}"
            text = re.sub(rf"{path}[/\\]", "", text)
            text = re.sub(rf"{path}(?![\w-])", lambda _: folders[folder], text)  # noqa: B023
    return text


def _quotable(text: str) -> str:
    """Cut a text to a bounded length."""
    return text if len(text) <= MAX_DETAIL else f"{text[:MAX_DETAIL]}…"


def defect() -> Problem:
    """Build the problem of an unexpected error."""
    detail = "the server has a defect, and cannot answer this request"
    return Problem(500, "defect", detail, "see the server's log; other requests are answered")


def stopping() -> Problem:
    """Build the problem of a request that was not answered before the server's end."""
    return Problem(503, "stopping", "the server stops", "try again in a moment", RETRY)


def add_handlers(app: FastAPI, folders: Mapping[str, str]) -> None:
    """Answer every error of an application with a problem.

    Args:
        app: the application.
        folders: what clients are not shown, and what they are shown instead.

    """

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
        wrong = [
            {"field": _quotable(_field(one["loc"])), "message": _quotable(one["msg"])}
            for one in error.errors()[:MAX_ERRORS]
        ]
        detail = "; ".join(f"{one['field']}: {one['message']}" for one in wrong[:5])
        problem = Problem(422, "invalid", detail, "/docs lists what is expected", errors=wrong)
        return problem.response()

    @app.exception_handler(SofthashError)
    async def by_kind(request: Request, error: SofthashError) -> Response:
        problem = build_problem(error, folders)
        if problem.status_code >= 500:
            logger.error("%s %s: %s", request.method, request.url.path, error)
        return problem.response()


def _field(location: tuple[int | str, ...]) -> str:
    return ".".join(str(part) for part in location[1:]) or str(location[0])


def _methods(paths: Mapping[str, Mapping[str, Any]], path: str) -> set[str]:
    """Return the methods of the routes that a path belongs to."""
    found: set[str] = set()
    for template, methods in paths.items():
        if re.fullmatch(re.sub(r"\{\w+\}", "[^/]+", template), path):
            found.update(method.upper() for method in methods)
    return found
