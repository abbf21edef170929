"""The files of items as they are, and the folders they are in."""

import mimetypes
from pathlib import Path

from fastapi import APIRouter, Request
from starlette.responses import FileResponse, Response

from softhash.server.json_response import Json
from softhash.server.openapi import problems
from softhash.server.problems import Problem
from softhash.server.routes.items import CACHE_CONTROL, ItemId, find_file
from softhash.server.schemas import FolderList
from softhash.server.service import get_service

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
    if not service.originals:
        hint = "start it with `softhash serve INDEX --originals`"
        raise Problem(403, "no-originals", "this server sends no files, only small pictures", hint)
    path, status = await service.searches.run(find_file, service, id)
    return FileResponse(
        path,
        media_type=media_type(path),
        filename=path.name,
        stat_result=status,
        content_disposition_type="inline",
        headers={"Cache-Control": CACHE_CONTROL},
    )


def media_type(path: Path) -> str:
    """Return the type of a picture by its name; what browsers might run is not named.

    >>> media_type(Path("a.JPG")), media_type(Path("a.svg")), media_type(Path("a.html"))
    ('image/jpeg', 'application/octet-stream', 'application/octet-stream')
    """
    found = mimetypes.guess_type(path.name)[0] or UNKNOWN
    return found if found.startswith("image/") and "xml" not in found else UNKNOWN
