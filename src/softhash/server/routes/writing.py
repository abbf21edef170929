"""Adding and removing items, for clients with the token."""

from collections.abc import Callable, Coroutine
from typing import Annotated, Any

from fastapi import APIRouter, Form, Request
from fastapi.routing import APIRoute
from starlette.responses import Response

from softhash.errors import UnknownItemError
from softhash.server import uploads
from softhash.server.json_response import Json
from softhash.server.openapi import FORM, UPLOAD, problems
from softhash.server.problems import Problem
from softhash.server.requests import ItemForm
from softhash.server.routes.items import ItemId
from softhash.server.schemas import ItemView
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
    """Raise a problem unless the client may write."""
    if service.token is None:
        hint = "start it with `softhash serve INDEX --writable`"
        raise Problem(403, "read-only", "this server does not change its index", hint)
    service.token.check(header)


@router.post(
    "",
    status_code=201,
    response_model=ItemView,
    responses=problems(401, 403, 409, 429, *UPLOAD),
    openapi_extra=TOKEN,
)
async def add(request: Request, form: Annotated[ItemForm, Form(**FORM)]) -> Response:
    """Store a picture below the index's root, under a name that is free, and add it.

    `softhash index` keeps it and its labels, whatever the collection says, until it is run with
    `--drop-uploads`.
    """
    service = get_service(request)
    name = uploads.safe_name(form.file_name or form.image.filename or "")
    data = await form.image.read()
    labels = tuple(dict.fromkeys(form.label))
    return Json(await service.pictures.run(_add, service, name, data, labels), status_code=201)


def _add(service: Service, name: str, data: bytes, labels: tuple[str, ...]) -> dict[str, Any]:
    encoded = service.encode(data)  # first: what is not a picture is never stored
    with service.writing:
        item = uploads.add(service.index, name, data, labels, encoded)
    return service.view_items([item])[0]


@router.delete(
    "/{id}",
    status_code=204,
    response_class=Response,
    responses=problems(401, 403, 404, 422, 429, 503),
    openapi_extra=TOKEN,
)
async def remove(request: Request, id: ItemId) -> Response:
    """Remove an item from the index; its file stays.

    The next `softhash index` adds it again where the collection lists it. To remove a picture for
    good, delete its file too.
    """
    service = get_service(request)
    await service.searches.run(_remove, service, id)
    return Response(status_code=204)


def _remove(service: Service, id: int) -> None:
    with service.writing:
        if not service.index.remove(id):
            raise UnknownItemError(f"no item has the id {id}")
