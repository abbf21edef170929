"""``softhash export``: a model for other programs."""

from pathlib import Path
from typing import Annotated

import typer

from softhash.cli._output import say
from softhash.errors import unknown_name

TARGETS = ("onnx",)


def export(
    model: Annotated[Path, typer.Argument(help="The model's folder.")],
    to: Annotated[str, typer.Option("--to", help=" or ".join(TARGETS) + ".")],
    output: Annotated[Path, typer.Option("-o", "--output", help="The file to write.")],
    force: Annotated[bool, typer.Option("--force", help="Overwrite an existing file.")] = False,
) -> None:
    """Export a model: one ONNX file from uint8 pictures to outputs whose signs are the code."""
    if to not in TARGETS:
        raise unknown_name("target", to, TARGETS)
    from softhash.files import check_free
    from softhash.model.hasher import Hasher

    check_free(output, force=force)
    hasher = Hasher.load(model)
    hasher.export_onnx(output, force=force)
    takes = f"pixels, uint8 (n, {hasher.size}, {hasher.size}, 3)" if hasher.size else "features"
    say(f"saved {output}: {takes} → u (n, {hasher.bits}); bit i of a code is u[i] > 0")
