"""The quality report of an index."""

from fastapi import APIRouter, Request
from starlette.responses import Response

from softhash.server.json_response import Json
from softhash.server.openapi import problems
from softhash.server.quality import quality
from softhash.server.schemas import Quality
from softhash.server.service import get_service

router = APIRouter(prefix="/api/v1", tags=["about"])


@router.get("/report", response_model=Quality, responses=problems(422, 503))
async def report(request: Request) -> Response:
    """Search for a sample of the labelled items, and measure the hits by shared labels."""
    service = get_service(request)
    version = await service.version()
    found = await service.report.get(version, service.pictures, lambda: quality(service.index))
    return Json(found)
