"""What is seen above: the sky, what shines in it and what floats through it."""

from softhash.data.scenes.dice import Dice
from softhash.data.scenes.mood import Mood
from softhash.data.scenes.sketch import UNITS, Box, Colour, Sketch

_SKY_STRIPS = 40
_RAINBOW = (
    Colour(236, 92, 92, 215),
    Colour(246, 160, 80, 215),
    Colour(252, 222, 96, 215),
    Colour(112, 200, 122, 215),
    Colour(92, 164, 232, 215),
    Colour(150, 112, 208, 215),
)
_BALLOONS = (
    (Colour(228, 78, 82), Colour(252, 230, 190)),
    (Colour(246, 176, 62), Colour(226, 96, 70)),
    (Colour(70, 134, 206), Colour(246, 246, 240)),
    (Colour(146, 92, 176), Colour(250, 206, 96)),
    (Colour(44, 160, 148), Colour(248, 240, 216)),
)
_FEATHERS = (
    Colour(52, 58, 84),
    Colour(250, 250, 250),
    Colour(70, 76, 108),
    Colour(196, 74, 62),
)


def sky(mood: Mood, horizon: int) -> Sketch:
    """Fill everything above the horizon, paler towards it."""
    sketch = Sketch()
    for strip in range(_SKY_STRIPS):
        colour = mood.light.top.mixed(mood.light.bottom, strip * 100 // (_SKY_STRIPS - 1))
        top = (horizon + 60) * strip // _SKY_STRIPS
        bottom = (horizon + 60) * (strip + 1) // _SKY_STRIPS
        sketch.path(colour, ((0, top), (UNITS, top), (UNITS, bottom), (0, bottom)), glows=True)
    return sketch


def stars(dice: Dice, depth: int) -> Sketch:
    """Scatter small and a few large four-pointed stars down to that depth."""
    sketch = Sketch()
    for number in range(dice.between(22, 40)):
        reach = dice.between(20, 30) if number < 7 else dice.between(8, 15)
        x, y, waist = dice.between(15, UNITS - 15), dice.between(15, depth), reach // 4
        tips = ((x, y - reach), (x + reach, y), (x, y + reach), (x - reach, y))
        hollows = ((waist, -waist), (waist, waist), (-waist, waist), (-waist, -waist))
        outline = []
        for tip, (across, down) in zip(tips, hollows, strict=True):
            outline += [tip, (x + across, y + down)]
        sketch.path(dice.pick((Colour(255, 250, 222), Colour(226, 236, 255))), outline, glows=True)
    return sketch


def sun(dice: Dice, frame: Box, mood: Mood) -> Sketch:
    """Draw a bright disc with a halo around it."""
    sketch = Sketch(frame)
    by_day = mood.light.name == "day"
    disc = Colour(255, 214, 80) if by_day else Colour(255, 226, 140)
    glow = disc.lighter(30) if by_day else Colour(255, 172, 92)
    for reach, opacity in ((46, 34), (30, 48), (15, 70)):
        halo = glow._replace(opacity=opacity)
        sketch.ellipse(halo, -reach, -reach, 100 + reach, 100 + reach, glows=True)
    sketch.ellipse(disc, 0, 0, 100, 100, glows=True)
    sketch.ellipse(disc.lighter(dice.between(18, 38)), 12, 12, 88, 88, glows=True)
    return sketch


def moon(dice: Dice, frame: Box, mood: Mood) -> Sketch:
    """Draw a full moon with craters, or a crescent."""
    sketch = Sketch(frame, mirrored=dice.chance(50))
    pale = dice.pick((Colour(250, 244, 214), Colour(236, 240, 250), Colour(252, 228, 168)))
    sketch.ellipse(pale._replace(opacity=36), -28, -28, 128, 128, glows=True)
    if dice.chance(50):
        sketch.ellipse(pale, 0, 0, 100, 100, glows=True)
        for left, top, width in ((22, 24, 22), (56, 40, 26), (32, 62, 16), (62, 16, 12)):
            sketch.ellipse(pale.darker(14), left, top, left + width, top + width, glows=True)
    else:
        # A crescent is two curves between the same two tips, not a disc with a bite painted over
        # it: the stars and the sky behind the dark part must stay as they are.
        outer = (
            (62, 0),
            (38, 4),
            (18, 16),
            (5, 34),
            (2, 52),
            (8, 72),
            (24, 90),
            (46, 99),
            (70, 98),
        )
        inner = ((90, 88), (68, 82), (50, 68), (42, 50), (42, 32), (49, 14))
        sketch.polygon(pale, *outer, *inner, glows=True)
    return sketch


def cloud(dice: Dice, frame: Box, mood: Mood) -> Sketch:
    """Draw a heap of puffs on a flat base, shaded below."""
    sketch = Sketch(frame, mirrored=dice.chance(50))
    white = Colour(255, 255, 255).mixed(mood.light.bottom, 18 if mood.light.name == "day" else 45)
    if mood.light.name == "night":
        white = mood.light.bottom.lighter(22)
    shade = white.darker(12)
    lift = dice.between(-6, 8)
    puffs = ((0, 46, 34, 100), (18, 18 + lift, 56, 96), (44, 0 - lift, 82, 92), (66, 36, 100, 100))
    for left, top, right, bottom in puffs:
        sketch.ellipse(shade, left, max(0, top), right, bottom, glows=True)
    sketch.rectangle(shade, 15, 60, 85, 100, glows=True)
    for left, top, right, bottom in puffs:
        sketch.ellipse(white, left, max(0, top), right, bottom - 14, glows=True)
    sketch.rectangle(white, 15, 56, 85, 85, glows=True)
    return sketch


def rainbow(dice: Dice, horizon: int) -> Sketch:
    """Span six bands over the horizon."""
    sketch = Sketch()
    radius = dice.between(max(250, horizon - 130), horizon - 25)
    across = radius * dice.between(100, 125) // 100
    middle = dice.between(300, UNITS - 300)
    band = dice.between(13, 18)
    for number, colour in enumerate(_RAINBOW):
        inset = number * band
        box = Box(
            middle - across + inset,
            horizon - radius + inset,
            middle + across - inset,
            horizon + radius - inset,
        )
        sketch.ring(colour, box, band + 1)
    return sketch


def bird(dice: Dice, frame: Box, mood: Mood) -> Sketch:
    """Draw a bird on the wing, seen from the side."""
    sketch = Sketch(frame, mirrored=dice.chance(50))
    body = dice.pick(_FEATHERS)
    if mood.season.name == "winter":
        body = body.darker(30)  # or a white bird would be lost before snow
    wing = body.darker(18)
    sketch.polygon(wing, (50, 66), (72, 64), (84, 10), (76, 0), (62, 22))
    sketch.polygon(wing, (0, 62), (6, 88), (34, 80), (30, 66))
    sketch.ellipse(body, 20, 56, 80, 100)
    sketch.ellipse(body, 68, 46, 92, 82)
    sketch.polygon(Colour(248, 170, 50), (90, 58), (102, 66), (89, 72))
    sketch.ellipse(Colour(20, 24, 40), 80, 56, 86, 65)
    sketch.polygon(body.darker(30), (34, 74), (64, 74), (54, 30), (34, 2), (24, 10), (30, 44))
    return sketch


def balloon(dice: Dice, frame: Box, mood: Mood) -> Sketch:
    """Draw a striped hot-air balloon with its basket."""
    sketch = Sketch(frame)
    first, second = dice.pick(_BALLOONS)
    if dice.chance(50):
        first, second = second, first
    rope = Colour(112, 84, 64)
    sketch.polygon(rope, (30, 62), (34, 62), (43, 86), (40, 86))
    sketch.polygon(rope, (66, 62), (70, 62), (60, 86), (57, 86))
    sketch.polygon(first, (6, 50), (94, 50), (62, 76), (38, 76))
    sketch.ellipse(first, 0, 0, 100, 72)
    sketch.polygon(second, (20, 54), (80, 54), (58, 76), (42, 76))
    sketch.ellipse(second, 18, 0, 82, 72)
    sketch.polygon(first, (38, 60), (62, 60), (54, 76), (46, 76))
    sketch.ellipse(first, 37, 0, 63, 73)
    sketch.rectangle(Colour(150, 104, 66), 38, 86, 62, 100)
    sketch.rectangle(Colour(112, 74, 48), 36, 85, 64, 89)
    return sketch
