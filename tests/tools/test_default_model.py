"""The tool that makes the shipped model: words from WordNet, calibration, and the page."""

import json
from pathlib import Path

import numpy as np
import pytest

ROOT = Path(__file__).parents[2]


@pytest.fixture(scope="module", autouse=True)
def _tools():
    with pytest.MonkeyPatch.context() as patch:
        patch.syspath_prepend(str(ROOT))
        yield


# Two breeds of dog below dog, below animal; a kite that is a bird.
NOUNS = """\
  1 the licence
00000001 03 n 01 animal 0 000 | living
00000002 03 n 02 dog 0 domestic_dog 0 001 @ 00000001 n 0000 | barks
00000003 03 n 01 Afghan_hound 0 001 @ 00000002 n 0000 | long hair
00000004 03 n 01 beagle 0 002 @ 00000002 n 0000 ~ 00000003 n 0000 | short hair
00000005 03 n 01 kite 0 001 @ 00000001 n 0000 | flies
"""


def test_a_word_stands_for_every_class_below_it(tmp_path):
    from tools.default_model.vocabulary import all_above, class_groups, read_synsets

    (tmp_path / "data.noun").write_text(NOUNS)
    synsets = read_synsets(tmp_path / "data.noun")
    assert synsets["00000002"] == (["dog", "domestic dog"], ["00000001"])
    assert all_above("00000004", synsets) == {"00000002", "00000001"}
    groups = class_groups(["n00000003", "n00000004", "n00000005"], tmp_path / "data.noun")
    found = {word: classes for word, classes in groups.items() if classes}
    assert found == {"animal": [0, 1, 2], "dog": [0, 1], "Afghan hound": [0], "beagle": [1]}


def test_labels_are_renamed_left_out_and_put_together():
    from tools.default_model.material import Collection
    from tools.default_model.vocabulary import label_columns

    def columns(name, classes):
        labels, nowhere = np.eye(len(classes), dtype=np.uint8), np.empty(0, np.int64)
        given = name, np.zeros((len(classes), 1), np.float32), labels, classes, ()
        return label_columns(Collection(*given, nowhere, nowhere, nowhere))

    voc = columns("voc2012", ("aeroplane", "cat", "dog"))
    assert voc["airplane"].tolist() == [True, False, False]
    assert voc["animal"].tolist() == [False, True, True]
    assert voc.keys() == {"airplane", "cat", "dog", "animal", "vehicle"}
    iapr = columns("iaprtc12", ("bike", "bicycle", "middle"))
    assert iapr.keys() == {"bicycle"}
    assert iapr["bicycle"].tolist() == [True, True, False]


def test_average_precision_is_that_of_the_definition():
    from tools.default_model.words import average_precision

    truth = np.array([False, True, True, False])
    assert average_precision(np.array([0.9, 0.8, 0.1, 0.5]), truth) == (1 / 2 + 2 / 4) / 2
    assert average_precision(np.array([0.1, 0.8, 0.9, 0.5]), truth) == 1
    assert average_precision(np.ones(4), ~truth & truth) == 0


def test_calibration_makes_exaggerated_log_odds_probable():
    from tools.default_model.words import calibrate, reliability

    draw = np.random.default_rng(0)
    odds = draw.normal(0, 2, 40_000)
    truth = draw.random(len(odds)) < 1 / (1 + np.exp(-odds))
    slope, offset = calibrate(3 * odds + 1, truth)
    assert slope == pytest.approx(1 / 3, abs=0.02)
    assert offset == pytest.approx(-1 / 3, abs=0.05)
    p = 1 / (1 + np.exp(-(slope * (3 * odds + 1) + offset)))
    assert all(abs(said - share) < 0.03 for said, share, _ in reliability(p, truth))


def test_the_published_page_follows_from_the_published_rows():
    from tools.default_model.page import RESULTS, page

    folder = ROOT / RESULTS
    rows = [json.loads(line) for line in (folder / "rows.jsonl").read_text().splitlines()]
    words = json.loads((folder / "words.json").read_text())
    assert page(rows, words) == (folder / "README.md").read_text()


def test_the_shipped_words_are_those_that_were_measured():
    from tools.default_model.page import RESULTS

    from softhash.model.default_model import packed_config

    words = json.loads((ROOT / RESULTS / "words.json").read_text())["words"]
    assert tuple(word["name"] for word in words) == packed_config().classes
    assert min(word["precision"] for word in words) >= 0.2
