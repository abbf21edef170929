"""What a collection may have beside the two frozen recipes: more seeds, tuned, fine-tuned rows.

| file | holds |
|---|---|
| `frozen-common-further.jsonl`, `frozen-strong-further.jsonl` | methods left out above |
| `five-seeds.jsonl` | the best methods with five seeds, the common recipe |
| `tuned.jsonl`, `tuned-trials.jsonl` | the best of each method's trials, and all trials |
| `finetune-common.jsonl`, `finetune-strong.jsonl` | fine-tuned networks, both recipes |
"""

import re
from pathlib import Path
from statistics import fmean

from tools.comparison.part import SHOWN_BITS, Part, read_part
from tools.comparison.standing import list_standing
from tools.comparison.tables import PAPER, SCREEN, overview
from tools.page_parts import describe_split, list_versions, wrap, write_table

from softhash.experiments.results import Row, read_rows
from softhash.experiments.tune import score
from softhash.plots.styles import display_name, plot_rank

FIVE, TUNED, TRIALS = "five-seeds", "tuned", "tuned-trials"
FINETUNED = ("finetune-common", "finetune-strong")
COMMANDS = {
    "frozen-common-further": "further methods, common",
    "frozen-strong-further": "further methods, strong",
    FIVE: "five seeds",
    TUNED: "tuned",
    "finetune-common": "fine-tuned, common",
    "finetune-strong": "fine-tuned, strong",
}
NEEDLESS = re.compile(r" --(?:part|sheets|curves|device) \S+")
DATA, PLACE = re.compile(r"--(?:features|data) \S+(?: --protocol \S+)?"), re.compile(r"-o \S+")
ONLY, LENGTHS = re.compile(r"--only \S+"), re.compile(r"--bits \S+")

LATER = {
    "frozen-common-further": (
        "Further methods, common recipe",
        "Methods that the runs above left out, beside two that are in them, all at one later "
        "commit. *Leads* is among these.",
    ),
    "frozen-strong-further": (
        "Further methods, strong recipe",
        "Methods that the strong runs above left out, beside the best of those, all at one later "
        "commit. *Leads* is among these.",
    ),
}
FIVE_SEEDS = """\
Eight deep methods, ours included, trained again with five seeds, by the common recipe. They have
the highest mean of MAP@5000 and NDCG@100 at 48 bits over the queries of VOC2012, IAPR TC-12 and
COCO. OrthoHash is ninth, and DQN tenth, which was run on COCO later. *Leads* is among these eight.
Lines of first bits are not tested, and not marked.
"""
TUNING = """\
Here every method has settings of its own. Each got as many trials; the first is the common recipe.
The others draw learning rate, weight decay, hidden units, dropout, linear path, batch size and
epochs, the same for all methods. Weights of a loss were drawn too, from a quarter to four times the
default; TALR-AP, TALR-NDCG and DLBHC have none. Half of the train set was trained on, a quarter
were queries and a quarter the database, with one seed. So MAP@5000 is there MAP of the whole
ranking. The highest mean of MAP@5000 and NDCG@100 decided; the best was then measured once on the
queries, with five seeds. The trials' rows are in [tuned-trials.jsonl](tuned-trials.jsonl).

Our own method had more of a search behind it before this one began. Soft labels and the weight of
NDCG were first chosen on parts of VOC2012's train set. That weight, the nested lengths and the
linear path were then chosen on all three collections: train pictures were the queries there, and
the database was that of the test. No other method was chosen in that way. Those trials are not kept
as rows. Of the draws here, none was better for it than the common recipe.
"""
CHOSEN = """\
*Judged* is that mean on the part of the train set: of the common recipe, and of the best trial. The
columns to the right are means over the queries of the split itself, common recipe (five seeds) and
tuned. Where a method's best trial is the common recipe, both columns have the same settings and
seeds. On a processor they are then equal, where the commit is the same too. On a GPU that version
of the code added up numbers of list losses in any order: MAP of a seed moves by up to 0.005.
"""
FINE = """\
The whole network is trained, at 227×227. One seed, so the test is over queries alone; fewer methods
and lengths than on frozen features. `strong` adds to `common` a linear path, more dropout, twice as
many epochs, augmentation, a teacher on larger pictures and a longer running mean of weights, for
every method. Batches are the same. Float features and probabilities are those of a network that
was fine-tuned as a classifier by the same recipe. Pictures were stored at 227×227 for this. Copies
of queries that are equal byte for byte are left out, and these can be others there. Where the split
below is not that of the frozen rows, values of both must not be compared.
"""


def list_further(folder: Path) -> list[str]:
    """Write the sections of the parts that a collection has."""
    sections = []
    for name, (title, text) in LATER.items():
        if (folder / f"{name}.jsonl").exists():
            sections += [f"## {title}\n", wrap(text), *_later(read_part(folder, name))]
    if (folder / f"{FIVE}.jsonl").exists():
        part = read_part(folder, FIVE)
        shown = overview(part, SHOWN_BITS, (*PAPER, *SCREEN))
        sections += ["## Five seeds\n", FIVE_SEEDS, shown, list_standing(part)]
    if (folder / f"{TUNED}.jsonl").exists():
        sections += _tuned(folder)
    tuned = [read_part(folder, name) for name in FINETUNED if (folder / f"{name}.jsonl").exists()]
    if tuned:
        sections += ["## Fine-tuned\n", FINE, _facts(tuned)]
    for part in tuned:
        sections += [f"### The {part.name.removeprefix('finetune-')} recipe\n"]
        sections += [overview(part, SHOWN_BITS, (*PAPER, *SCREEN)), list_standing(part)]
    return sections


def _later(part: Part) -> list[str]:
    rows = part.group.rows
    facts = [(key, list_versions(rows, key)) for key in ("commit", "device")]
    facts += [("raw rows", f"[{part.name}.jsonl]({part.name}.jsonl)")]
    lengths = sorted({line["bits"] for line in part.lines})
    tables = [overview(part, bits, (*PAPER, *SCREEN)) for bits in lengths]
    return [write_table(("", ""), facts), *tables, list_standing(part)]


def list_further_commands(folder: Path) -> list[tuple[str, str]]:
    """Return the commands of the parts that a collection has, as their rows carry them."""
    found = {name: folder / f"{name}.jsonl" for name in COMMANDS}
    return [(COMMANDS[name], _plain(read_rows(f))) for name, f in found.items() if f.exists()]


def _plain(rows: list[Row]) -> str:
    """Return the command of rows without what values do not depend on, and from pictures."""
    protocol = rows[0]["data"]["protocol"]
    methods = dict.fromkeys(row["recipe"]["method"] for row in rows)
    pairs = [(row["recipe"]["bits"], row["contract"].get("bits")) for row in rows]
    lengths = sorted({bits for bits, coded in pairs if bits == coded})  # references have no length
    command = NEEDLESS.sub("", rows[0]["command"])
    for pattern, text in (
        (DATA, "--data PICTURES" + ("" if protocol == "random" else f" --protocol {protocol}")),
        (PLACE, "-o RESULTS"),
        (ONLY, f"--only {','.join(methods)}"),
        (LENGTHS, f"--bits {','.join(map(str, lengths))}"),
    ):
        command = pattern.sub(text, command)
    return command


def _tuned(folder: Path) -> list[str]:
    part = read_part(folder, TUNED)
    return [
        "## Tuned\n",
        TUNING,
        overview(part, SHOWN_BITS, (*PAPER, *SCREEN)),
        list_standing(part),
        "What tuning brings, at 48 bits:\n",
        CHOSEN,
        _chosen(folder, part),
    ]


def _chosen(folder: Path, part: Part) -> str:
    """Write what the trials of each method reached, and what came of the best on the queries."""
    trials: dict[str, list[Row]] = {}
    for row in read_rows(folder / f"{TRIALS}.jsonl"):
        trials.setdefault(row["recipe"]["method"], []).append(row)
    before = read_part(folder, FIVE).group.rows
    lines = []
    for method in sorted(trials, key=plot_rank):
        common = [row["recipe"] for row in before if _is_shown(row, method)]
        judged = [score(row) for row in trials[method]]
        first = [score(row) for row in trials[method] if row["recipe"] in common]
        values = [f"{len(judged)}", f"{first[0]:.4f}", f"{max(judged):.4f}"]
        for metric in ("map@5000", "ndcg@100"):
            values += [f"{_mean(rows, method, metric):.4f}" for rows in (before, part.group.rows)]
        lines.append([display_name(method), *values])
    header = ["method", "trials", "judged: common", "best", "MAP@5000: common", "tuned"]
    return write_table([*header, "NDCG@100: common", "tuned"], lines)


def _mean(rows: list[Row], method: str, metric: str) -> float:
    return fmean(row["metrics"][metric] for row in rows if _is_shown(row, method))


def _is_shown(row: Row, method: str) -> bool:
    """Return whether a row is of a method, trained for the length that is shown."""
    recipe = row["recipe"]
    return (recipe["method"], recipe["bits"]) == (method, SHOWN_BITS) and "first_of" not in row


def _facts(parts: list[Part]) -> str:
    """Write what fine-tuned rows were measured on; pictures may be stored anew, and split anew."""
    rows = [row for part in parts for row in part.group.rows]
    names = ", ".join(f"[{part.name}.jsonl]({part.name}.jsonl)" for part in parts)
    facts = [
        describe_split(rows[0]),
        ("code", list_versions(rows, "commit")),
        ("device", f"{list_versions(rows, 'device')}; several runs side by side"),
        ("raw rows", names),
    ]
    return write_table(("", ""), facts)
