"""Adding and removing items, for clients with the token."""

import hmac
from collections.abc import Callable, Coroutine
from typing import Annotated, Any

from fastapi import APIRouter, Form, Request
from fastapi.routing import APIRoute
from starlette.responses import JSONResponse, Response

from softhash.errors import UnknownItemError
from softhash.index.items import Item
from softhash.server import uploads
from softhash.server.openapi import FORM, UPLOAD, problems
from softhash.server.problems import Problem
from softhash.server.routes.items import ItemId
from softhash.server.schemas import ItemForm, ItemView, item_view
from softhash.server.service import Service, get_service


class TokenRoute(APIRoute):
    """A route that checks the token before anything of the body is read."""

    def get_route_handler(self) -> Callable[[Request], Coroutine[Any, Any, Response]]:
        """Return a handler that checks the token first."""
        handle = super().get_route_handler()

        async def checked(request: Request) -> Response:
            check_token(get_service(request), request.headers.get("authorization", ""))
            return await handle(request)

        return checked


router = APIRouter(prefix="/api/v1/items", tags=["writing"], route_class=TokenRoute)

TOKEN: dict[str, Any] = {"security": [{"token": []}]}


def check_token(service: Service, header: str) -> None:
    """Raise a problem unless the client may write; tokens are compared in constant time."""
    if not service.writable or not service.token:
        hint = "start it with `softhash serve INDEX --writable`"
        raise Problem(403, "read-only", "this server does not change its index", hint)
    kind, _, given = header.partition(" ")
    right = hmac.compare_digest(given.strip().encode("latin-1"), service.token.encode())
    if kind.lower() != "bearer" or not right:
        hint = "send `Authorization: Bearer TOKEN` with the token that the server was started with"
        headers = {"WWW-Authenticate": 'Bearer realm="softhash"'}
        raise Problem(401, "token", "the token is missing or wrong", hint, headers)


@router.post(
    "",
    status_code=201,
    response_model=ItemView,
    responses=problems(401, 403, 409, *UPLOAD),
    openapi_extra=TOKEN,
)
async def add(request: Request, form: Annotated[ItemForm, Form(**FORM)]) -> Response:
    """Store a picture below the index's root, under a name that is free, and add it."""
    service = get_service(request)
    name = uploads.safe_name(form.file_name or form.image.filename or "")
    data = await form.image.read()
    labels = tuple(dict.fromkeys(form.label))
    item = await service.pictures.run(_add, service, name, data, labels)
    return JSONResponse(item_view(item, service.shows), status_code=201)


def _add(service: Service, name: str, data: bytes, labels: tuple[str, ...]) -> Item:
    code, _ = service.encode(data)  # first: what is not a picture is never stored
    with service.writing:
        return uploads.add(service.index, name, data, labels, code)


@router.delete(
    "/{id}",
    status_code=204,
    response_class=Response,
    responses=problems(401, 403, 404, 422, 503),
    openapi_extra=TOKEN,
)
async def remove(request: Request, id: ItemId) -> Response:
    """Remove an item from the index; its file stays."""
    service = get_service(request)
    await service.searches.run(_remove, service, id)
    return Response(status_code=204)


def _remove(service: Service, id: int) -> None:
    with service.writing:
        if not service.index.remove(id):
            raise UnknownItemError(f"no item has the id {id}")
