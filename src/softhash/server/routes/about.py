"""The index described, and the state of the server."""

from typing import Annotated, Any

from fastapi import APIRouter, Query, Request
from starlette.responses import Response

from softhash.index.features import kept_features
from softhash.index.sure import kept_sureness
from softhash.index.words import WordStore
from softhash.server import limits as bounds
from softhash.server.json_response import Json
from softhash.server.openapi import problems
from softhash.server.prometheus import MEDIA_TYPE
from softhash.server.requests import Beginning
from softhash.server.schemas import About, Health, WordList
from softhash.server.service import Service, get_service

router = APIRouter(tags=["about"])


@router.get("/api/v1/health", response_model=Health, responses=problems(503))
async def health(request: Request) -> Response:
    """Return that the server and its index answer."""
    service = get_service(request)
    items = await service.searches.run(len, service.index)
    return Json({"status": "ok", "items": items})


@router.get("/api/v1/index", response_model=About, responses=problems(503))
async def about(request: Request) -> Response:
    """Describe the index, and how much may be asked for."""
    service = get_service(request)
    version = await service.version()
    found = await service.about.get(version, service.searches, lambda: _about(service))
    counts = await service.count_words()
    kept = await service.searches.run(_derived, service)  # of no version
    return Json(found | kept | {"labels": counts.given, "likely": counts.likely})


def _derived(service: Service) -> dict[str, bool]:
    store = service.index.store
    return {
        "features": kept_features(store) is not None,
        "sure": kept_sureness(store) is not None,
    }


def _about(service: Service) -> dict[str, Any]:
    index, limits = service.index, service.limits
    return {
        "items": len(index),
        "bits": index.bits,
        "model": index.store.meta.model,
        "root": index.root.name if index.root else "",
        "classes": list(index.hasher.classes) if service.encodes else [],
        "encodes": service.encodes,
        "words": isinstance(index.store, WordStore),
        "writable": service.writable,
        "originals": service.originals,
        "limits": {
            "max_k": bounds.MAX_K,
            "max_offset": bounds.MAX_OFFSET,
            "max_page": bounds.MAX_PAGE,
            "max_bytes": limits.body_bytes,
            "max_pixels": limits.pixels,
            "widths": [int(width) for width in bounds.Width],
        },
    }


@router.get("/api/v1/words", response_model=WordList, responses=problems(422, 503))
async def words(request: Request, asked: Annotated[Beginning, Query()]) -> Response:
    """Complete a word: the most common of those that begin so come first."""
    counts = await get_service(request).count_words()
    return Json({"words": counts.complete(asked.prefix, asked.limit)})


@router.get(
    "/metrics",
    response_class=Response,
    responses={200: {"content": {"text/plain": {}}}, **problems(503)},
)
async def metrics(request: Request) -> Response:
    """Return counters and histograms, in the format of Prometheus."""
    service = get_service(request)
    items = await service.searches.run(len, service.index)
    return Response(service.measures.text(items), media_type=MEDIA_TYPE)
