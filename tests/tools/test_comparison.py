"""The pages that compare every method: each is what the tool writes from the committed rows."""

import shutil
from pathlib import Path

import pytest

pytest.importorskip("matplotlib")

ROOT = Path(__file__).parents[2]
RESULTS = ROOT / "docs" / "results"
PAGES = {
    "voc2012": ("VOC2012", ""),
    "iaprtc12": ("IAPR TC-12", "iaprtc12"),
    "coco": ("COCO", ""),
}


@pytest.fixture(scope="module", autouse=True)
def _tools():
    with pytest.MonkeyPatch.context() as patch:
        patch.syspath_prepend(str(ROOT))
        yield


@pytest.mark.parametrize("name", PAGES)
def test_a_page_follows_from_its_rows(name, tmp_path):
    from tools.comparison.page import write_page

    folder = tmp_path / name
    folder.mkdir()
    for pattern in ("f*.json*", "tuned*.json*", "about.txt"):
        for path in (RESULTS / name).glob(pattern):
            shutil.copy(path, folder)
    title, data = PAGES[name]
    written = write_page(folder, title, data, figures=False)
    assert written == (RESULTS / name / "comparison.md").read_text()


def test_the_page_of_other_protocols_follows_from_its_rows(tmp_path):
    from tools.comparison import protocols

    for name in (*protocols.UNSEEN.values(), protocols.VOC_VAL):
        (tmp_path / name).parent.mkdir(exist_ok=True)
        for file in (name, name.replace(".jsonl", "-significance.json")):
            shutil.copy(RESULTS / file, tmp_path / file)
    written = protocols.write_page(tmp_path)
    assert written == (RESULTS / protocols.PAGE).read_text()


def line(method, difference, level, best="DHN"):
    return {"method": method, "difference": difference, "level": level, "best": best}


@pytest.mark.parametrize(
    ("lines", "expected"),
    [
        ([line("softhash", 0.0, True, "softhash"), line("DHN", -0.1, False)], "**leads**"),
        ([line("softhash", 0.0, True, "softhash"), line("DHN", -0.1, True)], "level with DHN"),
        ([line("softhash", -0.01, True), line("DHN", 0.0, True)], "level with DHN"),
        ([line("softhash", -0.0123, False), line("DHN", 0.0, True)], "0.012 behind DHN"),
        ([line("DHN", 0.0, True)], "–"),
    ],
)
def test_a_lead_is_called_only_where_it_holds(lines, expected):
    from tools.comparison.standing import _standing

    assert _standing(lines) == expected


def test_the_margin_is_to_the_best_other_method_of_the_same_length():
    from tools.comparison.standing import _margin

    means = {("softhash", 12): 0.7, ("dhn", 12): 0.6, ("lsh", 12): 0.5, ("dhn", 48): 0.9}
    assert _margin(means, 12) == pytest.approx(0.1)
