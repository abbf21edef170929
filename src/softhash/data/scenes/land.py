"""What the ground is made of: hills, mountains, water and roads."""

from softhash.data.scenes.dice import Dice
from softhash.data.scenes.mood import Mood
from softhash.data.scenes.sketch import UNITS, Box, Colour, Point, Sketch

_STEP = 40
_SNOW = Colour(250, 252, 255)
_ASPHALT = (Colour(108, 112, 124), Colour(136, 132, 136), Colour(90, 92, 106))
_ROCKS = (Colour(118, 132, 158), Colour(134, 122, 146), Colour(112, 140, 136))


def rolling(dice: Dice, y: int, swing: int) -> list[Point]:
    """Return a gentle line across the picture that stays within ``swing`` of a height."""
    heights = [y + dice.between(-swing, swing) for _ in range(4)]
    third = UNITS // 3 + 1
    line = []
    for x in range(0, UNITS + _STEP, _STEP):
        before = min(x // third, 2)
        part = min((x - before * third) * 100 // third, 100)
        eased = part * part * (300 - 2 * part) // 10_000  # smoothstep, in percent
        rise = heights[before + 1] - heights[before]
        line.append((x, heights[before] + rise * eased // 100))
    return line


def below(line: list[Point], bottom: int = UNITS) -> list[Point]:
    """Return the outline of everything under a line across the picture."""
    return [*line, (line[-1][0], bottom), (line[0][0], bottom)]


def hills(dice: Dice, mood: Mood, top: int, swing: int = 22, fields: bool = False) -> Sketch:
    """Cover everything below a height with two to four swells of ground, paler far away."""
    sketch = Sketch()
    count = dice.between(2, 4) if top > 0 else dice.between(3, 5)
    far = mood.ground.mixed(mood.light.bottom, 30)
    for number in range(count):
        y = top + (UNITS - top) * number // (count + 1)
        colour = far.mixed(mood.ground.darker(5), number * 100 // (count - 1))
        line = rolling(dice, y, swing if number == 0 else swing * 2)
        sketch.path(colour, below(line))
        if fields and dice.chance(45):
            _furrows(sketch, colour.darker(6), line)
    for _ in range(dice.between(5, 11)):
        x, y = dice.between(20, UNITS - 60), dice.between(top + 60, UNITS - 20)
        tuft = mood.ground.darker(dice.between(10, 18))
        sketch.path(tuft, ((x, y), (x + 5, y - 16), (x + 10, y), (x + 18, y - 20), (x + 22, y)))
    return sketch


def _furrows(sketch: Sketch, colour: Colour, line: list[Point]) -> None:
    """Add stripes of a mown field that follow the lie of the land."""
    drop, thick = 18, 8
    while drop < 300:
        upper = [(x, y + drop) for x, y in line]
        lower = [(x, y + drop + thick) for x, y in reversed(line)]
        sketch.path(colour, upper + lower)
        drop, thick = drop + 3 * thick, thick + 3


def glitter(dice: Dice, water_box: Box, x: int, light: Colour) -> Sketch:
    """Lay the light of the sun or the moon on the water beneath it."""
    sketch = Sketch()
    for _ in range(26):
        path = Box(x - 75, water_box.top + 8, x + 75, water_box.bottom - 20)
        ripple(sketch, dice, path, light._replace(opacity=150), glows=True)
    return sketch


def bank(dice: Dice, mood: Mood, y: int) -> Sketch:
    """Cover the foreground below a shore with a strip of sand and with ground."""
    sketch = Sketch()
    line = rolling(dice, y, 14)
    sand = Colour(238, 218, 170).mixed(mood.ground, 25)
    sketch.path(sand.darker(10), below([(x, height - 7) for x, height in line]))
    sketch.path(sand, below(line))
    sketch.path(mood.ground, below([(x, height + 34) for x, height in line]))
    return sketch


def mountains(dice: Dice, mood: Mood, top: int, base: int) -> Sketch:
    """Raise a pale range and two or three peaks before it, with snow and a side in shade."""
    sketch = Sketch()
    rock = dice.pick(_ROCKS)
    pale = rock.mixed(mood.light.bottom, 62)
    third = (base - top) // 3
    for x in range(-100, UNITS + 100, 190):
        _peak(sketch, pale, (x + dice.between(0, 120), top + third + dice.between(0, third)), base)
    spots = [(150, 330), (420, 600), (690, 860)]
    if dice.chance(50):
        spots.remove(dice.pick(spots))
    for low, high in spots:
        peak = (dice.between(low, high), top + dice.between(0, third))
        _peak(sketch, rock.mixed(mood.light.bottom, 22), peak, base)
        _snow_cap(sketch, peak, (base - peak[1]) * dice.between(26, 40) // 100)
    return sketch


def _peak(sketch: Sketch, rock: Colour, peak: Point, base: int) -> None:
    """Add a mountain with its right side in shade."""
    x, y = peak
    height = base - y
    left, right = x - height * 9 // 10, x + height * 9 // 10
    sketch.path(rock, (peak, (right, base), (left, base)))
    ridge = ((x - height // 12, y + height // 3), (x + height // 9, y + height * 2 // 3))
    sketch.path(rock.darker(17), (peak, *ridge, (x, base), (right, base)))


def _snow_cap(sketch: Sketch, peak: Point, depth: int) -> None:
    """Add snow with a ragged lower edge."""
    x, y = peak
    reach = depth * 9 // 10
    edge = (
        (x + reach, y + depth),
        (x + reach // 2, y + depth * 3 // 4),
        (x + reach // 8, y + depth * 6 // 5),
        (x - reach // 3, y + depth * 3 // 4),
        (x - reach, y + depth),
    )
    sketch.path(_SNOW, (peak, *edge))
    sketch.path(_SNOW.darker(14), (peak, *edge[:3], (x - reach // 8, y + depth // 3)))


def water(dice: Dice, mood: Mood, box: Box) -> Sketch:
    """Fill a box with water, darker towards the viewer, and ripples on it."""
    sketch = Sketch(box)
    strips = 14
    far, near = mood.water.mixed(mood.light.bottom, 34), mood.water.darker(10)
    for strip in range(strips):
        top = box.top + box.height * strip // strips
        bottom = box.top + box.height * (strip + 1) // strips
        outline = ((box.left, top), (box.right, top), (box.right, bottom), (box.left, bottom))
        sketch.path(far.mixed(near, strip * 100 // (strips - 1)), outline, glows=True)
    for _ in range(8 + box.height // 40):
        ripple(sketch, dice, Box(0, box.top + 15, UNITS, box.bottom), Colour(255, 255, 255, 70))
    return sketch


def ripple(sketch: Sketch, dice: Dice, box: Box, colour: Colour, glows: bool = False) -> None:
    """Add one thin streak of light on the water, somewhere in the box."""
    half = min(dice.between(22, 65), box.width // 2)
    x, y = dice.between(box.left + half, box.right - half), dice.between(box.top, box.bottom)
    lens = ((x - half, y), (x, y - 4), (x + half, y), (x, y + 4))
    sketch.path(colour, lens, glows=glows)


def winding(dice: Dice, top: int, widths: tuple[int, int]) -> list[Box]:
    """Return slices, far to near, of a strip that winds from the horizon to the viewer."""
    x, drift = dice.between(380, 620), dice.between(-130, 130)
    bend = dice.between(-110, 110)
    slices = []
    count = 30
    for number in range(count):
        part = number * 100 // (count - 1)
        middle = x + drift * part // 100 + bend * 4 * part * (100 - part) // 10_000
        half = (widths[0] * (100 - part) + widths[1] * part) // 200
        y = top + (UNITS - top) * number // count
        bottom = top + (UNITS - top) * (number + 1) // count
        slices.append(Box(middle - half, y, middle + half, bottom))
    return slices


def outline(slices: list[Box], margin: int = 0) -> list[Point]:
    """Return the outline of a winding strip, a margin wider on both sides."""
    left = [(piece.left - margin, piece.top) for piece in slices]
    right = [(piece.right + margin, piece.top) for piece in slices]
    end = slices[-1]
    return [*left, (end.left - margin, end.bottom), (end.right + margin, end.bottom), *right[::-1]]


def river(dice: Dice, mood: Mood, slices: list[Box]) -> Sketch:
    """Draw water that winds towards the viewer between sandy edges."""
    sketch = Sketch()
    sketch.path(Colour(232, 212, 166).mixed(mood.ground, 35), outline(slices, margin=16))
    sketch.path(mood.water, outline(slices), glows=True)
    for piece in slices[2::2]:
        inner = Box(piece.left + 10, piece.top, piece.right - 10, piece.bottom)
        ripple(sketch, dice, inner, Colour(255, 255, 255, 80))
    return sketch


def winding_road(dice: Dice, mood: Mood, slices: list[Box]) -> Sketch:
    """Draw a road that winds towards the viewer, with a broken line in its middle."""
    sketch = Sketch()
    asphalt = dice.pick(_ASPHALT)
    sketch.path(mood.ground.darker(16), outline(slices, margin=12))
    sketch.path(asphalt, outline(slices))
    for piece in slices[1::3]:
        middle, half = (piece.left + piece.right) // 2, max(2, piece.width // 36)
        sketch.path(
            Colour(250, 244, 226),
            (
                (middle - half, piece.top),
                (middle + half, piece.top),
                (middle + half, piece.bottom),
                (middle - half, piece.bottom),
            ),
        )
    return sketch


def level_road(dice: Dice, mood: Mood, top: int, bottom: int) -> Sketch:
    """Draw a road from side to side."""
    sketch = Sketch(Box(0, top, UNITS, bottom))
    sketch.rectangle(mood.ground.darker(18), 0, -9, 100, 109)
    sketch.rectangle(Colour(222, 218, 206), 0, -4, 100, 104)
    sketch.rectangle(dice.pick(_ASPHALT), 0, 0, 100, 100)
    shift = dice.between(-6, 6)
    for left in range(shift, 100, 16):
        sketch.rectangle(Colour(250, 244, 226), left, 46, left + 8, 53)
    return sketch
