"""Searches: by picture, by item, by code."""

import time
from typing import Annotated, Any

from fastapi import APIRouter, File, Form, Query, Request, UploadFile
from starlette.responses import JSONResponse, Response

from softhash.server.openapi import FORM, UPLOAD, problems
from softhash.server.problems import Problem
from softhash.server.routes.items import ItemId
from softhash.server.schemas import Answer, Encoding, Ranking, SearchForm
from softhash.server.service import Service, get_service

router = APIRouter(prefix="/api/v1", tags=["search"])


@router.get(
    "/items/{id}/similar", response_model=Answer, responses=problems(404, 422, 503), tags=["items"]
)
async def similar(request: Request, id: ItemId, ranking: Annotated[Ranking, Query()]) -> Response:
    """Find the items nearest to one of them."""
    service, started = get_service(request), time.perf_counter()
    return _timed(await service.searches.run(service.near_item, id, ranking), started)


@router.post("/search", response_model=Answer, responses=problems(404, 409, *UPLOAD))
async def search(request: Request, form: Annotated[SearchForm, Form(**FORM)]) -> Response:
    """Find the items nearest to a picture, to an item or to a code: exactly one of them."""
    service, started = get_service(request), time.perf_counter()
    if sum(given is not None for given in (form.image, form.id, form.code)) != 1:
        detail = "search for one thing: an image, an id or a code"
        raise Problem(422, "invalid", detail, "send exactly one of these fields")
    if form.rescore and form.image is None:
        detail = "an id or a code has no real-valued outputs to rescore by"
        raise Problem(422, "invalid", detail, "send the picture itself as image, or no rescore")
    service.check_model(form.model)
    return _timed(await _found(service, form), started)


async def _found(service: Service, form: SearchForm) -> dict[str, Any]:
    if form.id is not None:
        return await service.searches.run(service.near_item, form.id, form)
    if form.image is None:
        return await service.searches.run(service.near_code, form.code or "", form)
    return await service.pictures.run(service.near_picture, await form.image.read(), form)


@router.post("/encode", response_model=Encoding, responses=problems(409, *UPLOAD))
async def encode(request: Request, image: Annotated[UploadFile, File()]) -> Response:
    """Encode a picture, and name the labels that are likely for it."""
    service = get_service(request)
    code, likely = await service.pictures.run(service.encode, await image.read())
    answer = {"code": code.hex(), "bits": service.bits, "model": service.model}
    return JSONResponse(answer | ({"likely": likely} if likely else {}))


def _timed(answer: dict[str, Any], started: float) -> Response:
    answer["took_ms"] = round(1000 * (time.perf_counter() - started), 3)
    return JSONResponse(answer)
