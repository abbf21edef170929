"""Shapes in whole scene units, sketches made of them, and the picture they give.

A scene is 1,000 units wide and high whatever the size of the picture, so that what is in it, and
where, never depends on how large it is drawn.
"""

from collections.abc import Iterable
from typing import NamedTuple

from PIL import Image, ImageDraw

UNITS = 1000
SUPERSAMPLING = 3  # pixels drawn for each pixel kept, along each side

Point = tuple[int, int]


class Colour(NamedTuple):
    """Red, green, blue and opacity, each from 0 to 255."""

    red: int
    green: int
    blue: int
    opacity: int = 255

    def mixed(self, other: "Colour", percent: int) -> "Colour":
        """Return this colour with that much of the other in it; the opacity stays.

        >>> Colour(0, 100, 200).mixed(Colour(100, 100, 100), 50)
        Colour(red=50, green=100, blue=150, opacity=255)
        """
        kept = 100 - percent
        return Colour(
            (self.red * kept + other.red * percent) // 100,
            (self.green * kept + other.green * percent) // 100,
            (self.blue * kept + other.blue * percent) // 100,
            self.opacity,
        )

    def lighter(self, percent: int) -> "Colour":
        """Return the colour on its way to white."""
        return self.mixed(Colour(255, 255, 255), percent)

    def darker(self, percent: int) -> "Colour":
        """Return the colour on its way to a blueish black, as shade outdoors is."""
        return self.mixed(Colour(24, 28, 56), percent)


class Box(NamedTuple):
    """An upright rectangle in scene units; y grows downwards."""

    left: int
    top: int
    right: int
    bottom: int

    @property
    def width(self) -> int:
        """The distance from left to right."""
        return self.right - self.left

    @property
    def height(self) -> int:
        """The distance from top to bottom."""
        return self.bottom - self.top

    def overlaps(self, other: "Box") -> bool:
        """Return whether the two share any area."""
        return (
            self.left < other.right
            and other.left < self.right
            and self.top < other.bottom
            and other.top < self.bottom
        )


WHOLE = Box(0, 0, UNITS, UNITS)


class Shape(NamedTuple):
    """One area of one colour: a polygon, an ellipse in a box, or the upper half of a ring."""

    kind: str
    points: tuple[Point, ...]
    colour: Colour
    glows: bool = False  # keeps its colour at dusk and at night
    width: int = 0  # of a ring


class Part(NamedTuple):
    """Some shapes and, where they are one of the things pictures are labelled by, its name."""

    label: str | None
    shapes: tuple[Shape, ...]


class Sketch:
    """Shapes drawn in percent of a frame, one over the other."""

    def __init__(self, frame: Box = WHOLE, mirrored: bool = False) -> None:
        self.frame = frame
        self.mirrored = mirrored
        self.shapes: list[Shape] = []

    def polygon(self, colour: Colour, *points: Point, glows: bool = False) -> None:
        """Add an area bounded by straight lines."""
        placed = tuple(self._place(x, y) for x, y in points)
        self.shapes.append(Shape("polygon", placed, colour, glows))

    def rectangle(
        self, colour: Colour, left: int, top: int, right: int, bottom: int, glows: bool = False
    ) -> None:
        """Add an upright rectangle."""
        corners = ((left, top), (right, top), (right, bottom), (left, bottom))
        self.polygon(colour, *corners, glows=glows)

    def ellipse(
        self, colour: Colour, left: int, top: int, right: int, bottom: int, glows: bool = False
    ) -> None:
        """Add the ellipse that touches the four sides of a rectangle."""
        first, second = self._place(left, top), self._place(right, bottom)
        corners = ((min(first[0], second[0]), first[1]), (max(first[0], second[0]), second[1]))
        self.shapes.append(Shape("ellipse", corners, colour, glows))

    def path(self, colour: Colour, points: Iterable[Point], glows: bool = False) -> None:
        """Add a polygon given in scene units instead of percent of the frame."""
        self.shapes.append(Shape("polygon", tuple(points), colour, glows))

    def ring(self, colour: Colour, box: Box, width: int) -> None:
        """Add the upper half of a ring, its box given in scene units."""
        corners = ((box.left, box.top), (box.right, box.bottom))
        self.shapes.append(Shape("ring", corners, colour, width=width))

    def part(self, label: str | None = None) -> Part:
        """Close the sketch under a label."""
        return Part(label, tuple(self.shapes))

    def _place(self, x: int, y: int) -> Point:
        """Turn percent of the frame into scene units."""
        across = 100 - x if self.mirrored else x
        frame = self.frame
        return frame.left + frame.width * across // 100, frame.top + frame.height * y // 100


def tinted(shapes: Iterable[Shape], tint: Colour, percent: int) -> tuple[Shape, ...]:
    """Return the shapes in another light; what glows keeps its colour."""
    if percent == 0:
        return tuple(shapes)
    return tuple(
        shape if shape.glows else shape._replace(colour=shape.colour.mixed(tint, percent))
        for shape in shapes
    )


def render(shapes: Iterable[Shape], size: int) -> Image.Image:
    """Paint the shapes in their order as a square RGB picture with smooth edges."""
    pixels = size * SUPERSAMPLING
    image = Image.new("RGB", (pixels, pixels))
    covering, blending = ImageDraw.Draw(image), ImageDraw.Draw(image, "RGBA")
    for shape in shapes:
        opaque = shape.colour.opacity == 255  # covering is the faster of the two
        brush, fill = (covering, shape.colour[:3]) if opaque else (blending, shape.colour)
        points = [(x * pixels // UNITS, y * pixels // UNITS) for x, y in shape.points]
        if shape.kind == "polygon":
            brush.polygon(points, fill=fill)
        elif shape.kind == "ellipse":
            brush.ellipse(points, fill=fill)
        else:
            width = max(1, shape.width * pixels // UNITS)
            brush.arc(points, 180, 360, fill=fill, width=width)
    return image.reduce(SUPERSAMPLING)
