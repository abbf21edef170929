"""What lives and grows: trees, flowers, sheep and people."""

from softhash.data.scenes.dice import Dice
from softhash.data.scenes.mood import SHADOW, Mood
from softhash.data.scenes.sketch import Box, Colour, Sketch

_BARK = Colour(122, 88, 66)
_PETALS = (
    Colour(232, 76, 86),
    Colour(250, 200, 70),
    Colour(250, 250, 250),
    Colour(176, 104, 206),
    Colour(246, 136, 170),
    Colour(96, 120, 220),
)
_CLOTHES = (
    Colour(214, 72, 68),
    Colour(58, 112, 186),
    Colour(246, 190, 72),
    Colour(60, 150, 120),
    Colour(150, 90, 170),
    Colour(240, 240, 236),
)
_SKINS = (Colour(250, 212, 180), Colour(228, 178, 138), Colour(168, 112, 80), Colour(112, 74, 56))
_HAIRS = (Colour(60, 42, 36), Colour(146, 92, 48), Colour(230, 190, 104), Colour(40, 40, 50))


def tree(dice: Dice, frame: Box, mood: Mood) -> Sketch:
    """Draw a broad tree, a fir or a poplar in the colours of the season."""
    sketch = Sketch(frame, mirrored=dice.chance(50))
    leaves = dice.pick(mood.season.foliage)
    sketch.ellipse(SHADOW, 8, 95, 96, 104)
    kind = dice.pick(("broad", "broad", "fir", "poplar"))
    if kind == "fir":
        _fir(sketch, leaves, snowy=mood.season.name == "winter")
    elif kind == "poplar":
        _poplar(sketch, leaves)
    else:
        _broad(sketch, leaves)
    return sketch


def _broad(sketch: Sketch, leaves: Colour) -> None:
    """Add a trunk with a crown of several rounds."""
    sketch.polygon(_BARK, (44, 50), (56, 50), (60, 100), (40, 100))
    for left, top, right, bottom in ((0, 24, 54, 68), (44, 22, 100, 70), (18, 0, 80, 56)):
        sketch.ellipse(leaves.darker(20), left, top, right, bottom)
    for left, top, right, bottom in ((3, 24, 48, 58), (42, 23, 90, 60), (19, 0, 72, 46)):
        sketch.ellipse(leaves, left, top, right, bottom)
    for left, top, right, bottom in ((26, 6, 48, 22), (54, 30, 70, 42), (12, 32, 26, 42)):
        sketch.ellipse(leaves.lighter(22), left, top, right, bottom)


def _fir(sketch: Sketch, leaves: Colour, snowy: bool) -> None:
    """Add three tiers of needles, shaded on one side."""
    needles = leaves.mixed(Colour(38, 104, 84), 60)
    sketch.rectangle(_BARK, 43, 78, 57, 100)
    for top, bottom, reach in ((44, 88, 48), (22, 62, 38), (0, 38, 28)):
        sketch.polygon(needles, (50, top), (50 + reach, bottom), (50 - reach, bottom))
        sketch.polygon(needles.darker(24), (50, top), (50 + reach, bottom), (56, bottom))
        if snowy:
            half, drop = reach // 2, (bottom - top) // 2
            tips = ((50 + half, top + drop), (50, top + drop * 3 // 4), (50 - half, top + drop))
            sketch.polygon(Colour(248, 252, 255), (50, top), *tips)


def _poplar(sketch: Sketch, leaves: Colour) -> None:
    """Add a slender crown, shaded on one side."""
    sketch.rectangle(_BARK, 44, 72, 56, 100)
    sketch.ellipse(leaves.darker(22), 18, 0, 82, 90)
    sketch.ellipse(leaves, 18, 1, 68, 86)
    sketch.ellipse(leaves.lighter(20), 27, 14, 44, 48)


def flower(dice: Dice, frame: Box, mood: Mood) -> Sketch:
    """Draw a bed of three to five flowers on stems."""
    sketch = Sketch(frame)
    count = dice.between(3, 5)
    petal, stem = dice.pick(_PETALS), Colour(70, 140, 74)
    kind = dice.pick(("daisy", "tulip"))
    reach = frame.width * 62 // (100 * count)
    for number in range(count):
        x = 100 * (2 * number + 1) // (2 * count) + dice.between(-3, 3)
        top = dice.between(20, 42)
        sketch.polygon(stem, (x - 2, top), (x + 2, top), (x + 2, 100), (x - 2, 100))
        sketch.polygon(stem.lighter(14), (x, 92), (x + 11, 62), (x + 3, 96))
        sketch.polygon(stem.darker(12), (x, 96), (x - 11, 70), (x - 3, 98))
        middle = (frame.left + frame.width * x // 100, frame.top + frame.height * top // 100)
        head = Box(middle[0] - reach, middle[1] - reach, middle[0] + reach, middle[1] + reach)
        sketch.shapes += (_daisy if kind == "daisy" else _tulip)(head, petal).shapes
    return sketch


def _daisy(frame: Box, petal: Colour) -> Sketch:
    """Draw six petals around a heart."""
    sketch = Sketch(frame)
    for left, top in ((32, 0), (62, 16), (62, 50), (32, 66), (2, 50), (2, 16)):
        sketch.ellipse(petal.darker(6), left, top, left + 38, top + 36)
    heart = Colour(250, 206, 74) if petal != _PETALS[1] else Colour(146, 88, 50)
    sketch.ellipse(petal, 20, 20, 80, 80)
    sketch.ellipse(heart, 30, 30, 70, 70)
    return sketch


def _tulip(frame: Box, petal: Colour) -> Sketch:
    """Draw a cup of three petals."""
    sketch = Sketch(frame)
    sketch.ellipse(petal.darker(14), 10, 18, 90, 100)
    sketch.polygon(petal.darker(14), (10, 56), (12, 0), (50, 50), (88, 0), (90, 56))
    sketch.polygon(petal, (26, 64), (50, 0), (74, 64), (50, 96))
    return sketch


def sheep(dice: Dice, frame: Box, mood: Mood) -> Sketch:
    """Draw a sheep with a woolly coat, grazing or looking up."""
    sketch = Sketch(frame, mirrored=dice.chance(50))
    wool = dice.pick((Colour(250, 248, 240), Colour(250, 248, 240), Colour(238, 224, 202)))
    face = dice.pick((Colour(62, 56, 62), Colour(92, 76, 70), Colour(232, 206, 184)))
    sketch.ellipse(SHADOW, 6, 92, 90, 106)
    for left in (22, 34, 58, 68):
        sketch.rectangle(face.darker(10), left, 66, left + 7, 100)
    puffs = ((2, 28, 38, 74), (14, 6, 52, 60), (36, 4, 74, 60), (50, 24, 82, 76), (18, 36, 68, 84))
    for left, top, right, bottom in puffs:
        sketch.ellipse(wool.darker(16), left, top + 3, right, bottom + 4)
    for left, top, right, bottom in puffs:
        sketch.ellipse(wool, left, top, right, bottom - 6)
    drop = dice.pick((0, 0, 30))
    sketch.ellipse(face, 70, 14 + drop, 98, 58 + drop)
    sketch.ellipse(face.darker(20), 64, 20 + drop, 76, 34 + drop)
    sketch.ellipse(wool, 70, 6 + drop, 90, 28 + drop)
    return sketch


def person(dice: Dice, frame: Box, mood: Mood) -> Sketch:
    """Draw somebody standing, in a dress or trousers, now and then waving or with a hat."""
    sketch = Sketch(frame, mirrored=dice.chance(50))
    top, trousers = dice.pick(_CLOTHES), dice.pick(_CLOTHES).darker(30)
    skin, hair = dice.pick(_SKINS), dice.pick(_HAIRS)
    in_a_dress = dice.chance(45)
    sketch.ellipse(SHADOW, -10, 96, 110, 104)
    _legs(sketch, skin if in_a_dress else trousers, hair.darker(30))
    _arms(sketch, top.darker(14), skin, waving=dice.chance(40))
    hem = (96, 74) if in_a_dress else (76, 66)
    sketch.polygon(top, (26, 28), (74, 28), hem, (100 - hem[0], hem[1]))
    sketch.ellipse(hair, 24, 0, 76, 25)
    sketch.ellipse(skin, 28, 4, 72, 27)
    if dice.chance(50):
        hat = dice.pick(_CLOTHES)
        sketch.rectangle(hat, 30, -3, 70, 7)
        sketch.rectangle(hat.darker(16), 14, 6, 86, 10)
    else:
        sketch.ellipse(hair, 26, 0, 74, 11)
    return sketch


def _legs(sketch: Sketch, colour: Colour, shoes: Colour) -> None:
    """Add two legs with shoes."""
    sketch.rectangle(colour, 28, 62, 46, 98)
    sketch.rectangle(colour.darker(12), 54, 62, 72, 98)
    sketch.rectangle(shoes, 22, 95, 46, 100)
    sketch.rectangle(shoes, 54, 95, 78, 100)


def _arms(sketch: Sketch, sleeve: Colour, skin: Colour, waving: bool) -> None:
    """Add two arms that hang down, or one of them raised."""
    sketch.polygon(sleeve, (28, 30), (14, 32), (0, 58), (14, 60))
    sketch.ellipse(skin, 0, 56, 18, 65)
    if waving:
        sketch.polygon(sleeve, (74, 32), (92, 10), (102, 14), (86, 44))
        sketch.ellipse(skin, 88, 5, 108, 15)
    else:
        sketch.polygon(sleeve, (72, 30), (86, 32), (98, 58), (84, 60))
        sketch.ellipse(skin, 82, 56, 100, 65)
