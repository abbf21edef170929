"""What a picture looks like, on the page, in a real browser."""

import re
from urllib.parse import unquote

import pytest
from browsing import CONTRAST, NAMELESS, SMALL, fetched, folded, own_first
from live import serving

from softhash.data.image_set import ImageSet
from softhash.index import HammingIndex
from softhash.model.hasher import Hasher

api = pytest.importorskip("playwright.sync_api", reason="playwright is not installed")
expect = api.expect

# Without motion, or else colours would be measured on their way to others.
PHONE = {
    "viewport": {"width": 390, "height": 844},
    "has_touch": True,
    "reduced_motion": "reduce",
}


@pytest.fixture(scope="module")
def index(telling_model, drawn, tmp_path_factory):
    """In place of the one whose model has no opinion."""
    place = tmp_path_factory.mktemp("telling") / "index"
    with HammingIndex.create(place, Hasher.load(telling_model)) as index:
        index.add(ImageSet.read(drawn), device="cpu")
        yield index


@pytest.fixture
def picture(drawn):
    return sorted(drawn.glob("*.png"))[3]


def likely(index, picture):
    return index.hasher.outputs_and_labels(picture, device="cpu")[1][0]


def search_with(visitor, picture):
    page = visitor.open()
    page.set_input_files("#picture", picture)
    expect(page.locator(".query img")).to_be_visible()
    visitor.wait()
    return page


def test_page_tells_what_a_picture_looks_like(visitor, index, picture):
    page = search_with(visitor, picture)
    expect(page.get_by_role("group", name="Looks like")).to_be_visible()
    told = page.locator(".likely .chips > *").all_inner_texts()
    right = [f"{name} {100 * p:.0f} %" for name, p in likely(index, picture).items()]
    assert [" ".join(one.split()) for one in told] == right
    assert right[0].startswith("sky")  # a script alone would put 7 first
    picture_box, told_box = (
        page.locator(one).bounding_box() for one in (".query .picture", ".likely")
    )
    assert told_box["y"] >= picture_box["y"] + picture_box["height"]


def test_a_likely_label_of_the_index_can_be_asked_for(visitor, index, picture):
    page = search_with(visitor, picture)
    code = re.search("code=([0-9a-f]+)", visitor.address())[1]
    chip = page.locator('.likely .chip[data-label="sky"]')
    share = f"{100 * likely(index, picture)['sky']:.0f} % likely"
    for state, meaning, query in (
        ("true", ", asked for", {"labels": ["sky"]}),
        ("mixed", ", left out", {"not_labels": ["sky"]}),
        ("false", "", {}),
    ):
        chip.press("Enter")
        expect(chip).to_have_attribute("aria-pressed", state)
        expect(chip).to_have_attribute("aria-label", f"sky, {share}{meaning}")
        visitor.wait()
        right = folded(fetched(index, code=code, **query))
        assert visitor.hits() == own_first(3, [hit.id for hit in right])
        assert ("sky" in unquote(visitor.address())) == bool(query)
        assert page.evaluate("() => document.activeElement.closest('.likely') !== null")
        filter_chip = page.locator('.filters .chip[data-label="sky"]')
        expect(filter_chip).to_have_attribute("aria-pressed", state)


def test_a_likely_label_that_no_picture_has_is_text(visitor, picture):
    def without_guesses(route):
        about = route.fetch().json()
        route.fulfill(json={**about, "likely": {}})

    visitor.page.route("**/api/v1/index", without_guesses)
    page = search_with(visitor, picture)
    for label in ("sea", "7"):
        assert page.locator(".likely .guess", has_text=label).count() == 1
    assert page.locator(".likely button").count() == 1


def test_likely_labels_stay_with_their_picture(visitor, index, picture):
    page = search_with(visitor, picture)
    address = visitor.address()
    own = page.locator(".likely").inner_text()
    page.locator(".hits .card .action").nth(1).click()
    page.wait_for_url(re.compile("id="))
    visitor.wait()
    expect(page.locator(".likely")).not_to_have_text(own)
    page.go_back()
    expect(page.locator(".likely")).to_have_text(own, use_inner_text=True)
    page.get_by_role("checkbox", name="Finer order").check()
    page.wait_for_url(re.compile("rescore=1"))
    visitor.wait()
    expect(page.locator(".likely")).to_be_visible()
    page = visitor.open(address)  # a link has the code alone
    assert page.locator(".likely").count() == 0


def test_a_model_without_an_opinion_shows_nothing(visit, index, tiny_model, picture):
    with (
        HammingIndex.open(index.store.location, Hasher.load(tiny_model)) as plain,
        serving(plain) as (_, client),
    ):
        page = search_with(visit(str(client.base_url)), picture)
        assert page.locator(".hits .card").count() == len(plain)
        expect(page.locator(".likely")).to_be_hidden()
        page.goto("about:blank")  # or else it might ask for pictures when the server is gone


@pytest.mark.parametrize("scheme", ["light", "dark"])
def test_likely_labels_fit_a_phone(visit, picture, scheme):
    visitor = visit(color_scheme=scheme, **PHONE)
    page = search_with(visitor, picture)
    page.locator('.likely .chip[data-label="sky"]').tap()
    page.wait_for_url(re.compile("label=sky"))
    visitor.wait()
    assert page.evaluate("() => document.documentElement.scrollWidth") == 390
    for wrong in (SMALL, NAMELESS, CONTRAST):
        assert page.evaluate(wrong) == []
