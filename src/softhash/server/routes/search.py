"""Searches: by picture, by item, by code."""

import time
from typing import Annotated, Any

from fastapi import APIRouter, File, Form, Query, Request, UploadFile
from starlette.responses import Response

from softhash.server.json_response import Json
from softhash.server.openapi import FORM, UPLOAD, problems
from softhash.server.requests import SearchForm, Similar
from softhash.server.routes.items import ItemId
from softhash.server.schemas import Answer, Encoding
from softhash.server.service import get_service

router = APIRouter(prefix="/api/v1", tags=["search"])


@router.get(
    "/items/{id}/similar",
    response_model=Answer,
    responses=problems(404, 409, 422, 503),
    tags=["items"],
)
async def similar(request: Request, id: ItemId, ranking: Annotated[Similar, Query()]) -> Response:
    """Find the items nearest to one of them."""
    service, started = get_service(request), time.perf_counter()
    return _timed(await service.searches.run(service.find_similar, id, ranking), started)


@router.post("/search", response_model=Answer, responses=problems(404, 409, *UPLOAD))
async def search(request: Request, form: Annotated[SearchForm, Form(**FORM)]) -> Response:
    """Find the items nearest to a picture, to an item or to a code, or all items with labels."""
    service, started = get_service(request), time.perf_counter()
    service.check_model(form.model)
    if form.image is None:
        return _timed(await service.searches.run(service.search, form), started)
    image = await form.image.read()
    return _timed(await service.pictures.run(service.search, form, image), started)


@router.post("/encode", response_model=Encoding, responses=problems(409, *UPLOAD))
async def encode(request: Request, image: Annotated[UploadFile, File()]) -> Response:
    """Encode a picture, and return the labels that are likely for it."""
    service = get_service(request)
    found = await service.pictures.run(service.encode, await image.read())
    answer = {"code": found.code.hex(), "bits": service.bits, "model": service.model}
    return Json(answer | ({"likely": found.likely} if found.likely else {}))


def _timed(answer: dict[str, Any], started: float) -> Response:
    answer["took_ms"] = round(1000 * (time.perf_counter() - started), 3)
    return Json(answer)
