"""Figures without a window: made, and saved so that the same results give the same bytes."""

from pathlib import Path
from typing import IO, TYPE_CHECKING, Any

from softhash.errors import MissingExtraError

if TYPE_CHECKING:
    from matplotlib.axes import Axes
    from matplotlib.figure import Figure

# Text stays text in SVG; a salt instead of chance names its parts.
_SAVED: dict[Any, Any] = {"svg.fonttype": "none", "svg.hashsalt": "softhash"}
_METADATA: dict[str, dict[str, None]] = {
    "svg": {"Date": None},
    "pdf": {"CreationDate": None, "ModDate": None},
}
FORMATS = ("png", "svg", "pdf")


def new_figure(width: float, height: float) -> "Figure":
    """Make a figure of so many inches.

    Raises:
        MissingExtraError: matplotlib is not installed.

    """
    try:
        from matplotlib.figure import Figure
    except ImportError:
        raise MissingExtraError("matplotlib", "plot") from None
    return Figure(figsize=(width, height), layout="constrained")


def tidy(panel: "Axes") -> None:
    """Give a panel a light grid and no box."""
    panel.grid(alpha=0.25, linewidth=0.6)
    panel.set_axisbelow(True)
    panel.spines[["top", "right"]].set_visible(False)
    panel.tick_params(labelsize=8)


def save_figure(figure: "Figure", path: Path | IO[bytes], kind: str | None = None) -> None:
    """Save a figure in a size that prints well.

    Args:
        figure: to save.
        path: a file, or where its bytes are written to.
        kind: `png`, `svg` or `pdf`; by default the file's suffix.

    """
    import matplotlib

    kind = kind or (path.suffix[1:] if isinstance(path, Path) else "png")
    with matplotlib.rc_context(_SAVED):
        figure.savefig(path, dpi=150, format=kind, metadata=_METADATA.get(kind, {}))
