"""Draw docs/images/method.png: how softhash's loss scores the list of one query.

    python docs/_figures/method.py

A worked example with three classes. Given labels, leave-one-out predictions and distances are
chosen by hand; soft labels, relevance and gain follow from the equations of docs/why/method.md.
"""

from collections import Counter
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np

OUTPUT = Path(__file__).parents[1] / "images" / "method.png"
CLASSES = ("person", "chair", "dog")
LABEL_SMOOTHING = 0.5

INK, QUIET, LINE = "#1f2330", "#6b7080", "#d9dbe3"
BLUES = ("#f4f5fb", "#c9cdf2", "#8f93e0", "#5a4fcf", "#3d2fa8")


@dataclass(frozen=True)
class Item:
    """One item of the list: a picture of the batch, or the anchor of a class.

    Attributes:
        given: the given labels, one per class.
        predicted: leave-one-out predictions of the labels; None for an anchor.
        distance: Hamming distance to the query.

    """

    given: tuple[float, ...]
    predicted: tuple[float, ...] | None
    distance: int

    @property
    def is_anchor(self) -> bool:
        """Whether the item is an anchor, whose label is certain."""
        return self.predicted is None

    @property
    def soft_labels(self) -> np.ndarray:
        """Given labels mixed with predictions; an anchor has exactly the label of its class."""
        if self.predicted is None:
            return np.array(self.given)
        weights = 1 - LABEL_SMOOTHING, LABEL_SMOOTHING
        return weights[0] * np.array(self.given) + weights[1] * np.array(self.predicted)

    @property
    def name(self) -> str:
        """The given labels, as text."""
        return "\n+ ".join(name for name, y in zip(CLASSES, self.given, strict=True) if y)


QUERY = Item((1, 0, 0), (0.94, 0.60, 0.04), 0)
ITEMS = (
    Item((1, 1, 0), (0.92, 0.80, 0.04), 1),
    Item((1, 0, 0), None, 2),
    Item((1, 0, 0), (0.96, 0.30, 0.02), 2),
    Item((1, 0, 0), (0.90, 0.04, 0.10), 3),
    Item((1, 0, 1), (0.72, 0.04, 0.88), 4),
    Item((0, 1, 0), (0.56, 0.92, 0.02), 4),
    Item((0, 1, 0), None, 5),
    Item((0, 1, 0), (0.12, 0.90, 0.06), 6),
    Item((0, 0, 1), None, 7),
    Item((0, 0, 1), (0.06, 0.04, 0.96), 7),
)


def main() -> None:
    """Draw the figure."""
    import matplotlib as mpl

    mpl.use("Agg")
    from matplotlib import pyplot as plt
    from matplotlib.colors import LinearSegmentedColormap

    mpl.rcParams.update({"font.family": "DejaVu Sans", "font.size": 11, "text.color": INK})
    blues = LinearSegmentedColormap.from_list("relevance", BLUES)
    figure = plt.figure(figsize=(10, 5.6), facecolor="white")
    draw_soft_labels(figure.add_axes((0.015, 0.25, 0.27, 0.56)), blues)
    draw_list(figure.add_axes((0.335, 0.26, 0.65, 0.58)), blues)
    write_headings(figure)
    write_score(figure)
    figure.savefig(OUTPUT, dpi=150, metadata={"Software": None})


def write_headings(figure: Any) -> None:
    """Write the titles of the first two steps."""
    steps = (
        (0.015, "1  Soft labels", "a “person” beside an unlabelled chair"),
        (0.335, "2  One list per query", "pictures of the batch and class anchors, by distance"),
    )
    for x, title, text in steps:
        figure.text(x, 0.93, title, fontsize=14, weight="bold")
        figure.text(x, 0.877, text, color=QUIET, fontsize=11)


def draw_soft_labels(axes: Any, blues: Any) -> None:
    """Show given labels, predictions and their mean as a table of shaded cells."""
    rows = (
        ("given\n$y$", np.array(QUERY.given, float)),
        ("leave-one-out\n" + r"$\hat y$", np.array(QUERY.predicted)),
        ("soft\n" + r"$\tilde y=\frac{1}{2}y+\frac{1}{2}\hat y$", QUERY.soft_labels),
    )
    for j, name in enumerate(CLASSES):
        axes.text(j + 0.5, 3.12, name, ha="center", va="bottom")
    for i, (title, values) in enumerate(rows):
        axes.text(-0.12, 2.5 - i, title, ha="right", va="center", fontsize=10.5, linespacing=1.5)
        for j, value in enumerate(values):
            cell = filled_rectangle((j + 0.05, 2.08 - i), 0.9, 0.84, blues(value))
            axes.add_patch(cell)
            axes.text(j + 0.5, 2.5 - i, f"{value:.2f}", ha="center", va="center",
                      color=contrast(value), fontsize=11)  # fmt: skip
    axes.set(xlim=(-1.75, 3), ylim=(0, 3.5))
    axes.axis("off")


def draw_list(axes: Any, blues: Any) -> None:
    """Show the ranked list: ties are stacked, colour is relevance, diamonds are anchors."""
    height: Counter[int] = Counter()
    axes.scatter(0, 0, s=1150, marker="s", color="white", edgecolor=INK, linewidth=1.6, zorder=3)
    axes.text(0, 0, "query", ha="center", va="center", fontsize=9.5, zorder=4)
    for item in ITEMS:
        shared = float(QUERY.soft_labels @ item.soft_labels)
        relevance, level = min(1.0, shared), height[item.distance]
        height[item.distance] += 1
        place = (item.distance, 1.55 * level)
        size, marker = (850, "D") if item.is_anchor else (1250, "o")
        axes.scatter(*place, s=size, marker=marker, color=blues(relevance), edgecolor=INK,
                     linewidth=1.6 if item.is_anchor else 0.7, zorder=3)  # fmt: skip
        axes.text(*place, f"{relevance:.2f}", ha="center", va="center", zorder=4, fontsize=10,
                  color=contrast(relevance))  # fmt: skip
        words = f"{item.name}\ngain {2**shared - 1:.2f}"
        axes.text(place[0], place[1] - 0.44, words, ha="center", va="top", color=QUIET,
                  fontsize=9.5, linespacing=1.25)  # fmt: skip
    write_legend(axes)
    axes.set(xlim=(-0.5, 7.5), ylim=(-1.4, 2.75), yticks=[], xticks=range(8))
    axes.set_xlabel("Hamming distance to the query (stacked items are tied)", color=QUIET)
    axes.tick_params(axis="x", length=0, colors=QUIET)
    for side in ("left", "right", "top"):
        axes.spines[side].set_visible(False)
    axes.spines["bottom"].set_color(LINE)


def write_legend(axes: Any) -> None:
    """Explain circles, diamonds and the number inside them."""
    top = 2.63
    for x, marker, text in ((-0.35, "o", "picture"), (0.85, "D", "class anchor")):
        axes.scatter(x, top, s=90, marker=marker, color="white", edgecolor=INK, linewidth=1.1)
        axes.text(x + 0.17, top, text, va="center", fontsize=10)
    axes.text(2.75, top, r"colour and number: relevance $r=\min(1,\ \tilde y_q\cdot\tilde y_j)$",
              va="center", fontsize=10)  # fmt: skip


def write_score(figure: Any) -> None:
    """State the score of the list and the loss."""
    figure.add_artist(filled_rectangle((0.015, 0.025), 0.97, 0.125, "#f4f5fb"))
    figure.text(0.03, 0.0875, "3  Score and loss", fontsize=14, weight="bold", va="center")
    score = r"$(1-g)\,\mathrm{AP}(r)+g\,\mathrm{NDCG}(2^{\,\tilde y_q\cdot\tilde y_j}-1)$"
    figure.text(0.25, 0.0875, score, fontsize=13, va="center")
    words = "exact means over orders of ties; each picture and\n"
    words += "anchor is the query once; loss = 1 − mean score"
    figure.text(0.595, 0.0875, words, fontsize=9.5, va="center", color=QUIET, linespacing=1.5)


def filled_rectangle(corner: tuple[float, float], width: float, height: float, colour: Any) -> Any:
    """Return a filled rectangle without an edge."""
    from matplotlib.patches import Rectangle

    return Rectangle(corner, width, height, facecolor=colour, edgecolor="none")


def contrast(value: float) -> str:
    """Return the colour of text that can be read on the colour of a value."""
    return "white" if value > 0.45 else INK


if __name__ == "__main__":
    main()
