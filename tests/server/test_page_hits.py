"""How the page fills itself with hits, where many have one code; the details behind them."""

import numpy as np
import pytest
from browsing import fetched, folded
from live import serving

from softhash.index import Entry, HammingIndex

api = pytest.importorskip("playwright.sync_api", reason="playwright is not installed")
expect = api.expect

pytestmark = pytest.mark.slow


def index_of(place, codes):
    """An index of 16-bit codes alone, whose first item is the query."""
    index = HammingIndex.create(place, bits=16)
    rows = np.array([[0, 0], *codes], np.uint8)
    index.add_codes(rows, [Entry(f"day {i % 3}/{i}.jpg") for i in range(len(rows))])
    return index


@pytest.fixture(scope="module")
def fives(tmp_path_factory):
    """A site where always five pictures have one code."""
    codes = [[i // 5, 255] for i in range(1000)]
    place = tmp_path_factory.mktemp("fives") / "index"
    with index_of(place, codes) as index, serving(index) as (_, client):
        yield index, str(client.base_url)


def test_page_fetches_more_where_folding_leaves_gaps(visit, fives):
    index, site = fives
    visitor = visit(site)
    page = visitor.open("#/search?id=0")
    hits = fetched(index, id=0)
    groups = len({hit.code for hit in hits})
    assert visitor.hits() == [hit.id for hit in folded(hits)]
    cards = page.locator(".hits .card:visible")
    assert groups >= 24
    assert cards.count() == groups
    fold = page.locator(".fold").first
    expect(fold).to_have_text("4 more as alike as this")
    fold.click()
    expect(fold).to_have_attribute("aria-expanded", "true")
    expect(cards).to_have_count(groups + 4)
    fold.click()
    expect(cards).to_have_count(groups)


def test_page_unfolds_where_there_are_few_codes(visit, tmp_path):
    codes = [[0, 1]] * 20 + [[0, 3]] * 40
    with index_of(tmp_path / "index", codes) as index, serving(index) as (_, client):
        page = visit(str(client.base_url)).open("#/search?id=0")
        expect(page.locator(".hits .card:visible")).to_have_count(24)
        expect(page.locator(".fold")).to_have_text(["36 more as alike as this"])


def test_page_shows_more_and_still_does_after_back(visit, fives):
    visitor = visit(fives[1])
    page = visitor.open("#/search?id=0")
    before = visitor.hits()
    page.get_by_role("button", name="More", exact=True).click()
    expect(page.locator(".hits .card").nth(len(before))).to_be_attached()
    visitor.wait()
    shown = visitor.hits()
    assert shown[: len(before)] == before
    page.locator("nav a", has_text="Browse").click()
    expect(page.locator("h1")).to_have_text("Browse")
    page.go_back()
    expect(page.locator(".hits .card")).to_have_count(len(shown))


def test_bits_and_distances_are_behind_the_details(visit, fives):
    visitor = visit(fives[1])
    page = visitor.open("#/search?id=0")
    words = page.locator(".hits .card:visible .measure").all_inner_texts()
    assert set(words) == {"less alike"}  # eight of sixteen bits, or more
    assert "bit" not in page.locator(".hits").inner_text()
    page.locator(".details summary").click()
    expect(page.locator(".hits .workings").first).to_contain_text("8 bits away")
    expect(page.locator(".details .strip")).to_be_visible()
    page.locator(".card:visible .action").nth(1).click()
    page.wait_for_url("**/#/search?id=6")
    visitor.wait()
    expect(page.locator(".hits .workings").first).to_contain_text("0 bits away")
    page.locator(".details summary").click()
    expect(page.locator(".workings")).to_have_count(0)


def test_browse_goes_to_a_folder_and_loads_while_scrolling(visit, fives):
    visitor = visit(fives[1])
    page = visitor.open("#/browse")
    expect(page.locator(".summary")).to_have_text("48 of 1,001 pictures")
    page.get_by_label("Folder").select_option(label="day 1 (334)")
    expect(page.locator(".summary")).to_have_text("48 of 334 pictures")
    assert visitor.address() == "#/browse?folder=day+1"
    for _ in range(20):
        page.mouse.wheel(0, 10_000)
        page.wait_for_timeout(60)
        if page.locator(".more").is_hidden():
            break
    expect(page.locator(".summary")).to_have_text("334 pictures, all shown")
    names = page.locator(".browse .card .blank").all_text_contents()
    assert names == [f"{i}.jpg" for i in range(1001) if i % 3 == 1]
