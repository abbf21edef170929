"""The application: routes, page and middleware."""

from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from pathlib import Path

from fastapi import FastAPI
from starlette.responses import RedirectResponse
from starlette.staticfiles import StaticFiles

from softhash import __version__
from softhash.index import HammingIndex
from softhash.server.body_limits import BodyGuard
from softhash.server.host_check import HostCheck
from softhash.server.limits import Limits
from softhash.server.openapi import describe
from softhash.server.problems import add_handlers
from softhash.server.routes import about, duplicates, files, items, report, search, writing
from softhash.server.service import Service
from softhash.server.tokens import TokenCheck

HERE = Path(__file__).parent
DESCRIPTION = "Find pictures by what is in them, in an index of binary codes."


def build(
    index: HammingIndex,
    *,
    writable: bool,
    token: str | None,
    limits: Limits,
    hosts: frozenset[str] | None,
    originals: bool = True,
) -> FastAPI:
    """Build the application.

    Args:
        index: what is searched.
        writable: whether items may be added and removed.
        token: what writers send.
        limits: how much a client may ask for.
        hosts: names in the Host header that are answered beside addresses, None for any.
        originals: whether clients may fetch the files themselves.

    """
    guard = TokenCheck(token, limits.wrong_tokens) if writable else None
    service = Service(index, limits, guard, originals)

    @asynccontextmanager
    async def life(app: FastAPI) -> AsyncIterator[None]:
        await service.pictures.run(service.warm_up)
        yield
        service.close()

    app = FastAPI(
        title="softhash",
        version=__version__,
        description=DESCRIPTION,
        docs_url=None,  # FastAPI's own page loads scripts from elsewhere
        redoc_url=None,
        lifespan=life,
    )
    app.state.service = service
    for topic in (search, about, items, files, duplicates, writing, report):  # the busiest first
        app.include_router(topic.router)
    _add_pages(app)
    add_handlers(app, service.folders)
    describe(app)
    app.add_middleware(BodyGuard, limits=limits)
    app.add_middleware(HostCheck, hosts=hosts, measures=service.measures)
    return app


def _add_pages(app: FastAPI) -> None:
    """Serve the reference of the API at /docs/, and the page to search with at /."""

    @app.get("/docs", include_in_schema=False)
    async def docs() -> RedirectResponse:
        return RedirectResponse("docs/")  # relative: a proxy may have put a prefix before it

    app.mount("/docs", StaticFiles(directory=HERE / "reference", html=True), "docs")
    app.mount("/", StaticFiles(directory=HERE / "static", html=True), "page")
