"""The files of items as they are, and the folders they are in."""

import mimetypes
from pathlib import Path
from typing import Annotated

from fastapi import APIRouter, Query, Request
from starlette.responses import FileResponse, Response, StreamingResponse

from softhash.errors import InputError
from softhash.server.archive import Member, zip_files
from softhash.server.json_response import Json
from softhash.server.limits import MAX_PAGE
from softhash.server.openapi import problems
from softhash.server.problems import Problem
from softhash.server.requests import Id
from softhash.server.routes.items import CACHE_CONTROL, ItemId, find_file
from softhash.server.schemas import FolderList
from softhash.server.service import Service, get_service

router = APIRouter(prefix="/api/v1", tags=["items"])

UNKNOWN = "application/octet-stream"


@router.get("/folders", response_model=FolderList, responses=problems(503))
async def folders(request: Request) -> Response:
    """List the folders of the pictures, each with the number of items in it and below."""
    service = get_service(request)
    found = await service.read_folders()
    return Json({"folders": await service.searches.run(found.counts)})


@router.get(
    "/items/{id}/file",
    response_class=Response,
    responses={
        200: {"content": {"image/*": {}, UNKNOWN: {}}},
        206: {"description": "The range that was asked for."},
        416: {"description": "The file has no such range."},
        **problems(403, 404, 410, 422, 503),
    },
)
async def file(request: Request, id: ItemId) -> Response:
    """Fetch the file of an item as it is, with what its camera wrote into it."""
    service = get_service(request)
    _check_originals(service)
    path, status = await service.searches.run(find_file, service, id)
    return FileResponse(
        path,
        media_type=media_type(path),
        filename=path.name,
        stat_result=status,
        content_disposition_type="inline",
        headers={"Cache-Control": CACHE_CONTROL},
    )


@router.get(
    "/archive",
    response_class=Response,
    responses={200: {"content": {"application/zip": {}}}, **problems(403, 404, 422, 503)},
)
async def archive(
    request: Request,
    id: Annotated[list[Id], Query(min_length=1, max_length=MAX_PAGE, description="The items.")],
) -> Response:
    """Fetch the files of several items as one zip; files that are gone are left out."""
    service = get_service(request)
    _check_originals(service)
    members = await service.searches.run(_members, service, list(dict.fromkeys(id)))
    headers = {"Content-Disposition": 'attachment; filename="pictures.zip"'}
    return StreamingResponse(zip_files(members), media_type="application/zip", headers=headers)


def _members(service: Service, ids: list[int]) -> list[Member]:
    items = service.index.store.get(ids)
    try:
        return [Member(item.file_name, service.index.path(item)) for item in items]
    except InputError:  # codes only, or a name that leads out of the folder
        raise Problem(404, "no-picture", "the index has no pictures of these items") from None


def _check_originals(service: Service) -> None:
    if not service.originals:
        hint = "start it with `softhash serve INDEX --originals`"
        raise Problem(403, "no-originals", "this server sends no files, only small pictures", hint)


def media_type(path: Path) -> str:
    """Return the type of a picture by its name; what browsers might run is not named.

    >>> media_type(Path("a.JPG")), media_type(Path("a.svg")), media_type(Path("a.html"))
    ('image/jpeg', 'application/octet-stream', 'application/octet-stream')
    """
    found = mimetypes.guess_type(path.name)[0] or UNKNOWN
    return found if found.startswith("image/") and "xml" not in found else UNKNOWN
