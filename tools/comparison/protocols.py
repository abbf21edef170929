"""Write the page of other protocols than the paper's: ``python -m tools.comparison.protocols``."""

from pathlib import Path
from statistics import fmean

from tools.comparison import tables
from tools.comparison.part import SHOWN_BITS, read_part
from tools.page_parts import write_table

from softhash.experiments.results import Row, read_results
from softhash.files import write_whole
from softhash.plots.styles import display_name, plot_rank

RESULTS = Path("docs/results")
PAGE = "protocols.md"
UNSEEN = {
    "VOC2012": "voc2012/unseen-classes.jsonl",
    "IAPR TC-12": "iaprtc12/unseen-classes.jsonl",
    "COCO": "coco/unseen-classes.jsonl",
}
VOC_VAL = "voc2012/voc-val.jsonl"
MEASURES = (("map", "5000"), ("ndcg", "100"), ("ndcg", "20"), ("acg", "20"))

INTRODUCTION = """\
# Other protocols

This page is for researchers who want to know what codes are worth where the usual protocol says
little. `tools/comparison/protocols.py` wrote it from the rows: three seeds, 48 bits, the common
recipe for all methods ([protocols.toml](../../recipes/compare/protocols.toml)), a frozen network,
computed on a processor.
"""
UNSEEN_TEXT = """\
## Classes that training never saw

A quarter of the classes is held out: no picture of the train set has one. Queries and database are
judged by these classes alone. A method that stays below codes without labels (ITQ) has forgotten
what its labels did not name. [How it is drawn](../why/published-numbers.md). VOC2012 has split seed
2, and COCO 1: the first that leave `person` to training. Otherwise little is left to train on.
"""
VOC_VAL_TEXT = """\
## The split of HyP², and the best epoch

`train` of VOC2012 is train set and database, `val` has the queries. The best epoch is the highest
of all epochs, chosen on the test queries, as several papers do. It is a maximum, not a measurement.
HyP² prints 0.841 to 0.925 for this split: another network, fine-tuned, pictures of 448×448, MAP of
the whole ranking, and the best of 20 looks at the queries. OrthoHash's batch normalisation goes
into its weights after the last epoch, by means over the train set; so its row can be above its
epochs.
"""


def write_page(results: Path = RESULTS) -> str:
    """Write the page into a folder of results, and return its text."""
    parts = [INTRODUCTION, UNSEEN_TEXT]
    for title, name in UNSEEN.items():
        parts += [f"### {title}\n", list_facts(results / name), overview(results / name)]
    parts += [VOC_VAL_TEXT, list_facts(results / VOC_VAL), overview(results / VOC_VAL)]
    parts += [list_epochs(read_results(results / VOC_VAL))]
    text = "\n".join(parts)
    write_whole(results / PAGE, text, force=True)
    return text


def overview(path: Path) -> str:
    """Write one table of all methods; which collection it is of, the heading above says."""
    table = tables.overview(read_part(path.parent, path.stem), SHOWN_BITS, MEASURES)
    _, _, body = table.partition("\n")
    return f"#### {SHOWN_BITS} bits, frozen network\n{body}"


def list_facts(path: Path) -> str:
    """Write the counts of a split, and with which code it was measured."""
    row = read_results(path)[0]
    contract, data = row["contract"], row["data"]
    facts = [
        ("train", f"{data['train']:,}"),
        ("queries", f"{contract['queries']:,}"),
        ("database", f"{contract['database']:,}"),
        ("unseen classes", str(len(data["options"].get("unseen", ())) or "–")),
        ("split", f"{data['protocol']}, seed {data['seed']}, SHA-256 `{contract['split'][:12]}…`"),
        ("raw rows", f"[{path.name}]({path.parent.name}/{path.name})"),
    ]
    return write_table(("", ""), facts)


def list_epochs(rows: list[Row]) -> str:
    """Write MAP of the last and of the best epoch, means over seeds, and which epochs were best."""
    epochs: dict[str, list[list[float]]] = {}
    for row in rows:
        if values := row.get("by_epoch", {}).get("map@5000"):
            epochs.setdefault(row["recipe"]["method"], []).append(values)
    lines = []
    for method in sorted(epochs, key=plot_rank):
        seeds = epochs[method]
        last, best = (fmean(take(one) for one in seeds) for take in (lambda one: one[-1], max))
        which = ", ".join(str(one.index(max(one)) + 1) for one in seeds)
        found = f"{last:.4f}", f"{best:.4f}", f"{which} of {len(seeds[0])}"
        lines.append((display_name(method), *found))
    return write_table(("MAP@5000", "last epoch", "best epoch", "which"), lines)


if __name__ == "__main__":
    write_page()
