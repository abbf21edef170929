"""The nearest pictures of a query by several methods, one row each, framed as in the paper."""

from collections.abc import Sequence
from dataclasses import dataclass
from functools import cache
from pathlib import Path
from typing import TYPE_CHECKING

from PIL import Image, ImageDraw, ImageFont, ImageOps

from softhash.errors import InputError
from softhash.plots.contact_sheet import ALL, NONE, QUERY, SOME, frame_colour
from softhash.plots.entries import distinct_lines
from softhash.plots.groups import Group

if TYPE_CHECKING:
    from softhash.data.image_set import ImageSet

SIDE, FRAME, GAP = 76, 4, 4  # of a thumbnail, in pixels
NAMES_WIDTH, HEAD = 168, 132
PAPER, INK = "#ffffff", "#222222"
MEANING = {ALL: "all of the query's labels", SOME: "some of them", NONE: "none"}


@dataclass(frozen=True)
class Answer:
    """What one method found for a query: file names, nearest first."""

    label: str
    nearest: Sequence[str]


def list_queries(group: Group) -> list[str]:
    """List the queries whose nearest pictures the rows of the methods name."""
    named = [one["query"] for e in group.entries for row in e.rows for one in row.get("hits", [])]
    return list(dict.fromkeys(named))


def find_answers(group: Group, query: str) -> tuple[int, list[Answer]]:
    """Return the longest codes, and what each method found with them and its first seed."""
    bits = max(group.bits)
    answers = []
    for entry in distinct_lines(group.entries, bits):
        rows = sorted(entry.with_bits(bits), key=lambda row: int(row["recipe"]["seed"]))
        hits = [one for row in rows[:1] for one in row.get("hits", []) if one["query"] == query]
        answers += [Answer(entry.label, hits[0]["nearest"])] if hits else []
    return bits, answers


def retrieval_sheet(
    images: "ImageSet", query: str, answers: Sequence[Answer], title: str
) -> Image.Image:
    """Draw the query above, and below it what each method found.

    Args:
        images: the collection.
        query: its file name.
        answers: one per method.
        title: of the sheet.

    """
    place = {name: position for position, name in enumerate(images.file_names)}
    _check_there([query, *(name for one in answers for name in one.nearest)], place, images)
    step = SIDE + 2 * FRAME + GAP
    columns = max(len(answer.nearest) for answer in answers)
    size = NAMES_WIDTH + columns * step + GAP, HEAD + len(answers) * step + GAP
    sheet = Image.new("RGB", size, PAPER)
    wanted = images.labels[place[query]]
    _draw_head(sheet, images, place[query], title)
    for row, answer in enumerate(answers):
        top = HEAD + row * step
        shared = [int(images.labels[place[name]] @ wanted) for name in answer.nearest]
        frames = [frame_colour(count, int(wanted.sum())) for count in shared]
        for column, (name, frame) in enumerate(zip(answer.nearest, frames, strict=True)):
            left = NAMES_WIDTH + column * step
            sheet.paste(_thumbnail(images, place[name], SIDE, frame), (left, top))
            _draw_count(sheet, shared[column], frame, (left, top + SIDE + FRAME))
        _draw_name(sheet, answer.label, frames, top)
        mean = f"{sum(shared) / max(len(shared), 1):.2f} labels shared"
        ImageDraw.Draw(sheet).text((2 * GAP, top + 62), mean, INK, font=_font(13))
    return sheet


def _check_there(names: Sequence[str], place: dict[str, int], images: "ImageSet") -> None:
    for name in names:
        if name not in place:
            raise InputError(
                f"{name}, which the results name, is not in {images.root}",
                "give the collection that the results are of",
            )


def _thumbnail(images: "ImageSet", position: int, side: int, frame: str) -> Image.Image:
    picture = ImageOps.fit(images.open(position), (side, side), Image.Resampling.LANCZOS)
    return ImageOps.expand(picture, FRAME, frame)


def _draw_count(sheet: Image.Image, shared: int, frame: str, corner: tuple[int, int]) -> None:
    """Write the number of shared labels into the lower left corner of a picture's frame."""
    draw, (left, bottom) = ImageDraw.Draw(sheet), corner
    width = 8 + int(draw.textlength(str(shared), font=_font(12)))
    draw.rectangle((left, bottom - 14, left + width, bottom + FRAME - 1), fill=frame)
    draw.text((left + 4, bottom - 14), str(shared), PAPER, font=_font(12))


def _draw_head(sheet: Image.Image, images: "ImageSet", query: int, title: str) -> None:
    """Draw the query, its labels, and what the frames mean."""
    side = HEAD - 4 * GAP - 2 * FRAME
    sheet.paste(_thumbnail(images, query, side, QUERY), (GAP, GAP))
    draw, left = ImageDraw.Draw(sheet), HEAD + 2 * GAP
    labels = [images.classes[i] for i in images.labels[query].nonzero()[0]]
    draw.text((left, GAP), title, INK, font=_font(18))
    draw.text((left, 30), f"query: {', '.join(labels)}", INK, font=_font(15))
    for colour, meaning in MEANING.items():
        draw.rectangle((left, 60, left + 14, 74), outline=colour, width=FRAME)
        draw.text((left + 20, 58), meaning, INK, font=_font(14))
        left += 40 + int(draw.textlength(meaning, font=_font(14)))


def _draw_name(sheet: Image.Image, label: str, frames: Sequence[str], top: int) -> None:
    """Write a method's name, and how many of its pictures have which frame."""
    draw = ImageDraw.Draw(sheet)
    size = 15
    while size > 8 and draw.textlength(label, font=_font(size)) > NAMES_WIDTH - 3 * GAP:
        size -= 1
    draw.text((2 * GAP, top + 16), label, INK, font=_font(size))
    left = float(2 * GAP)
    for colour in MEANING:
        count = str(frames.count(colour))
        draw.text((left, top + 40), count, colour, font=_font(14))
        left += draw.textlength(count, font=_font(14)) + 12


@cache
def _font(size: int) -> ImageFont.FreeTypeFont:
    """Return the font of the other figures, which has most of the world's letters."""
    import matplotlib

    folder = Path(matplotlib.get_data_path()) / "fonts" / "ttf"
    return ImageFont.truetype(folder / "DejaVuSans.ttf", size)
