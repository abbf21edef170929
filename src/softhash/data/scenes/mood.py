"""The light and the season of a picture: the colours that everything in it shares."""

from typing import NamedTuple

from softhash.data.scenes.dice import Dice
from softhash.data.scenes.sketch import Colour

SHADOW = Colour(24, 34, 64, 60)


class Light(NamedTuple):
    """The colours of the sky and what they do to everything beneath."""

    name: str
    top: Colour
    bottom: Colour
    tint: Colour
    strength: int  # percent of the tint in the colours of the land; things have less of it


class Season(NamedTuple):
    """The colours of the ground and of what grows on it."""

    name: str
    grounds: tuple[Colour, ...]
    foliage: tuple[Colour, ...]


class Mood(NamedTuple):
    """One light, one season, and the colours chosen within them."""

    light: Light
    season: Season
    ground: Colour
    water: Colour


_NOON = Colour(255, 250, 230)
_EMBER = Colour(222, 104, 96)
_MIDNIGHT = Colour(22, 38, 108)

DAYS = (
    Light("day", Colour(86, 170, 232), Colour(208, 236, 248), _NOON, 0),
    Light("day", Colour(120, 198, 236), Colour(236, 244, 236), _NOON, 6),
    Light("day", Colour(70, 146, 214), Colour(176, 220, 244), _NOON, 0),
    Light("day", Colour(150, 186, 210), Colour(226, 232, 232), Colour(190, 200, 210), 12),
)
DUSKS = (
    Light("dusk", Colour(92, 82, 150), Colour(255, 184, 124), _EMBER, 22),
    Light("dusk", Colour(224, 118, 110), Colour(255, 222, 150), _EMBER, 18),
    Light("dusk", Colour(96, 120, 178), Colour(250, 190, 190), _EMBER, 18),
)
NIGHTS = (
    Light("night", Colour(14, 20, 58), Colour(52, 68, 126), _MIDNIGHT, 60),
    Light("night", Colour(24, 16, 58), Colour(84, 64, 126), _MIDNIGHT, 56),
    Light("night", Colour(10, 30, 58), Colour(40, 92, 120), _MIDNIGHT, 58),
)

SEASONS = (
    Season(
        "spring",
        (Colour(156, 208, 112), Colour(174, 214, 124)),
        (Colour(112, 182, 96), Colour(246, 184, 204), Colour(250, 222, 230), Colour(150, 196, 90)),
    ),
    Season(
        "summer",
        (Colour(122, 186, 92), Colour(140, 192, 96), Colour(104, 172, 100)),
        (Colour(62, 138, 84), Colour(84, 158, 80), Colour(40, 116, 84)),
    ),
    Season(
        "autumn",
        (Colour(214, 184, 104), Colour(196, 178, 96), Colour(222, 196, 132)),
        (Colour(216, 118, 48), Colour(194, 78, 52), Colour(230, 166, 58)),
    ),
    Season(
        "winter",
        (Colour(234, 240, 246), Colour(224, 234, 244)),
        (Colour(96, 142, 138), Colour(72, 116, 112), Colour(180, 206, 214)),
    ),
)
WATERS = (Colour(62, 142, 190), Colour(58, 164, 178), Colour(48, 116, 176))


def choose_mood(dice: Dice) -> Mood:
    """Choose the light and the season of a picture."""
    roll = dice.between(1, 100)
    lights = NIGHTS if roll <= 18 else DUSKS if roll <= 36 else DAYS
    light = dice.pick(lights)
    season = dice.pick(SEASONS)
    # Water shows the sky, so it gets its colours from there and not from the tint.
    shown = {"day": (light.bottom, 18), "dusk": (light.bottom, 34), "night": (light.top, 40)}
    water = dice.pick(WATERS).mixed(*shown[light.name])
    return Mood(light, season, dice.pick(season.grounds), water)
