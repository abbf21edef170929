"""Check that the numbers printed in README and docs follow from the rows of results.

::

    python tools/check_claims.py

`docs/results/claims.toml` lists claims. Each has a page, a text that stands there once, and the
source of every number of three or more decimals in it, in order::

    [[claim]]
    page = "README.md"
    text = "| softhash | 0.855 | 0.753 |"
    numbers = [{rows = "voc2012/frozen-common.jsonl", method = "softhash", bits = 48,
                metric = ["map@5000", "ndcg@20"]}]

A list stands for one number per value; of several lists the last one of `rows`, `method`, `bits`,
`variant`, `metric`, `reduction` changes fastest. A number is the mean over seeds of a metric, or
of a setting of the recipe, rounded as it is printed. `where` chooses rows by settings,
`reduction = "sd"` gives the standard deviation, and `minus` what is subtracted, where it differs.
`ranks` are sources as well: the method has the given `rank` (1 by default) among all methods of
these rows and bits, `of` so many, and those of `level` are not behind the best by the test in
`ROWS-significance.json`. `standings` are sources of rows and bits, one for each "3 / 2 / 1" in the
text: on how many of the tested measures softhash leads, is level with the best, and is behind. Keys
that all sources share stand in the claim itself.
"""

import json
import re
import sys
import tomllib
from collections.abc import Iterator, Sequence
from functools import cache
from itertools import product
from pathlib import Path
from statistics import mean, stdev
from typing import Any

from softhash import InputError
from softhash.experiments.results import Row, read_results

Source = dict[str, Any]

ROOT = Path(__file__).resolve().parents[1]
RESULTS = Path("docs/results")
OURS = "softhash"
COVERED = ("README.md", "docs/index.md", "docs/why/method.md", "docs/how-to/finetune.md")
# ranked by other things than codes: they have no rank
REFERENCES = ("float", "classifier", "float-finetuned", "classifier-finetuned")
LISTED = ("rows", "method", "bits", "variant", "metric", "reduction")
SHARED = {*LISTED, "where"}
KEYS = {
    "numbers": {*SHARED, "minus"},
    "ranks": {*SHARED, "rank", "of", "level"},
    "standings": {"rows", "bits"},
}
NUMBER = re.compile(r"(?<![\w.])[+−-]?\d+\.\d{3,}(?!\d|\.\d)")
STANDING = re.compile(r"\d+ / \d+ / \d+")
FENCED = re.compile(r"^```.*?^```", re.DOTALL | re.MULTILINE)
REDUCTIONS = {"mean": mean, "sd": stdev}


def main(arguments: Sequence[str] | None = None) -> int:
    """Print what does not follow from the rows; 1 if there is something."""
    given = sys.argv[1:] if arguments is None else arguments
    problems = list(find_problems(Path(given[0]) if given else ROOT))
    for problem in problems:
        print(problem)
    return 1 if problems else 0


def find_problems(root: Path) -> Iterator[str]:
    """Yield what is wrong with the claims, then the numbers that no claim covers."""
    claims = tomllib.loads((root / RESULTS / "claims.toml").read_text(encoding="utf-8"))["claim"]
    pages = {name: read_page(root / name) for name in {*COVERED, *(c["page"] for c in claims)}}
    spans: dict[str, list[tuple[int, int]]] = {name: [] for name in pages}
    for claim in claims:
        text, page = " ".join(claim["text"].split()), pages[claim["page"]]
        if page.count(text) != 1:
            yield f"{claim['page']}: {page.count(text)} times instead of once: {text}"
            continue
        spans[claim["page"]].append((page.index(text), page.index(text) + len(text)))
        try:
            wrong = [
                *check_numbers(claim, text, root),
                *check_ranks(claim, root),
                *check_standings(claim, text, root),
            ]
        except InputError as error:
            wrong = [str(error)]
        yield from (f"{claim['page']}: {problem}, in: {text}" for problem in wrong)
    for name, pattern in product(COVERED, (NUMBER, STANDING)):
        for found in pattern.finditer(pages[name]):
            if not any(start <= found.start() < end for start, end in spans[name]):
                around = pages[name][max(0, found.start() - 40) : found.end() + 20]
                yield f"{name}: no claim covers {found.group()}, in: …{around}…"


def read_page(path: Path) -> str:
    """Return a page as one line, without its blocks of code."""
    return " ".join(FENCED.sub(" ", path.read_text(encoding="utf-8")).split())


def check_numbers(claim: Source, text: str, root: Path) -> Iterator[str]:
    """Compare the printed numbers of a text with those of the rows."""
    printed = [found.replace("−", "-").lstrip("+") for found in NUMBER.findall(text)]
    sources = list(expand(claim, "numbers"))
    if len(printed) != len(sources):
        yield f"{len(printed)} numbers, but {len(sources)} sources"
    for number, source in zip(printed, sources, strict=False):
        value = compute(source, root)
        if "minus" in source:
            value -= compute({**source, **source["minus"]}, root)
        digits = len(number.partition(".")[2])
        expected = f"{round(value, digits) + 0.0:.{digits}f}"  # + 0.0: no negative zero
        if number != expected:
            yield f"{number} should be {expected} ({describe(source)})"


def check_ranks(claim: Source, root: Path) -> Iterator[str]:
    """Compare the ranks that a text claims with those of the rows."""
    for source in expand(claim, "ranks"):
        rows = load_rows(root / RESULTS / source["rows"])
        methods = {
            row["recipe"]["method"] for row in rows if row["recipe"]["bits"] == source["bits"]
        }.difference(REFERENCES)
        values = {method: compute({**source, "method": method}, root) for method in methods}
        own = compute(source, root)
        rank, wanted = 1 + sum(value > own for value in values.values()), source.get("rank", 1)
        if rank != wanted:
            yield f"rank {rank} instead of {wanted} ({describe(source)})"
        if len(values) != source.get("of", len(values)):
            yield f"{len(values)} methods instead of {source['of']} ({describe(source)})"
        if "level" in source and (level := find_level(source, root)) != set(source["level"]):
            yield f"level are {', '.join(sorted(level))} ({describe(source)})"


def find_level(source: Source, root: Path) -> set[str]:
    """Return the methods, the best included, that the test does not find behind the best."""
    return {
        test["method"]
        for test in load_tests(root / RESULTS / source["rows"])
        if test["level"] and (source["bits"], source["metric"]) == (test["bits"], test["metric"])
    }


def check_standings(claim: Source, text: str, root: Path) -> Iterator[str]:
    """Compare on how many measures a text says that softhash leads, is level and is behind."""
    printed, sources = STANDING.findall(text), list(expand(claim, "standings"))
    if len(printed) != len(sources):
        yield f"{len(printed)} standings, but {len(sources)} sources"
    for found, source in zip(printed, sources, strict=False):
        tests = load_tests(root / RESULTS / source["rows"])
        measures = {test["metric"] for test in tests if test["bits"] == source["bits"]}
        level = [find_level({**source, "metric": metric}, root) for metric in measures]
        leads = level.count({OURS})
        shares = sum(OURS in methods for methods in level) - leads
        expected = f"{leads} / {shares} / {len(level) - leads - shares}"
        if found != expected:
            yield f"{found} should be {expected} ({describe(source)})"


def load_tests(rows: Path) -> list[Source]:
    """Read the tested differences of rows."""
    path = rows.with_name(f"{rows.stem}-significance.json")
    tests: list[Source] = json.loads(path.read_text(encoding="utf-8"))
    return tests


def expand(claim: Source, kind: str) -> Iterator[Source]:
    """Yield the sources of a claim one by one, complete, with one value for every key."""
    shared = {key: value for key, value in claim.items() if key in KEYS["numbers"]}
    if extra := set(claim) - set(shared) - {"page", "text", *KEYS}:
        raise InputError(f"unknown keys of a claim: {', '.join(sorted(extra))}")
    for source in claim.get(kind, ()):
        whole = {"method": OURS, **shared, **source}
        if extra := (set(source) - KEYS[kind]) | (set(whole.get("minus", ())) - SHARED):
            raise InputError(f"unknown keys in {kind}: {', '.join(sorted(extra))}")
        lists = {key: whole[key] for key in LISTED if isinstance(whole.get(key), list)}
        for values in product(*lists.values()):
            yield {**whole, **dict(zip(lists, values, strict=True))}


def compute(source: Source, root: Path) -> float:
    """Reduce the rows of a source to one number."""
    rows = [row for row in load_rows(root / RESULTS / source["rows"]) if matches(row, source)]
    seeds = {row["recipe"]["seed"] for row in rows}
    if not rows or len(seeds) < len(rows):
        reason = "rows that differ in more than the seed" if rows else "no rows"
        raise InputError(f"{reason} ({describe(source)})")
    try:
        values = [{**row["recipe"], **row["metrics"]}[source["metric"]] for row in rows]
    except KeyError:
        raise InputError(f"not in every row ({describe(source)})") from None
    return float(REDUCTIONS[source.get("reduction", "mean")](values))


@cache
def load_rows(path: Path) -> list[Row]:
    """Read a file of rows once."""
    return read_results(path)


def matches(row: Row, source: Source) -> bool:
    """Return whether a row is one of a source."""
    wanted = {**source.get("where", {}), "method": source["method"], "bits": source["bits"]}
    variant = row.get("variant") or ""
    return bool(variant == source.get("variant", "")) and all(
        row["recipe"].get(key) == value for key, value in wanted.items()
    )


def describe(source: Source) -> str:
    """Return a source in words, for messages."""
    keys = ("rows", "method", "bits", "variant", "metric", "reduction", "where")
    return " ".join(str(source[key]) for key in keys if key in source)


if __name__ == "__main__":
    sys.exit(main())
