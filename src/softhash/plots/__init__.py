"""Tables and figures of results; figures need matplotlib, which the extra `plot` installs."""

from softhash.plots.canvas import save_figure
from softhash.plots.curves import curves_figure

__all__ = ["curves_figure", "save_figure"]
