"""Which things a scene is made of, where they are, and so what it is labelled by.

Everything labelled is visible because every thing gets a frame that no other thing may enter; one
that finds no room is left out, and its label with it.
"""

from typing import NamedTuple

from PIL import Image

from softhash.data.scenes import built, heavens, land, living, terrain
from softhash.data.scenes.dice import Dice
from softhash.data.scenes.layout import Layout, Thing, Zone
from softhash.data.scenes.mood import Light, Mood, choose_mood
from softhash.data.scenes.sketch import UNITS, Box, Colour, Part, Shape, render, tinted
from softhash.data.scenes.terrain import Terrain


class Scene(NamedTuple):
    """The parts of a picture, back to front."""

    parts: tuple[Part, ...]
    mirrored: bool

    @property
    def labels(self) -> frozenset[str]:
        """The names of what is in the picture."""
        return frozenset(part.label for part in self.parts if part.label)

    def shapes(self, without: str | None = None) -> list[Shape]:
        """Return everything to be painted, with one kind of thing left out if asked."""
        return [
            shape
            for part in self.parts
            if part.label is None or part.label != without
            for shape in part.shapes
        ]


THINGS = {
    "balloon": Thing(heavens.balloon, (130, 190), (132, 142), (1, 1, 2)),
    "bird": Thing(heavens.bird, (125, 175), (56, 64), (1, 2, 3, 4)),
    "boat": Thing(built.boat, (180, 270), (76, 96), (1, 1, 2, 3)),
    "car": Thing(built.car, (220, 290), (42, 48), (1, 1, 2)),
    "cloud": Thing(heavens.cloud, (190, 320), (40, 50), (1, 2, 2, 3)),
    "fence": Thing(built.fence, (380, 680), (18, 22)),
    "flower": Thing(living.flower, (160, 230), (70, 85), (1, 2, 3)),
    "house": Thing(built.house, (220, 300), (86, 108), (1, 1, 2)),
    "moon": Thing(heavens.moon, (110, 150), (100, 100)),
    "person": Thing(living.person, (80, 105), (205, 220), (1, 1, 2, 3)),
    "sheep": Thing(living.sheep, (140, 185), (70, 76), (1, 2, 3, 4)),
    "sun": Thing(heavens.sun, (115, 170), (100, 100)),
    "tree": Thing(living.tree, (130, 200), (135, 175), (1, 2, 2, 3, 4)),
}

CLASSES = tuple(sorted((*THINGS, "bridge", "mountain", "rainbow", "road", "sky", "stars", "water")))

# How often, in percent, a thing is wished for where it makes sense. What finds no room is left out.
_GROUND_WISHES = {
    "meadow": {"house": 36, "tree": 48, "fence": 34, "sheep": 42, "person": 26, "flower": 36},
    "lake": {"boat": 58, "house": 30, "tree": 26, "person": 26, "flower": 22, "fence": 10},
    "river": {"boat": 18, "house": 30, "tree": 38, "person": 22, "flower": 26, "sheep": 18},
    "road": {"car": 72, "house": 32, "tree": 38, "person": 20, "flower": 22, "fence": 24},
}
_SKY_WISHES = {
    "day": {"sun": 46, "cloud": 40, "balloon": 18, "bird": 22},
    "dusk": {"sun": 64, "cloud": 30, "balloon": 18, "bird": 26},
    "night": {"moon": 74, "cloud": 18},
}
_DOWNWARD_WISHES = {"balloon": 14, "bird": 26}
_MID_AIR = Zone(230, 560)
_MOST_COVERED = 18  # percent of the mountains that houses and trees may hide
_NEVER_IN_WINTER = frozenset(("flower", "sheep"))
_TERRAINS = (
    *(terrain.meadow, terrain.meadow, terrain.lake, terrain.lake),
    *(terrain.river, terrain.road, terrain.road),
)


def compose(dice: Dice) -> Scene:
    """Compose a scene with three to seven kinds of things in it."""
    while True:
        scene = _attempt(dice)
        if 3 <= len(scene.labels) <= 7:
            return scene


def _attempt(dice: Dice) -> Scene:
    """Compose a scene, however much or little there is in it."""
    mood = choose_mood(dice)
    # By day many a picture looks down on the land: no sky, so that "sky" says something.
    under_sky = mood.light.name != "day" or dice.chance(40)
    horizon = dice.between(430, 560) if under_sky else -60
    ground = dice.pick(_TERRAINS)(dice, mood, horizon)
    layout = Layout(ground.taken, ground.wet)
    _place_all(dice, mood, layout, _GROUND_WISHES[ground.name], ground.zones)
    if under_sky:
        backdrop = _heavens(dice, mood, layout, horizon)
        _reflect(dice, ground, layout)
    else:
        backdrop = []
        _place_all(dice, mood, layout, _DOWNWARD_WISHES, dict.fromkeys(_DOWNWARD_WISHES, _MID_AIR))
    parts = (*backdrop, *ground.parts, *layout.parts())
    return Scene(tuple(_lit(part, mood.light) for part in parts), mirrored=dice.chance(50))


def _lit(part: Part, light: Light) -> Part:
    """Return a part in its light, which changes things less than the land: they stand out."""
    is_land = part.label in (None, "road")
    percent = light.strength if is_land else light.strength * 45 // 100
    return Part(part.label, tinted(part.shapes, light.tint, percent))


def _heavens(dice: Dice, mood: Mood, layout: Layout, horizon: int) -> list[Part]:
    """Return the sky and what lies at its rim; place what shines and floats in it."""
    parts = [heavens.sky(mood, horizon).part("sky")]
    skyline = horizon - 20
    if mood.light.name == "night" and dice.chance(72):
        parts.append(heavens.stars(dice, skyline - 40).part("stars"))
    summit = horizon - dice.between(190, 260)
    if dice.chance(38) and layout.covered(Box(0, summit, UNITS, horizon)) <= _MOST_COVERED:
        parts.append(land.mountains(dice, mood, summit, horizon + 40).part("mountain"))
        skyline = summit
    wishes = _SKY_WISHES[mood.light.name]
    if mood.light.name == "day" and dice.chance(36):
        parts.append(heavens.rainbow(dice, horizon + 20).part("rainbow"))
        wishes = wishes | {"sun": 0}  # whoever sees a rainbow has the sun behind
    zones = dict.fromkeys(("cloud", "moon", "sun"), Zone(110, skyline))
    zones |= dict.fromkeys(("balloon", "bird"), Zone(110, horizon - 20))
    _place_all(dice, mood, layout, wishes, zones)
    return parts


def _reflect(dice: Dice, ground: Terrain, layout: Layout) -> None:
    """Let the sun or the moon glitter on open water."""
    for name, light in (("sun", Colour(255, 240, 190)), ("moon", Colour(236, 236, 220))):
        frame = layout.frame_of(name)
        if frame and ground.mirror:
            middle = (frame.left + frame.right) // 2
            part = land.glitter(dice, ground.mirror, middle, light).part("water")
            after = [part.label for part in ground.parts].index("water") + 1
            ground.parts.insert(after, part)


def _place_all(
    dice: Dice, mood: Mood, layout: Layout, wishes: dict[str, int], zones: dict[str, Zone]
) -> None:
    """Place the things that chance wishes for, the season allows and a zone exists for."""
    for name, percent in wishes.items():
        wanted = dice.chance(percent)
        if not wanted or name not in zones:
            continue
        if mood.season.name == "winter" and name in _NEVER_IN_WINTER:
            continue
        thing = THINGS[name]
        for _ in range(dice.pick(thing.counts)):
            frame = layout.find(dice, thing, zones[name])
            if frame:
                layout.add(frame, thing.paint(dice, frame, mood).part(name))


def paint(scene: Scene, size: int, without: str | None = None) -> Image.Image:
    """Paint a scene as a square RGB picture.

    Args:
        scene: what is in it.
        size: its side in pixels.
        without: a kind of thing to leave out.

    """
    image = render(scene.shapes(without), size)
    return image.transpose(Image.Transpose.FLIP_LEFT_RIGHT) if scene.mirrored else image


def draw(index: int, seed: int = 0, size: int = 128) -> tuple[Image.Image, frozenset[str]]:
    """Draw a picture; return it and the names of what is in it.

    Args:
        index: which picture of the seed.
        seed: what the picture depends on, beside its index.
        size: its side in pixels; what is in the picture does not depend on it.

    """
    scene = compose(Dice("scenes", seed, index))
    return paint(scene, size), scene.labels
