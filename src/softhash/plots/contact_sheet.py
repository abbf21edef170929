"""Contact sheets: pictures side by side, framed by how well they answer a query."""

from collections.abc import Sequence

from PIL import Image, ImageOps

# The paper's frames of a retrieved picture: all of the query's labels, some of them, none.
ALL, SOME, NONE = "#2e9e4f", "#2f6fd0", "#d64541"
QUERY = "#333333"


def frame_colour(shared: int, wanted: int) -> str:
    """Choose the frame of a picture that shares so many of the labels that are wanted.

    >>> frame_colour(2, 2) == ALL, frame_colour(1, 2) == SOME, frame_colour(0, 2) == NONE
    (True, True, True)
    """
    return NONE if shared == 0 else ALL if shared >= wanted else SOME


def contact_sheet(
    pictures: Sequence[Image.Image],
    columns: int,
    *,
    frames: Sequence[str] | None = None,
    gap: int = 8,
    background: str = "#fafafa",
) -> Image.Image:
    """Put pictures of one size into rows.

    Args:
        pictures: all of one size.
        columns: pictures per row.
        frames: a colour for each picture; none by default.
        gap: between pictures, in pixels.
        background: colour between them.

    >>> contact_sheet([Image.new("RGB", (100, 80))] * 5, columns=3).size
    (332, 184)

    """
    framed = list(pictures)
    if frames:
        framed = [ImageOps.expand(p, gap // 2, f) for p, f in zip(pictures, frames, strict=True)]
    width, height = framed[0].size
    rows = -(-len(framed) // columns)
    size = columns * (width + gap) + gap, rows * (height + gap) + gap
    sheet = Image.new("RGB", size, background)
    for i, picture in enumerate(framed):
        row, column = divmod(i, columns)
        sheet.paste(picture, (gap + column * (width + gap), gap + row * (height + gap)))
    return sheet
