"""Items and their pictures; a file is only reached by its item's id."""

import os
from collections.abc import Callable
from pathlib import Path
from typing import Annotated, Any, TypeVar

from fastapi import APIRouter, Header, Query, Request
from fastapi import Path as InPath
from starlette.responses import Response

from softhash.errors import ImageError, InputError, UnknownItemError
from softhash.index.search import Filter, check_labels
from softhash.index.where import EVERYTHING, Where
from softhash.server.folders import Folders, read_page
from softhash.server.json_response import Json
from softhash.server.limits import MAX_ID, Width
from softhash.server.openapi import problems
from softhash.server.problems import Problem
from softhash.server.requests import Browse
from softhash.server.schemas import ItemView, Page
from softhash.server.service import Service, get_service
from softhash.server.thumbnails import content_tag

router = APIRouter(prefix="/api/v1/items", tags=["items"])

ItemId = Annotated[int, InPath(ge=0, le=MAX_ID)]
CACHE_CONTROL = "private, max-age=300"

Found = TypeVar("Found")


@router.get("", response_model=Page, responses=problems(422, 503))
async def items(request: Request, wanted: Annotated[Browse, Query()]) -> Response:
    """List items in the order of their ids, page by page."""
    service = get_service(request)
    if wanted.sha256 is not None:
        return Json(await service.searches.run(_same_content, service, wanted))
    if wanted.folder is not None:
        folders = await service.read_folders()
        return Json(await service.searches.run(_page_of, service, wanted, folders))
    return Json(await service.searches.run(_page, service, wanted))


def _page(service: Service, wanted: Browse) -> dict[str, Any]:
    store, where = service.index.store, _filter(service, wanted)
    limit = wanted.limit + 1  # one more, to see whether there is another page
    found = store.items(after=wanted.after, limit=limit, where=where)
    shown = found[: wanted.limit]
    more = len(found) > len(shown)
    next = shown[-1].id if more else None
    return {"items": service.view_items(shown), "next": next, "total": store.count(where)[0]}


def _page_of(service: Service, wanted: Browse, folders: Folders) -> dict[str, Any]:
    ids = folders.within(wanted.folder or "")
    store, where = service.index.store, _filter(service, wanted)
    found, next = read_page(store, ids, wanted.after, wanted.limit, where)
    total = len(ids) if where == EVERYTHING else None  # else every item had to be read
    return {"items": service.view_items(found), "next": next, "total": total}


def _filter(service: Service, wanted: Browse) -> Where:
    """Return which items count; an expression may not name unknown labels."""
    store = service.index.store
    check_labels(store, Filter(wanted.expression or EVERYTHING, wanted.given_only).expand(store))
    return wanted.expand(store)


def _same_content(service: Service, wanted: Browse) -> dict[str, Any]:
    found = service.index.store.find_content(wanted.sha256 or "")
    items = [] if found is None else service.index.store.get([found])
    return {"items": service.view_items(items), "next": None, "total": len(items)}


@router.get("/{id}", response_model=ItemView, responses=problems(404, 422, 503))
async def item(request: Request, id: ItemId) -> Response:
    """Fetch an item."""
    service = get_service(request)
    found = await service.searches.run(lambda: service.view_items([service.index.get(id)]))
    return Json(found[0])


@router.get(
    "/{id}/image",
    response_class=Response,
    responses={
        200: {"content": {"image/jpeg": {}}},
        304: {"description": "The client's copy is valid."},
        **problems(404, 410, 422, 503),
    },
)
async def image(
    request: Request,
    id: ItemId,
    width: Width = Width.MIDDLE,
    if_none_match: Annotated[str, Header()] = "",
) -> Response:
    """Fetch an item's picture as a JPEG of that width, or of its own where that is less."""
    service = get_service(request)
    path, tag = await service.searches.run(_find, service, id, width)
    headers = {"ETag": f'"{tag}"', "Cache-Control": CACHE_CONTROL}
    if tag in if_none_match:
        return Response(status_code=304, headers=headers)
    data = service.thumbnails.get(tag)
    if data is None:
        data = await service.pictures.run(_make, service, path, width, tag)
    return Response(data, headers=headers, media_type="image/jpeg")


def _find(service: Service, id: int, width: int) -> tuple[Path, str]:
    return _locate(service, id, lambda path: content_tag(path, width))


def find_file(service: Service, id: int) -> tuple[Path, os.stat_result]:
    """Return the path of an item's file and its status; raise Problem where it cannot be read."""
    return _locate(service, id, _status)


def _status(path: Path) -> os.stat_result:
    with path.open("rb") as file:
        return os.fstat(file.fileno())


def _locate(service: Service, id: int, look: Callable[[Path], Found]) -> tuple[Path, Found]:
    """Return the path of an item's file, and what a look at it finds."""
    item = service.index.get(id)
    name = item.entry.file_name
    try:
        path = service.index.path(item)
        return path, look(path)
    except UnknownItemError:
        raise
    except InputError:  # codes only, or a name that leads out of the folder
        raise Problem(404, "no-picture", f"the index has no picture of item {id}") from None
    except (OSError, ValueError):
        hint = "run `softhash index` again"
        raise Problem(410, "gone", f"the file {name} is gone", hint) from None


def _make(service: Service, path: Path, width: int, tag: str) -> bytes:
    try:
        return service.thumbnails.make(path, width, tag)
    except ImageError:
        detail = f"the file {path.name} cannot be opened"
        hint = "`softhash check` prints the reason"
        raise Problem(404, "broken-picture", detail, hint) from None
