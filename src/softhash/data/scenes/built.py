"""What people build: houses, fences, bridges, boats and cars."""

from softhash.data.scenes.dice import Dice
from softhash.data.scenes.mood import SHADOW, Mood
from softhash.data.scenes.sketch import Box, Colour, Point, Sketch

_WALLS = (
    Colour(250, 238, 214),
    Colour(238, 206, 160),
    Colour(226, 232, 236),
    Colour(236, 178, 150),
    Colour(190, 74, 66),
    Colour(252, 222, 140),
)
_ROOFS = (Colour(184, 78, 62), Colour(92, 100, 128), Colour(136, 84, 64), Colour(70, 112, 122))
_PAINTS = (
    Colour(220, 62, 60),
    Colour(48, 116, 196),
    Colour(250, 190, 56),
    Colour(244, 244, 240),
    Colour(60, 160, 126),
    Colour(240, 128, 62),
    Colour(74, 80, 104),
)
_WOODS = (Colour(166, 118, 78), Colour(248, 246, 240), Colour(134, 98, 74))
_STONES = (Colour(186, 176, 166), Colour(206, 174, 140), Colour(164, 106, 88))
_STEELS = (Colour(206, 72, 58), Colour(92, 128, 152), Colour(226, 176, 84))
_GLASS = Colour(120, 166, 196)
_LAMP = Colour(255, 222, 120)
_SAG = 56  # of a bridge's cables, in percent of the bridge's height
_TYRE = Colour(44, 46, 58)

_CABINS: tuple[tuple[Point, Point, Point, Point], ...] = (
    ((20, 44), (34, 4), (66, 4), (82, 44)),
    ((4, 46), (12, 4), (58, 4), (78, 44)),
    ((2, 50), (3, 0), (76, 0), (88, 44)),
)

# Half an ellipse from its left to its right foot, in percent of its box: no sine has to be
# computed, so no last bit of one can move a pixel.
_ARCH = (
    *((0, 100), (2, 74), (7, 50), (15, 29), (25, 13), (37, 3), (50, 0)),
    *((63, 3), (75, 13), (85, 29), (93, 50), (98, 74), (100, 100)),
)


def house(dice: Dice, frame: Box, mood: Mood) -> Sketch:
    """Draw a house with a roof, a door, windows and perhaps a chimney; lit at night."""
    sketch = Sketch(frame, mirrored=dice.chance(50))
    wall = dice.pick(_WALLS)
    eaves = dice.between(40, 50)
    sketch.ellipse(SHADOW, -6, 95, 106, 105)
    sketch.rectangle(wall, 8, eaves, 92, 100)
    sketch.rectangle(wall.darker(16), 62, eaves, 92, 100)
    _roof(sketch, dice, eaves, snowy=mood.season.name == "winter")
    sketch.rectangle(dice.pick(_PAINTS).darker(16), 38, 68, 55, 100)
    night = mood.light.name == "night"
    for left in (15, 68):
        sketch.rectangle(wall.lighter(50), left - 2, 58, left + 18, 82)
        sketch.rectangle(_LAMP if night else _GLASS, left, 60, left + 16, 80, glows=night)
        sketch.rectangle(wall.lighter(50), left + 7, 60, left + 9, 80)
    return sketch


def _roof(sketch: Sketch, dice: Dice, eaves: int, snowy: bool) -> None:
    """Add a pointed or a hipped roof, its right side in shade, and perhaps a chimney."""
    tiles = dice.pick(_ROOFS)
    if dice.chance(60):
        sketch.rectangle(tiles.darker(26), 70, 4, 81, eaves)
    left, right, ridge, fold = (50, 50, 0, 50) if dice.chance(50) else (16, 84, 8, 62)
    sunny, shaded = tiles, tiles.darker(18)
    if snowy:
        sunny, shaded = Colour(250, 252, 255), Colour(218, 228, 240)
    low = eaves + 2
    sketch.polygon(sunny, (0, low), (left, ridge), (right, ridge), (100, low))
    sketch.polygon(shaded, (fold, ridge), (right, ridge), (100, low), (62, low))
    sketch.rectangle(tiles.darker(10), 0, eaves, 100, eaves + 4)


def fence(dice: Dice, frame: Box, mood: Mood) -> Sketch:
    """Draw two rails and a row of posts, pointed or plain."""
    sketch = Sketch(frame)
    wood = dice.pick(_WOODS)
    pointed = dice.chance(60)
    step = dice.between(46, 62)
    sketch.rectangle(SHADOW, 0, 95, 100, 104)
    for top in (28, 64):
        sketch.rectangle(wood.darker(18), 0, top, 100, top + 13)
    count = frame.width // step
    thick = step * dice.between(38, 50) // 100
    for number in range(count):
        left = frame.left + frame.width * number // count + (step - thick) // 2
        shoulder = frame.top + (frame.height * 18 // 100 if pointed else 0)
        right, middle = left + thick, left + thick // 2
        outline = ((left, frame.bottom), (left, shoulder), (middle, frame.top), (right, shoulder))
        sketch.path(wood, (*outline, (right, frame.bottom)))
    return sketch


def stone_bridge(dice: Dice, frame: Box, arches: int) -> Sketch:
    """Draw a bridge of stone arches that leaves what is behind the openings to be seen."""
    sketch = Sketch(frame)
    stone = dice.pick(_STONES)
    crown = frame.top + frame.height * 36 // 100
    pier = frame.width * 5 // 100
    span = (frame.width - pier * (arches + 1)) // arches
    depth = frame.bottom - crown
    outline = [(frame.right, frame.top), (frame.left, frame.top), (frame.left, frame.bottom)]
    rims = []
    for number in range(arches):
        left = frame.left + pier + number * (span + pier)
        inner = [(left + span * x // 100, crown + depth * y // 100) for x, y in _ARCH]
        outer = [(left + span * x // 100, crown - 14 + (depth + 14) * y // 100) for x, y in _ARCH]
        outline += outer
        rims.append((*outer, *reversed(inner)))
    sketch.path(stone, (*outline, (frame.right, frame.bottom)))
    for rim in rims:
        sketch.path(stone.darker(34), rim)
    sketch.rectangle(stone.darker(26), 0, 12, 100, 20)
    sketch.rectangle(stone.lighter(30), 0, 0, 100, 12)
    return sketch


def hanging_bridge(dice: Dice, frame: Box) -> Sketch:
    """Draw a bridge that hangs from cables between two towers."""
    sketch = Sketch(frame)
    steel = dice.pick(_STEELS)
    first, second = dice.between(22, 28), dice.between(72, 78)
    deck = 66
    for ends in ((first - 50, first), (first, second), (second, second + 50)):
        _cable(sketch, steel.darker(12), ends, deck)
    for tower in (first, second):
        sketch.rectangle(steel.darker(20), tower - 2, 0, tower + 2, 100)
        sketch.rectangle(steel, tower - 2, 0, tower, 100)
    sketch.rectangle(steel, 0, deck, 100, deck + 10)
    sketch.rectangle(steel.darker(28), 0, deck + 10, 100, deck + 15)
    return sketch


def _cable(sketch: Sketch, colour: Colour, ends: tuple[int, int], deck: int) -> None:
    """Add a cable that sags between two tower tops, and what hangs from it."""
    frame, (begin, end) = sketch.frame, ends
    upper: list[Point] = []
    for step in range(13):
        x = begin + (end - begin) * step // 12
        y = 4 + _SAG * 4 * step * (12 - step) // 144
        upper.append((x, y))
        if step % 2 == 0:
            left = frame.left + frame.width * x // 100
            top, bottom = (frame.top + frame.height * height // 100 for height in (y, deck))
            sketch.path(colour, ((left, top), (left + 5, top), (left + 5, bottom), (left, bottom)))
    sketch.polygon(colour, *upper, *((x, y + 4) for x, y in reversed(upper)))


def boat(dice: Dice, frame: Box, mood: Mood) -> Sketch:
    """Draw a sailing boat or a steamer with the light it throws on the water."""
    sketch = Sketch(frame, mirrored=dice.chance(50))
    hull, second = dice.pick(_PAINTS), dice.pick(_PAINTS)
    sketch.ellipse(mood.water.darker(36)._replace(opacity=120), -4, 92, 104, 108)
    if dice.chance(60):
        sketch.rectangle(Colour(120, 88, 66), 47, 0, 50, 76)
        sail = dice.pick((Colour(252, 250, 244), Colour(252, 250, 244), second.lighter(12)))
        sketch.polygon(sail, (52, 3), (52, 70), (94, 70))
        sketch.polygon(sail.darker(14), (45, 10), (45, 70), (14, 70))
        sketch.polygon(second, (50, 0), (50, 8), (64, 4))
    else:
        sketch.rectangle(second.darker(10), 52, 18, 64, 52)
        sketch.rectangle(Colour(250, 250, 250), 52, 24, 64, 32)
        sketch.rectangle(Colour(250, 248, 240), 24, 48, 76, 76)
        night = mood.light.name == "night"
        for left in (30, 45, 60):
            sketch.rectangle(_LAMP if night else _GLASS, left, 54, left + 9, 66, glows=night)
    sketch.polygon(hull, (0, 74), (100, 74), (84, 100), (16, 100))
    sketch.polygon(hull.darker(28), (9, 88), (92, 88), (84, 100), (16, 100))
    sketch.polygon(hull.lighter(45), (0, 74), (100, 74), (97, 79), (3, 79))
    return sketch


def car(dice: Dice, frame: Box, mood: Mood) -> Sketch:
    """Draw a car from the side: a saloon, a hatchback or a van."""
    sketch = Sketch(frame, mirrored=dice.chance(50))
    paint = dice.pick(_PAINTS)
    sketch.ellipse(SHADOW, -4, 86, 104, 106)
    _cabin(sketch, paint, *dice.pick(_CABINS))
    sketch.polygon(paint, (0, 54), (4, 42), (86, 42), (98, 52), (100, 84), (0, 84))
    sketch.rectangle(paint.darker(24), 0, 70, 100, 84)
    sketch.ellipse(_LAMP, 92, 50, 100, 66, glows=mood.light.name == "night")
    for left in (12, 66):
        sketch.ellipse(_TYRE, left, 58, left + 22, 102)
        sketch.ellipse(Colour(206, 210, 218), left + 6, 70, left + 16, 90)
    return sketch


def _cabin(
    sketch: Sketch, paint: Colour, rear: Point, rear_top: Point, front_top: Point, front: Point
) -> None:
    """Add the upper part of a car with two side windows."""
    sketch.polygon(paint, rear, rear_top, front_top, front)
    low, high = 42, rear_top[1] + 9
    back, ahead = (rear_top[0] + front_top[0]) // 2 - 2, (rear_top[0] + front_top[0]) // 2 + 3
    sketch.polygon(_GLASS, (rear[0] + 8, low), (rear_top[0] + 4, high), (back, high), (back, low))
    sketch.polygon(
        _GLASS, (ahead, low), (ahead, high), (front_top[0] - 2, high), (front[0] - 8, low)
    )
