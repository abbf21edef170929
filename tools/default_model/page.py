"""The results page of the default model, and its reliability plot, from committed rows.

::

    python -m tools.default_model.page
"""

import json
from collections.abc import Iterable, Mapping, Sequence
from pathlib import Path
from typing import Any

from softhash.files import write_whole

RESULTS = Path("docs/results/default-model")
TITLES = {"voc2012": "VOC2012", "iaprtc12": "IAPR TC-12", "coco": "COCO"}
METRICS = {
    "map@5000": "MAP@5000", "ndcg@20": "NDCG@20", "ndcg@100": "NDCG@100", "acg@20": "ACG@20",
    "precision@20": "precision@20",
}  # fmt: skip
FLOATS = "float features"
EDGE = 10  # words that are shown of the best and of the worst

Row = Mapping[str, Any]


def write_page() -> None:
    """Write README.md and reliability.png beside the rows."""
    lines = (RESULTS / "rows.jsonl").read_text(encoding="utf-8").splitlines()
    rows = [json.loads(line) for line in lines]
    words = json.loads((RESULTS / "words.json").read_text(encoding="utf-8"))
    write_whole(RESULTS / "README.md", page(rows, words), force=True)
    plot_reliability(words["reliability"], RESULTS / "reliability.png")


def page(rows: Sequence[Row], words: Mapping[str, Any]) -> str:
    """Return the page's text."""
    left_out = [row for row in rows if row["collection"] not in row["trained_on"]]
    inside = [row for row in rows if row["collection"] in row["trained_on"]]
    floats = [row for row in rows if row["ranking"] == FLOATS]
    known, others = _by_source(words["words"])
    parts = [
        "# The model that comes along",
        _wrapped(
            "This page is for people who want to know how good `softhash index FOLDER` is before "
            "any training, and how far its words can be trusted. `tools/default_model` made the "
            "model, the rows and this page."
        ),
        "## Codes on collections it was not trained on",
        _wrapped(
            "Each collection was left out of the training once. Codes of 256 bits (32 bytes) have "
            "64 bits learned from the labels of the other two, and 192 fitted to the database's "
            "own features. Float features are the backbone's, 5,120 bytes, compared by cosine. "
            "*Rescored*: the first hits are ranked again by how sure the query's bits are."
        ),
        *(
            _table(TITLES[name], [row for row in left_out if row["collection"] == name])
            for name in TITLES
        ),
        "## Codes on collections it was trained on",
        _wrapped("Trained on the train parts of all three, measured on queries that are in none."),
        *(
            _table(TITLES[name], [row for row in (*floats, *inside) if row["collection"] == name])
            for name in TITLES
        ),
        "## Words",
        _wrapped(
            f"It has {len(words['words']):,} words. {len(known):,} are labels of the collections, "
            "each a logistic regression on features. The others stand for classes of the "
            "backbone's published classifier, a word for everything below it. Words with an "
            f"average precision under 0.2 are left out: {len(words['left_out']):,}."
        ),
        _wrapped(
            "Labels were fitted to three quarters of the pictures, calibrated on an eighth, and "
            "measured on the last eighth. Words of the published classifier share one calibration, "
            "on those of them that are labels too. Their precision was measured on one picture of "
            "each of the 1,000 classes; the backbone may have been trained on these."
        ),
        _precisions("labels of the collections", known),
        _precisions("words of the published classifier", others),
        "## Can probabilities be believed?",
        "![How often a word, or a hit, is right](reliability.png)",
        _wrapped(
            "A point on the line is as often right as it says. Hits: how probable it is that a hit "
            "shares a label with the query, for the first hundred of 400 queries each."
        ),
        _reliability(words["reliability"]),
        f"Code: {rows[0]['commit']}. Rows: [rows.jsonl](rows.jsonl), [words.json](words.json).",
    ]
    return "\n\n".join(parts) + "\n"


def _wrapped(text: str) -> str:
    import textwrap

    return textwrap.fill(text, 100, break_on_hyphens=False, break_long_words=False)


def _table(title: str, rows: Sequence[Row]) -> str:
    floats = next(row["metrics"] for row in rows if row["ranking"] == FLOATS)
    body = []
    for row in rows:
        cells = [
            f"**{value:.3f}**"
            if row["ranking"] != FLOATS and value > floats[name]
            else f"{value:.3f}"
            for name, value in ((name, row["metrics"][name]) for name in METRICS)
        ]
        body.append([row["ranking"], *cells])
    grid = _grid(["ranked by", *METRICS.values()], body)
    return f"### {title}\n\nBold: above float features.\n\n{grid}"


def _by_source(words: Iterable[Row]) -> tuple[list[Row], list[Row]]:
    known: list[Row] = []
    others: list[Row] = []
    for word in words:
        (others if word["source"].startswith("imagenet") else known).append(word)
    return known, others


def _precisions(title: str, words: Sequence[Row]) -> str:
    ranked = sorted(words, key=lambda word: -word["precision"])
    mean = sum(word["precision"] for word in words) / len(words)

    def named(some: Iterable[Row]) -> str:
        return ", ".join(f"{word['name']} {word['precision']:.2f}" for word in some)

    rows = [
        ["mean average precision", f"{mean:.2f}"],
        ["best", named(ranked[:EDGE])],
        ["worst", named(ranked[-EDGE:])],
    ]
    return _grid([title, ""], rows)


def _reliability(found: Mapping[str, Any]) -> str:
    series = {"labels": found["labels"], "published words": found["published"]}
    series |= {f"hits, {TITLES[name]}": rows for name, rows in found["hits"].items()}
    header = ["said", *(f"{i * 10}–{i * 10 + 10} %" for i in range(10))]
    rows = []
    for name, points in series.items():
        cells = {min(int(p * 10), 9): f"{share:.0%}" for p, share, _ in points}
        rows.append([name, *(cells.get(i, "–") for i in range(10))])
    return _grid(header, rows)


def _grid(header: Sequence[str], rows: Sequence[Sequence[str]]) -> str:
    lines = [header, ["---"] * len(header), *rows]
    return "\n".join("| " + " | ".join(line) + " |" for line in lines)


def plot_reliability(found: Mapping[str, Any], path: Path) -> None:
    """Draw how often words and hits are right against how sure they are."""
    import matplotlib as mpl

    mpl.use("Agg")
    from matplotlib import pyplot as plt

    figure, axes = plt.subplots(1, 2, figsize=(9, 4.2), sharey=True)
    left = {"labels of the collections": found["labels"], "published words": found["published"]}
    right = {TITLES[name]: rows for name, rows in found["hits"].items()}
    for axis, title, series in zip(axes, ("words", "hits"), (left, right), strict=True):
        axis.plot([0, 1], [0, 1], color="0.7", linewidth=1)
        for name, points in series.items():
            axis.plot(*zip(*((p, share) for p, share, _ in points), strict=True), "o-", label=name)
        axis.set(title=title, xlabel="probability it gives", xlim=(0, 1), ylim=(0, 1))
        axis.legend(frameon=False)
    axes[0].set_ylabel("share that is right")
    figure.tight_layout()
    figure.savefig(path, dpi=120)
    plt.close(figure)


if __name__ == "__main__":
    write_page()
