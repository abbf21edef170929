"""The four kinds of ground a scene can have, and where on them things may stand."""

from typing import NamedTuple

from softhash.data.scenes import built, land
from softhash.data.scenes.dice import Dice
from softhash.data.scenes.layout import Zone
from softhash.data.scenes.mood import Mood
from softhash.data.scenes.sketch import UNITS, Box, Part


class Terrain(NamedTuple):
    """The ground of a scene.

    ``taken`` may not be covered by anything; in ``wet`` nothing may set foot.
    """

    name: str
    parts: list[Part]
    zones: dict[str, Zone]
    taken: list[Box]
    wet: list[Box]
    mirror: Box | None = None  # water wide enough for the sun or the moon to be seen in it


_ON_LAND = ("fence", "flower", "house", "person", "sheep", "tree")


def _land_zones(top: int, bottom: int) -> dict[str, Zone]:
    """Return where things stand on open ground between two heights."""
    middle = (top + bottom) // 2
    zones = dict.fromkeys(_ON_LAND, Zone(top + 40, bottom, 82, 132))
    zones["house"] = Zone(top + 30, middle + 40, 85, 120)
    zones["flower"] = Zone(middle + 30, bottom, 90, 130)
    zones["fence"] = Zone(top + 70, bottom, 85, 125)
    return zones


def meadow(dice: Dice, mood: Mood, horizon: int) -> Terrain:
    """Lay out open ground."""
    parts = [land.hills(dice, mood, horizon, fields=mood.season.name != "winter").part()]
    return Terrain("meadow", parts, _land_zones(max(horizon, 130), 985), [], [])


def lake(dice: Dice, mood: Mood, horizon: int) -> Terrain:
    """Lay out water from the horizon to a near bank, perhaps with a bridge across."""
    parts: list[Part] = []
    zones: dict[str, Zone] = {}
    taken: list[Box] = []
    open_sea = horizon <= 0 or dice.chance(45)
    shore = max(horizon, 0) if open_sea else horizon + dice.between(50, 80)
    edge = dice.between(760, 850)
    if not open_sea:
        parts.append(land.hills(dice, mood, horizon, 12).part())
        zones["house"] = zones["tree"] = Zone(horizon + 30, shore - 8, 70, 82)
    mirror = Box(0, shore, UNITS, edge + 40)
    parts.append(land.water(dice, mood, mirror).part("water"))
    zones["boat"] = Zone(max(shore + 90, 240), edge - 30, 80, 130)
    parts.append(land.bank(dice, mood, edge).part())
    zones |= dict.fromkeys(("flower", "person", "fence"), Zone(edge + 90, 985, 110, 125))
    if open_sea:
        zones["tree"] = zones["person"]
    deck = max(shore + 20, 220) + dice.between(0, 30)
    if edge - deck > 220 and dice.chance(55):
        bridge, taken = _wide_bridge(dice, deck)
        parts.insert(-1, bridge)
        zones["boat"] = Zone(deck + 190, edge - 20, 90, 130)
    return Terrain("lake", parts, zones, taken, [], mirror)


def _wide_bridge(dice: Dice, deck: int) -> tuple[Part, list[Box]]:
    """Build a bridge from side to side of the picture; return it and what it takes up."""
    if dice.chance(50):
        frame = Box(-20, deck - 30, UNITS + 20, deck + dice.between(105, 135))
        sketch = built.stone_bridge(dice, frame, dice.between(3, 5))
        return sketch.part("bridge"), [frame]
    frame = Box(-20, deck - dice.between(180, 230), UNITS + 20, deck + 140)
    return built.hanging_bridge(dice, frame).part("bridge"), [frame._replace(top=deck - 60)]


def river(dice: Dice, mood: Mood, horizon: int) -> Terrain:
    """Lay out ground with a river towards the viewer, often with a bridge across."""
    top = max(horizon + 12, 0)
    widths = (dice.between(50, 90), dice.between(330, 470))
    slices = land.winding(dice, top, widths)
    parts = [
        land.hills(dice, mood, horizon, 10).part(),
        land.river(dice, mood, slices).part("water"),
    ]
    zones = _land_zones(max(horizon, 130), 985)
    taken: list[Box] = []
    if dice.chance(55):
        piece = slices[dice.between(9, 14)]
        rise = dice.between(120, 150)
        frame = Box(piece.left - 75, piece.top - rise, piece.right + 75, piece.top + 20)
        sketch = built.stone_bridge(dice, frame, dice.between(1, 2))
        parts.append(sketch.part("bridge"))
        taken.append(frame)
    low = slices[24]
    zones["boat"] = Zone(900, 975, 80, 95, low.left - 15, low.right + 15, afloat=True)
    wet = [piece._replace(left=piece.left - 30, right=piece.right + 30) for piece in slices]
    return Terrain("river", parts, zones, taken, wet)


def road(dice: Dice, mood: Mood, horizon: int) -> Terrain:
    """Lay out ground with a road across it or towards the viewer."""
    parts = [land.hills(dice, mood, horizon, 12).part()]
    zones = _land_zones(max(horizon, 130), 985)
    if dice.chance(25):
        slices = land.winding(dice, max(horizon + 12, 0), (26, dice.between(300, 420)))
        parts.append(land.winding_road(dice, mood, slices).part("road"))
        wet = [piece._replace(left=piece.left - 20, right=piece.right + 20) for piece in slices]
        return Terrain("road", parts, zones, [], wet)
    top = dice.between(max(horizon + 120, 560), 740)
    bottom = top + dice.between(120, 150)
    parts.append(land.level_road(dice, mood, top, bottom).part("road"))
    zones = _land_zones(max(horizon, 130), top - 14)
    verge = Zone(min(bottom + 110, 980), 988, 110, 125)
    zones |= dict.fromkeys(("fence", "flower"), verge)
    if dice.chance(40):
        zones["person"] = verge
    zones["car"] = Zone(top + 55, bottom - 8, 100, 118)
    return Terrain("road", parts, zones, [], [])
