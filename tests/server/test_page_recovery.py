"""What the page does where a request fails or comes late, and where the focus and the view go."""

import threading

import numpy as np
import pytest
from live import serving

from softhash.index import Entry, HammingIndex

api = pytest.importorskip("playwright.sync_api", reason="playwright is not installed")
expect = api.expect

pytestmark = pytest.mark.slow


def fail_once(page, pattern):
    """Have the next request that matches fail, as where the server is away."""
    page.route(pattern, lambda route: route.abort(), times=1)


@pytest.fixture(scope="module")
def hundreds(tmp_path_factory):
    """An index of 600 items, every third one red."""
    codes = np.random.default_rng(0).integers(0, 256, (600, 2), np.uint8)
    entries = [Entry(f"{i:03}.jpg", ("red",) if i % 3 == 0 else ("blue",)) for i in range(600)]
    place = tmp_path_factory.mktemp("hundreds") / "index"
    with HammingIndex.create(place, bits=16) as index:
        index.add_codes(codes, entries)
        with serving(index) as (_, client):
            yield str(client.base_url)


@pytest.mark.parametrize("state", ["#/search?id=1", "#/browse"])
def test_a_filter_whose_request_failed_is_not_announced(visit, hundreds, state):
    visitor = visit(hundreds)
    page = visitor.open(state)
    page.locator(".filters").evaluate("one => { one.open = true; }")
    cards = page.locator("main .grid .card")
    before = cards.count()
    fail_once(page, "**/api/v1/items*" if "browse" in state else "**/similar?*")
    page.locator('.chip[data-label="red"]').first.click()
    expect(page.locator("#notice")).to_be_visible()
    expect(page.locator(".active")).to_be_hidden()
    page.get_by_role("button", name="More", exact=True).click()
    expect(cards.nth(before)).to_be_attached()
    labels = cards.locator(".tags").all_inner_texts()
    assert any("blue" in one for one in labels[before:])  # more of what is shown, without a filter
    page.locator('.chip[data-label="red"]').first.click()  # once more: without it
    expect(page.locator(".active")).to_contain_text("red")
    visitor.errors.clear()  # the browser names the request that failed


def test_asking_again_after_a_failure_asks_again(visit, hundreds):
    visitor = visit(hundreds)
    page = visitor.open()
    fail_once(page, "**/similar?*")
    page.evaluate("() => { location.hash = '#/search?id=5'; }")
    expect(page.locator("#notice")).to_be_visible()
    expect(page.locator(".hits")).to_be_visible()  # the page is not blank
    page.evaluate("""() => {
        const again = document.createElement("a");
        again.href = location.hash;
        document.body.append(again);
        again.click();
    }""")
    expect(page.locator(".hits .card").first).to_be_visible()
    expect(page.locator("#notice")).to_be_hidden()
    visitor.errors.clear()


@pytest.mark.parametrize("state", ["#/search?id=1", "#/browse"])
def test_more_is_hidden_where_the_first_load_failed(visit, hundreds, state):
    visitor = visit(hundreds)
    fail_once(visitor.page, "**/api/v1/items*" if "browse" in state else "**/similar?*")
    page = visitor.open(state)
    expect(page.locator("#notice")).to_be_visible()
    more = page.get_by_role("button", name="More", exact=True)
    expect(more).to_be_hidden()
    page.get_by_role("button", name="Try again").click()
    cards = page.locator("main .grid .card")
    expect(cards.first).to_be_visible()
    before = cards.count()
    more.click()
    expect(cards.nth(before)).to_be_attached()
    visitor.errors.clear()  # the browser names the request that failed


def test_a_notice_shows_wherever_the_page_is_scrolled_to(visit, hundreds):
    visitor = visit(hundreds)
    page = visitor.open("#/search?id=5")
    page.mouse.wheel(0, 10_000)
    fail_once(page, "**/similar?*")
    page.get_by_role("button", name="More", exact=True).click()
    expect(page.locator("#notice")).to_be_in_viewport()
    visitor.errors.clear()


def test_back_leaves_a_half_typed_filter_behind(visit, hundreds):
    visitor = visit(hundreds)
    page = visitor.open("#/browse")
    page.goto(f"{hundreds}/#/search?id=5")
    visitor.wait()
    page.locator(".logic summary").click()
    page.locator("#where").fill("red")
    page.go_back()
    expect(page.locator("h1")).to_have_text("Browse")
    expect(page.locator(".browse .card").first).to_be_visible()
    assert visitor.address() == "#/browse"


def test_back_finds_a_long_list_where_it_was(visit, hundreds):
    visitor = visit(hundreds)
    page = visitor.open("#/browse")
    cards = page.locator(".browse .card")
    while cards.count() < 600:
        page.mouse.wheel(0, 10_000)
        page.wait_for_timeout(50)
    cards.nth(520).scroll_into_view_if_needed()
    top = "() => document.querySelectorAll('.card')[520].getBoundingClientRect().top"
    before = page.evaluate(top)
    cards.nth(520).get_by_role("link", name="Similar").click()
    expect(page.locator(".hits .card").first).to_be_visible()
    page.go_back()
    expect(cards).to_have_count(600)
    visitor.wait()
    assert abs(page.evaluate(top) - before) < 2


def test_a_picture_handed_over_counts_though_the_list_is_scrolled(visit, drawn):
    visitor = visit()
    page = visitor.open("#/browse")
    waiting = threading.Event()

    def late(route):
        waiting.wait(5)
        route.continue_()

    page.route("**/api/v1/search", late, times=1)
    page.set_input_files("#picture", sorted(drawn.glob("*.png"))[3])
    page.mouse.wheel(0, 10_000)
    waiting.set()
    expect(page.locator(".hits .card").first).to_be_visible()


def test_a_picture_handed_over_closes_the_large_view(visitor, drawn):
    page = visitor.open("#/search?id=3")
    page.locator(".hits .card .picture").first.click()
    expect(page.locator("dialog.viewer")).to_be_visible()
    page.set_input_files("#picture", sorted(drawn.glob("*.png"))[7])
    expect(page.locator("dialog.viewer")).to_be_hidden()
    page.wait_for_url("**/#/search?code=*")


def test_the_focus_stays_on_the_page_when_its_button_goes(visit, hundreds):
    visitor = visit(hundreds)
    page = visitor.open("#/search?id=5&label=red")
    page.get_by_role("button", name="Clear filters").focus()
    page.keyboard.press("Enter")
    expect(page.locator(".active")).to_be_hidden()
    visitor.wait()
    assert page.evaluate("() => document.activeElement.id") == "main"


def test_the_selection_comes_before_the_pictures(visit, hundreds):
    visitor = visit(hundreds)
    page = visitor.open("#/browse")
    page.get_by_role("button", name="Select", exact=True).click()
    order = """() => {
        const bar = document.querySelector(".selection"), main = document.querySelector("main");
        return bar.compareDocumentPosition(main) & Node.DOCUMENT_POSITION_FOLLOWING;
    }"""
    assert page.evaluate(order)


def test_the_large_view_says_where_no_further_picture_came(visit, hundreds):
    visitor = visit(hundreds)
    page = visitor.open("#/search?id=5")
    shown = page.locator(".hits .card:visible .picture")
    shown.last.click()
    fail_once(page, "**/similar?*")
    page.keyboard.press("ArrowRight")
    expect(page.locator("dialog.viewer [role=status]")).to_contain_text("No further picture came")
    visitor.errors.clear()
