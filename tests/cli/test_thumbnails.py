"""Pictures in a terminal: which way, and that the right pixels arrive."""

import base64
import io
import re

import pytest
from PIL import Image

from softhash.cli._answer import UNKNOWN, Answer
from softhash.cli._thumbnails import CLEAR, blocks, choose_protocol, rendered
from softhash.index import Hit, SearchResult
from softhash.plots.contact_sheet import ALL, NONE, SOME

TRUE = {"COLORTERM": "truecolor"}


@pytest.mark.parametrize(
    ("environment", "is_terminal", "wanted", "expected"),
    [
        ({"TERM": "xterm-kitty"}, True, None, "kitty"),
        ({"KITTY_WINDOW_ID": "1"}, True, None, "kitty"),
        ({"TERM_PROGRAM": "iTerm.app"}, True, None, "iterm2"),
        ({"LC_TERMINAL": "iTerm2"}, True, None, "iterm2"),
        ({"KITTY_WINDOW_ID": "1", "TMUX": "x", **TRUE}, True, None, "blocks"),
        (TRUE, True, None, "blocks"),
        ({}, True, None, None),
        ({}, True, True, "blocks"),
        (TRUE, True, False, None),
        ({"TERM": "xterm-kitty", **TRUE}, False, True, None),
    ],
)
def test_the_terminal_decides_how(environment, is_terminal, wanted, expected):
    assert choose_protocol(environment, is_terminal=is_terminal, wanted=wanted) == expected


def test_two_pixels_are_one_character():
    sheet = Image.new("RGB", (2, 3), CLEAR)
    sheet.putpixel((0, 0), (255, 0, 0))
    sheet.putpixel((0, 1), (0, 255, 0))
    sheet.putpixel((1, 1), (0, 0, 255))
    sheet.putpixel((1, 2), (9, 9, 9))
    assert blocks(sheet) == (
        "\x1b[38;2;255;0;0;48;2;0;255;0m▀\x1b[0m\x1b[38;2;0;0;255m▄\x1b[0m\n"
        "\x1b[0m \x1b[0m\x1b[38;2;9;9;9m▀\x1b[0m\n"
    )


@pytest.fixture
def answer(tmp_path):
    path = tmp_path / "picture.png"
    Image.new("RGB", (300, 100), "#ff0000").save(path)
    gone = tmp_path / "gone.png"
    hits = tuple(Hit(i, i, "x", ("sea",), ("sea",) * i) for i in range(2))
    result = SearchResult(b"\0", ("sea",), hits=hits)
    return Answer("picture.png", result, (path, gone), path)


@pytest.mark.parametrize("protocol", ["kitty", "iterm2"])
def test_the_picture_that_is_sent_can_be_read_back(answer, protocol, monkeypatch):
    monkeypatch.setenv("COLUMNS", "70")
    text = rendered(answer, protocol)
    if protocol == "kitty":
        sent = re.findall(r"\x1b_G([^;]*);([^\x1b]*)\x1b\\", text)
        assert all(len(part) <= 4096 for _, part in sent)
        assert [control.rpartition("m=")[2] for control, _ in sent] == [
            *("1" for _ in sent[1:]),
            "0",
        ]
        data = "".join(part for _, part in sent)
    else:
        data = re.fullmatch(r"\x1b]1337;File=inline=1;[^:]*:([^\x07]*)\x07\n", text)[1]
    sheet = Image.open(io.BytesIO(base64.b64decode(data)))
    assert sheet.width > 3 * 160
    assert sheet.getpixel((0, 0))[3] == 0
    assert sheet.getpixel((90, 90)) == (255, 0, 0, 255)


def test_half_blocks_fit_into_the_terminal(answer, monkeypatch):
    monkeypatch.setenv("COLUMNS", "45")
    lines = rendered(answer, "blocks").splitlines()
    widths = {len(re.sub(r"\x1b\[[0-9;]*m", "", line)) for line in lines}
    assert max(widths) <= 45
    assert len(lines) >= 18  # three pictures need two rows


def test_nothing_is_drawn_where_there_are_no_pictures():
    bare = Answer("code 00", SearchResult(b"\0", hits=(Hit(1, 0, "x", (), ()),)), (None,))
    assert rendered(bare, "blocks") == ""


def test_frames_tell_what_is_shared():
    hits = [Hit(1, 0, "x", (), shared) for shared in (("a", "b"), ("a",), ())]
    known = Answer("q", SearchResult(b"\0", ("a", "b")), ())
    assert [known.frame(hit) for hit in hits] == [ALL, SOME, NONE]
    assert Answer("q", SearchResult(b"\0"), ()).frame(hits[0]) == UNKNOWN
