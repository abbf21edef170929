"""``softhash serve``: an index behind HTTP."""

import os
import sys
from pathlib import Path
from typing import Annotated

import typer


def serve(
    index: Annotated[
        str | None,
        typer.Argument(
            help="A folder, milvus://…, or the name of a kept index; the only one by default."
        ),
    ] = None,
    host: Annotated[str, typer.Option(help="Address to listen on.")] = "127.0.0.1",
    port: Annotated[int, typer.Option(help="Port to listen on; 0 for a free one.")] = 8000,
    writable: Annotated[
        bool, typer.Option("--writable", help="Let clients with the token add and remove.")
    ] = False,
    token: Annotated[
        str | None,
        typer.Option(envvar="SOFTHASH_TOKEN", help="For --writable; made and shown by default."),
    ] = None,
    model: Annotated[
        Path | None,
        typer.Option("-m", "--model", help="The model, where the index was made without it."),
    ] = None,
    engine: Annotated[
        str | None,
        typer.Option(help="Of --model: fp32 or int8; an index that knows its engine uses that."),
    ] = None,
    allow_host: Annotated[
        list[str] | None,
        typer.Option(help="A further name to be addressed by, as a proxy's; repeatable."),
    ] = None,
    device: Annotated[
        str,
        typer.Option(help="cpu, cuda (the codes are kept and compared on the GPU) or auto."),
    ] = "cpu",
    originals: Annotated[
        bool | None,
        typer.Option(
            "--originals/--no-originals",
            help="Let clients fetch files as they are; by default on this machine alone.",
        ),
    ] = None,
) -> None:
    """Serve an index: a page to search with, and an API (see /docs)."""
    from softhash.cli._indexes import find_index
    from softhash.cli._models import load_hasher
    from softhash.index import HammingIndex
    from softhash.server import serve as serve_index

    hasher = load_hasher(model, engine=engine) if model else None
    location = find_index(index, "")
    with HammingIndex.open(location, hasher, writable=writable, device=device) as opened:
        ended = serve_index(
            opened,
            host=host,
            port=port,
            writable=writable,
            token=token,
            allow_hosts=allow_host or (),
            originals=originals,
        )
    if not ended:  # Python would wait for threads that still decode, and they cannot be stopped
        sys.stdout.flush()
        sys.stderr.flush()
        os._exit(0)
