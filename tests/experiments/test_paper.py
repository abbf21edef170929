"""The printed numbers, against the paper's own source where it is at hand."""

import os
import re
from pathlib import Path

import pytest

from softhash.experiments.paper import Printed, content, data_set, printed, printed_setting

PAPER = Path(os.environ.get("SOFTHASH_TEST_DATA", "")) / "paper.tex"


def test_data_sets_are_recognised_by_their_counts():
    voc = {"classes": 20, "queries": 1000, "database": 12125, "database_without_labels": 18}
    assert data_set(voc) == "voc2012"
    assert data_set(voc | {"database": 12100}) == "voc2012"
    assert data_set(voc | {"database": 16125}) is None  # the train set is in it
    assert data_set(voc | {"queries": 500}) is None
    nus = {"classes": 21, "queries": 2100, "database": 257000, "database_without_labels": 73800}
    assert data_set(nus) == "nuswide"


def test_values_are_found_by_method_backbone_and_bits():
    assert printed("iaprtc12", "map", "dtsh", "alexnet", 24) == Printed(0.5452)
    assert printed("iaprtc12", "map", "dtsh", "alexnet", 36) is None
    assert printed("nuswide", "map", "idhn", "alexnet", 12) == Printed(0.7292, (0.7296,))
    assert printed("voc2012", "ndcg", "idhn", "vgg19", 48) == Printed(0.8201)
    assert printed("voc2012", "map", "dhn", "vgg19", 48) is None
    assert printed(None, "map", "idhn", "alexnet", 12) is None
    assert printed_setting("flickr", "alpha", "1", 48) == Printed(0.8428)
    assert printed_setting("flickr", "lambda_", "10", 48).value == 0.6952
    assert printed_setting("iaprtc12", "gamma", "0", 48) is None


def test_doubtful_cells_are_marked_and_others_not():
    assert "swapped" in printed("flickr", "wap", "idhn", "alexnet", 12).doubt
    assert printed("voc2012", "wap", "idhn", "alexnet", 12).doubt is None
    assert printed("flickr", "map", "idhn-coarse-mse", "alexnet", 48).doubt
    assert printed("flickr", "map", "idhn-coarse-mse", "alexnet", 12).doubt is None
    assert printed("flickr", "map", "idhn-coarse-ce", "alexnet", 48).doubt is None
    assert "WAP and ACG" in printed("nuswide", "ndcg", "idhn", "alexnet", 12).doubt
    assert printed("voc2012", "ndcg", "idhn", "alexnet", 12).doubt is None
    assert printed("flickr", "map", "idhn", "alexnet", 24).doubt is None


@pytest.mark.parametrize("data", ["nuswide", "flickr", "voc2012"])
def test_a_table_of_settings_is_doubted_where_it_contradicts_the_others(data):
    """All three share α = 5/q, λ = 0.1 and γ = 0.1/q, which is the run of the main table too."""
    common = {"alpha": "5/q", "lambda_": "0.1", "gamma": "0.1/q"}
    for bits in (24, 48):
        main = printed(data, "map", "idhn", "alexnet", bits).value
        for setting, value in common.items():
            found = printed_setting(data, setting, value, bits)
            assert (abs(found.value - main) > 0.005) == (found.doubt is not None), setting
    doubted = {
        (table["setting"], value)
        for table in content()["tables"]
        if table["data"] == data and "setting" in table
        for value in table["rows"]
        if printed_setting(data, table["setting"], value, 24).doubt
    }
    assert doubted == {("lambda_", value) for value in ("0", "0.01", "0.1", "1", "10")}


@pytest.mark.skipif(not PAPER.is_file(), reason="no paper.tex in SOFTHASH_TEST_DATA")
def test_every_number_is_the_papers():
    """Rows of the LaTeX tables, by label and first column, against ours put side by side again."""
    ours: dict[tuple[str, int, str], list[float]] = {}
    seen: dict[str, dict[str, int]] = {}
    for table in content()["tables"]:
        blocks = seen.setdefault(table["label"], {})
        block = blocks.setdefault(table["metric"], len(blocks))
        for row, values in table["rows"].items():
            ours.setdefault((table["label"], block, row), []).extend(values)
    theirs = {}
    for found in re.finditer(r"\\begin\{table.*?\\label\{(.*?)\}\s*\\end", PAPER.read_text(), re.S):
        block = -1
        for line in found[0].split("\n"):
            numbers = [float(n) for n in re.findall(r"(?<!\d)\d?\.\d{4}", line)]
            if not numbers or "&" not in line:
                continue
            name = re.sub(r"\\cite\{.*?\}|\\multirow\{1\}\{\*\}|\\textbf|[{}$~ ]", "", line).lower()
            name = name.split("&")[0].removesuffix(".0")
            block += name == "idhn"
            theirs[found[1], max(block, 0), name] = numbers
    assert len(theirs) == 44 + 5 + 28 + 15
    assert ours == theirs
