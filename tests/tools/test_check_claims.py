"""The tool that compares numbers in README and docs with the rows of results."""

import json
import runpy
from pathlib import Path

import pytest

from softhash.training.recipe import Recipe

TOOL = Path(__file__).parents[2] / "tools" / "check_claims.py"
PAGES = ("README.md", "docs/index.md", "docs/why/method.md", "docs/how-to/finetune.md")
CLAIM = """
[[claim]]
page = "README.md"
rows = "photos/rows.jsonl"
bits = 48
"""
TWO = 'text = "MAP is 0.513, NDCG 0.7000"\nnumbers = [{metric = ["map@5000", "ndcg@20"]}]'


@pytest.fixture
def tool():
    return runpy.run_path(str(TOOL), run_name="tool")


def row(value, ndcg=0.7, *, method="softhash", seed=0, variant="", **settings):
    recipe = Recipe(method=method, bits=48, seed=seed, **settings).as_dict()
    counts = {"queries": 9, "database": 90, "classes": 7, "bits": 48}
    return {
        "variant": variant,
        "recipe": recipe,
        "metrics": {"map@5000": value, "ndcg@20": ndcg},
        "contract": {**counts, "split": "ab12" * 16},
        "seconds": {"train": 3.25},
        "versions": {},
    }


ROWS = [
    row(0.5114), row(0.5136, seed=1), row(0.5131, seed=2),  # mean 0.5127, sd 0.00115
    row(0.4, 0.8, method="itq"), row(0.9, 0.9, method="float"),
    row(0.6, variant="long", epochs=80, average=0.998),
    row(0.1, method="idhn", dropout=0.5), row(0.2, method="idhn", dropout=0.7),
]  # fmt: skip
TESTS = [
    {"bits": bits, "metric": metric, "method": method, "level": level}
    for bits, metric, method, level in [
        (48, "map@5000", "softhash", True), (48, "map@5000", "ITQ", False),
        (48, "ndcg@20", "softhash", True), (48, "ndcg@20", "ITQ", True),
        (12, "map@5000", "ITQ", True), (12, "map@5000", "softhash", False),
    ]
]  # fmt: skip


@pytest.fixture
def problems(tool, tmp_path, capsys):
    """A repository with one README and these claims: what the tool prints about it."""

    def run(readme, claims):
        for page in PAGES:
            (tmp_path / page).parent.mkdir(parents=True, exist_ok=True)
            (tmp_path / page).write_text("")
        (tmp_path / "README.md").write_text(readme)
        folder = tmp_path / "docs" / "results"
        (folder / "photos").mkdir(parents=True)
        (folder / "photos" / "rows.jsonl").write_text("".join(json.dumps(r) + "\n" for r in ROWS))
        (folder / "photos" / "rows-significance.json").write_text(json.dumps(TESTS))
        (folder / "claims.toml").write_text(claims)
        code = tool["main"]([str(tmp_path)])
        printed = capsys.readouterr().out
        assert code == bool(printed)
        return printed

    return run


def test_numbers_of_this_repository_follow_from_its_rows(tool, capsys):
    code = tool["main"]([])
    assert (code, capsys.readouterr().out) == (0, "")


def test_a_wrapped_text_whose_numbers_are_means_over_seeds_passes(problems):
    assert problems("Our MAP is\n0.513, NDCG\n0.7000.\n", CLAIM + TWO) == ""


def test_a_changed_number_is_found(problems):
    printed = problems("MAP is 0.514, NDCG 0.7000", CLAIM + TWO.replace("0.513", "0.514"))
    assert printed.startswith("README.md: 0.514 should be 0.513 (photos/rows.jsonl softhash 48")
    assert printed.count("\n") == 1


@pytest.mark.parametrize(
    ("readme", "times"), [("Nothing here", 0), (2 * "MAP is 0.513, NDCG 0.7000. ", 2)]
)
def test_a_text_that_does_not_stand_there_once_is_found(problems, readme, times):
    assert f"README.md: {times} times instead of once: MAP is" in problems(readme, CLAIM + TWO)


def test_a_number_that_no_claim_covers_is_found(problems):
    printed = problems("MAP is 0.513, NDCG 0.7000. But 0.123 is new, 0.12 is short", CLAIM + TWO)
    assert printed.count("\n") == 1
    assert "README.md: no claim covers 0.123" in printed


def test_a_standing_that_no_claim_covers_is_found(problems):
    printed = problems("MAP is 0.513, NDCG 0.7000, it leads on 3 / 2 / 0", CLAIM + TWO)
    assert printed.count("\n") == 1
    assert "README.md: no claim covers 3 / 2 / 0" in printed


def test_numbers_in_blocks_of_code_need_no_claim(problems):
    readme = "MAP is 0.513, NDCG 0.7000\n\n```text\nmap 0.1234\n```\n"
    assert problems(readme, CLAIM + TWO) == ""


def test_a_number_without_a_source_is_found(problems):
    claims = CLAIM + 'text = "0.513 or 0.514"\nnumbers = [{metric = "map@5000"}]'
    assert "2 numbers, but 1 sources" in problems("0.513 or 0.514", claims)


@pytest.mark.parametrize(
    ("printed", "source"),
    [
        ("0.5127 ± 0.0012", '{metric = "map@5000", reduction = ["mean", "sd"]}'),
        ("−0.113", '{metric = "map@5000", minus = {method = "softhash"}, method = "itq"}'),
        ("+0.113", '{metric = "map@5000", minus = {method = "itq"}}'),
        ("0.000", '{metric = "ndcg@20", minus = {variant = "long"}}'),
        ("0.600", '{metric = "map@5000", variant = "long"}'),
        ("0.998", '{metric = "average", variant = "long"}'),
        ("0.200", '{metric = "map@5000", method = "idhn", where = {dropout = 0.7}}'),
        ("0.513 0.400 0.200", '{method = ["softhash", "itq"], metric = "map@5000"}, '
         '{metric = "map@5000", method = "idhn", where = {dropout = 0.7}}'),
    ],
)  # fmt: skip
def test_sources_are_deviations_differences_variants_and_settings(problems, printed, source):
    claims = f'{CLAIM}text = "{printed}"\nnumbers = [{source}]'
    assert problems(printed, claims) == ""


def test_keys_of_a_claim_are_those_of_all_its_sources(problems):
    shared = 'metric = ["map@5000", "ndcg@20"]\nminus = {method = "itq"}\nnumbers = [{}]'
    assert problems("+0.113; −0.100", f'{CLAIM}text = "+0.113; −0.100"\n{shared}') == ""


def test_an_unknown_key_of_a_claim_is_found(problems):
    assert "unknown keys of a claim: digits" in problems(
        "0.513", f'{CLAIM}text = "0.513"\ndigits = 3'
    )


def ranks(source):
    """Of rows without the method that has two settings."""
    return f'{CLAIM}text = "leads"\nwhere = {{dropout = 0.5}}\nranks = [{source}]'


@pytest.mark.parametrize(
    ("source", "problem"),
    [
        ('{metric = "map@5000", of = 3}', ""),
        ('{metric = "ndcg@20", rank = 2}', ""),
        ('{metric = "ndcg@20"}', "rank 2 instead of 1"),
        ('{metric = "map@5000", method = "itq", rank = 3}', "rank 2 instead of 3"),
        ('{metric = "map@5000", of = 4}', "3 methods instead of 4"),
        ('{metric = "map@5000", level = ["softhash"]}', ""),
        ('{metric = "ndcg@20", rank = 2, level = ["ITQ", "softhash"]}', ""),
        ('{metric = "ndcg@20", rank = 2, level = ["ITQ"]}', "level are ITQ, softhash"),
        ('{metric = "map@5000", level = ["ITQ", "softhash"]}', "level are softhash"),
    ],
)
def test_ranks_are_those_among_methods_that_make_codes(problems, source, problem):
    printed = problems("leads", ranks(source))
    assert problem in printed
    assert bool(printed) == bool(problem)


@pytest.mark.parametrize(
    ("source", "problem"),
    [
        ('{metric = "map@5000", method = "idhn"}', "rows that differ in more than the seed"),
        ('{metric = "map@5000", method = "hashnet"}', "no rows"),
        ('{metric = "map@7"}', "not in every row"),
        ('{metric = "map@5000", bit = 3}', "unknown keys in numbers: bit"),
        ('{metric = "map@5000", minus = {bit = 3}}', "unknown keys in numbers: bit"),
        ('{metric = "map@5000", rows = "gone.jsonl"}', "does not exist"),
    ],
)
def test_a_source_that_names_no_one_number_is_found(problems, source, problem):
    assert problem in problems("0.513", f'{CLAIM}text = "0.513"\nnumbers = [{source}]')


@pytest.mark.parametrize(
    ("printed", "sources", "problem"),
    [
        ("1 / 1 / 0", "{}", ""),
        ("1 / 1 / 0 and 0 / 0 / 1", "{}, {bits = 12}", ""),
        ("2 / 0 / 0", "{}", "2 / 0 / 0 should be 1 / 1 / 0 (photos/rows.jsonl softhash 48)"),
        ("1 / 1 / 0", "{}, {bits = 12}", "1 standings, but 2 sources"),
        ("1 / 1 / 0", "", "1 standings, but 0 sources"),
        ("1 / 1 / 0", '{metric = "map@5000"}', "unknown keys in standings: metric"),
    ],
)
def test_standings_count_the_measures_on_which_softhash_leads(problems, printed, sources, problem):
    claims = f'{CLAIM}text = "{printed}"\nstandings = [{sources}]'
    found = problems(printed, claims)
    assert problem in found
    assert bool(found) == bool(problem)
