"""Pictures in a terminal: by the protocols of kitty and iTerm2, or as coloured half blocks."""

import base64
import io
import shutil
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import TYPE_CHECKING

from PIL import Image, ImageOps

from softhash.data.decoding import image_size, open_image
from softhash.errors import ImageError
from softhash.plots.contact_sheet import contact_sheet

if TYPE_CHECKING:
    from softhash.cli._answer import Answer

MAX_PICTURES = 12  # pictures shown
BLOCK, SHARP = 16, 160  # side of a picture in pixels: in half blocks, and where there are real ones
CELLS = 20  # columns of the terminal that a picture takes, with its frame and a gap
CLEAR = (1, 2, 3)  # stands for what lies under the sheet
QUERY = "#e0a92e"  # of its frame, to be seen on dark and on light
CHUNK = 4096  # what kitty takes at once


def choose_protocol(
    environment: Mapping[str, str], *, is_terminal: bool, wanted: bool | None
) -> str | None:
    """Choose how pictures are shown, None for not at all.

    >>> choose_protocol({"TERM": "xterm-kitty"}, is_terminal=True, wanted=None)
    'kitty'

    Args:
        environment: variables, from which the terminal is recognised.
        is_terminal: whether the output is a terminal.
        wanted: whether pictures were asked for, None where the terminal decides.

    """
    if not is_terminal or wanted is False:
        return None
    if "TMUX" not in environment:  # which passes neither protocol on
        if "KITTY_WINDOW_ID" in environment or "kitty" in environment.get("TERM", ""):
            return "kitty"
        if "iTerm" in environment.get("TERM_PROGRAM", "") + environment.get("LC_TERMINAL", ""):
            return "iterm2"
    truecolour = environment.get("COLORTERM") in ("truecolor", "24bit")
    return "blocks" if truecolour or wanted else None


def rendered(answer: "Answer", protocol: str) -> str:
    """Draw the query, where it is a picture, and the first hits, as text for the terminal."""
    shown = [(answer.picture, QUERY)] if answer.picture else []
    shown += [(p, answer.frame(h)) for p, h in zip(answer.paths, answer.result, strict=True) if p]
    return render_pictures(shown, protocol)


def render_pictures(shown: Sequence[tuple[Path, str]], protocol: str) -> str:
    """Draw the first of some pictures, each with the colour of its frame, as text."""
    if not shown:
        return ""
    columns = max((shutil.get_terminal_size().columns - 2) // CELLS, 1)
    side = BLOCK if protocol == "blocks" else SHARP
    shown = shown[:MAX_PICTURES]
    sheet = contact_sheet(
        [_square(path, side) for path, _ in shown],
        min(columns, len(shown)),
        frames=[frame for _, frame in shown],
        gap=2 if protocol == "blocks" else 10,
        background="#{:02x}{:02x}{:02x}".format(*CLEAR),
    )
    if protocol == "blocks":
        return blocks(sheet)
    data = _png(sheet)
    cells = min(columns, len(shown)) * CELLS
    return (_kitty if protocol == "kitty" else _iterm2)(data, cells)


def _square(path: Path, side: int) -> Image.Image:
    """Open a picture, whole, in the middle of a square; grey stands for one that cannot be read."""
    try:
        return ImageOps.pad(small(path, side), (side, side), color="#000000")
    except ImageError:
        return Image.new("RGB", (side, side), "#8a8a8a")


def small(path: Path, side: int) -> Image.Image:
    """Open a picture in its own proportions, its longer side at most so many pixels."""
    height, width = image_size(path)
    scale = min(side / max(width, height), 1)
    return open_image(path, size=(max(round(height * scale), 1), max(round(width * scale), 1)))


def blocks(sheet: Image.Image) -> str:
    """Draw two pixels per character: the upper one as text, the lower one as background."""
    lines = []
    for y in range(0, sheet.height, 2):
        cells = []
        for x in range(sheet.width):
            above = sheet.getpixel((x, y))
            below = sheet.getpixel((x, y + 1)) if y + 1 < sheet.height else CLEAR
            cells.append(_cell(above, below))
        lines.append("".join(cells) + "\x1b[0m\n")
    return "".join(lines)


def _cell(above: object, below: object) -> str:
    if above == CLEAR and below == CLEAR:
        return "\x1b[0m "
    if below == CLEAR:
        return f"\x1b[0m\x1b[38;2;{_numbers(above)}m▀"
    if above == CLEAR:
        return f"\x1b[0m\x1b[38;2;{_numbers(below)}m▄"
    return f"\x1b[38;2;{_numbers(above)};48;2;{_numbers(below)}m▀"


def _numbers(pixel: object) -> str:
    return ";".join(map(str, pixel)) if isinstance(pixel, tuple) else "0;0;0"


def _png(sheet: Image.Image) -> str:
    """Write the sheet, what is clear in it transparent, in base 64."""
    import numpy as np

    pixels = np.asarray(sheet)
    alpha = np.where((pixels == CLEAR).all(axis=2), 0, 255).astype(np.uint8)
    file = io.BytesIO()
    Image.fromarray(np.dstack([pixels, alpha])).save(file, "PNG")
    return base64.b64encode(file.getvalue()).decode()


def _kitty(data: str, cells: int) -> str:
    """Send in chunks; q=2 keeps the terminal from answering into the next prompt."""
    parts = [data[i : i + CHUNK] for i in range(0, len(data), CHUNK)]
    sent = []
    for i, part in enumerate(parts):
        head = f"a=T,f=100,q=2,c={cells}," if i == 0 else ""
        sent.append(f"\x1b_G{head}m={int(i + 1 < len(parts))};{part}\x1b\\")
    return "".join(sent) + "\n"


def _iterm2(data: str, cells: int) -> str:
    return f"\x1b]1337;File=inline=1;width={cells};preserveAspectRatio=1:{data}\x07\n"
