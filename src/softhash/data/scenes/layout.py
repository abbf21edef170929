"""Room for things: where their feet may be, and frames that do not overlap."""

from collections.abc import Callable
from typing import NamedTuple

from softhash.data.scenes.dice import Dice
from softhash.data.scenes.mood import Mood
from softhash.data.scenes.sketch import UNITS, Box, Part, Sketch

_GAP = 14  # units left free around a thing


class Thing(NamedTuple):
    """How to draw a thing, how large it is at full size, and how many there are of it."""

    paint: Callable[[Dice, Box, Mood], Sketch]
    widths: tuple[int, int]
    heights: tuple[int, int]  # percent of the width
    counts: tuple[int, ...] = (1,)


class Zone(NamedTuple):
    """Where the feet of things may be, and how large things are at its far and its near edge."""

    top: int
    bottom: int
    far: int = 100  # percent of a thing's full size
    near: int = 100
    left: int = 15
    right: int = UNITS - 15
    afloat: bool = False  # feet may be wet


class Layout:
    """What is where: a frame for each thing, which no other thing may enter.

    ``taken`` is given away before the first thing comes; in ``wet`` nothing may set foot.
    """

    def __init__(self, taken: list[Box], wet: list[Box]) -> None:
        self._taken = list(taken)
        self._wet = wet
        self._placed: list[tuple[Box, Part]] = []

    def add(self, frame: Box, part: Part) -> None:
        """Put a part into its frame."""
        self._taken.append(frame)
        self._placed.append((frame, part))

    def frame_of(self, label: str) -> Box | None:
        """Return where the first thing with that label is, if there is one."""
        return next((frame for frame, part in self._placed if part.label == label), None)

    def covered(self, box: Box) -> int:
        """Return how many percent of a box the frames of things cover."""
        area = 0
        for frame, _ in self._placed:
            width = min(frame.right, box.right) - max(frame.left, box.left)
            height = min(frame.bottom, box.bottom) - max(frame.top, box.top)
            area += max(0, width) * max(0, height)
        return area * 100 // (box.width * box.height)

    def parts(self) -> list[Part]:
        """Return what was added, far to near."""
        return [part for _, part in sorted(self._placed, key=lambda placed: placed[0].bottom)]

    def find(self, dice: Dice, thing: Thing, zone: Zone) -> Box | None:
        """Return a free frame for a thing with its feet in the zone, if a few tries find one."""
        if zone.bottom < zone.top:
            return None
        width, ratio = dice.between(*thing.widths), dice.between(*thing.heights)
        for _ in range(16):
            foot = dice.between(zone.top, zone.bottom)
            nearness = (foot - zone.top) * 100 // max(1, zone.bottom - zone.top)
            scaled = width * (zone.far * 100 + (zone.near - zone.far) * nearness) // 10_000
            if zone.right - zone.left < scaled:
                return None
            left = dice.between(zone.left, zone.right - scaled)
            frame = Box(left, foot - scaled * ratio // 100, left + scaled, foot)
            if self._is_free(frame, zone.afloat):
                return frame
        return None

    def _is_free(self, frame: Box, afloat: bool) -> bool:
        """Return whether a frame is on the canvas, touches no other and has dry feet."""
        feet = frame._replace(top=frame.bottom - 12)
        room = Box(frame.left - _GAP, frame.top - _GAP, frame.right + _GAP, frame.bottom + _GAP)
        return (
            frame.top >= 8
            and not any(room.overlaps(other) for other in self._taken)
            and (afloat or not any(feet.overlaps(other) for other in self._wet))
        )
