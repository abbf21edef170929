"""Pictures that the index has more than once."""

from typing import Annotated, Any

from fastapi import APIRouter, Query, Request
from pydantic import BaseModel, ConfigDict, Field
from starlette.responses import Response

from softhash.index.duplicates import Copy, Group
from softhash.server.duplicates import MAX_COPIES, MAX_GROUPS, MAX_ITEMS
from softhash.server.json_response import Json
from softhash.server.openapi import problems
from softhash.server.service import Service, get_service

router = APIRouter(prefix="/api/v1", tags=["items"])


class WantedGroups(BaseModel):
    """Which groups to list."""

    model_config = ConfigDict(extra="forbid")

    offset: int = Field(0, ge=0, le=MAX_ITEMS, description="Groups to skip.")
    limit: int = Field(20, ge=1, le=MAX_GROUPS)


class CopyView(BaseModel):
    """One picture of a group."""

    id: int
    file_name: str
    image: str = Field(description="Where its picture is.")
    kind: str = Field(description="`first`, or to the first `identical` or `near`.")
    height: int
    width: int
    bytes: int
    distance: int = Field(description="Hamming distance of its code from the first's.")
    hash_distance: int = Field(description="Bits of 64 in which perceptual hashes differ.")


class GroupView(BaseModel):
    """Copies of one picture, the largest first."""

    size: int = Field(description="Pictures in the group.")
    copies: list[CopyView] = Field(description=f"Of the first {MAX_COPIES}, those still there.")


class LookingView(BaseModel):
    """How far the server is with looking for duplicates."""

    stage: str
    done: int
    total: int


class DuplicatesView(BaseModel):
    """Some groups; those whose other files take the most bytes come first."""

    groups: list[GroupView]
    total: int = Field(description="Groups in all.")
    copies: int = Field(description="Pictures in all, without the first of each group.")
    bytes: int = Field(description="Of the files of these copies.")
    left_out: int = Field(description="Files that are gone, changed or broken.")
    next: int | None = Field(description="`offset` of the next page; null where there is none.")
    looking: LookingView | None = Field(
        description="Not null while the server looks: ask again, the groups may be outdated."
    )


@router.get("/duplicates", response_model=DuplicatesView, responses=problems(422, 503))
async def duplicates(request: Request, wanted: Annotated[WantedGroups, Query()]) -> Response:
    """List groups of identical and near-identical pictures; nothing is ever deleted.

    The first request makes the server look for them, and answers before they are found.
    """
    service = get_service(request)
    return Json(await service.searches.run(_page, service, wanted))


def _page(service: Service, wanted: WantedGroups) -> dict[str, Any]:
    found, looking = service.duplicates.get()
    groups = found.groups if found else ()
    end = wanted.offset + wanted.limit
    copies = found.copies if found else []
    return {
        "groups": [view for group in groups[wanted.offset : end] if (view := _group_view(group))],
        "total": len(groups),
        "copies": len(copies),
        "bytes": sum(copy.bytes for copy in copies),
        "left_out": sum(map(len, (found.missing, found.changed, found.broken))) if found else 0,
        "next": end if end < len(groups) else None,
        "looking": vars(looking) if looking else None,
    }


def _group_view(group: Group) -> dict[str, Any] | None:
    """Build the view of a group, None where no two of its files are left."""
    there = [copy for copy in group[:MAX_COPIES] if copy.path.exists()]
    if len(there) < 2:
        return None
    return {"size": len(group), "copies": [_copy_view(copy) for copy in there]}


def _copy_view(copy: Copy) -> dict[str, Any]:
    view = copy.as_dict() | {"image": f"/api/v1/items/{copy.id}/image"}
    del view["path"]  # where files are on this machine is not shown to clients
    return view
