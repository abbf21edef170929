"""How sure hits are, and more or less of something, on the page."""

import re

import pytest
from browsing import CONTRAST, NAMELESS, SMALL, index_with_words, own_first, percent
from serving import jpeg

api = pytest.importorskip("playwright.sync_api", reason="playwright is not installed")
expect = api.expect

pytestmark = pytest.mark.slow

PHONE = {"viewport": {"width": 390, "height": 844}, "has_touch": True, "reduced_motion": "reduce"}
RED = {"name": "red.jpg", "mimeType": "image/jpeg", "buffer": jpeg()}


@pytest.fixture(scope="module")
def index(telling_model, drawn, tmp_path_factory):
    place = tmp_path_factory.mktemp("tuning") / "index"
    with index_with_words(telling_model, drawn, place) as index:
        yield index


def sure_text(hit):
    how = "" if hit.sure == 1 else f"{percent(round(hit.sure, 4))} "
    return f"{how}sure to share something"


def in_order(hits):
    """Ids in the order of the page: those with one code and one score together."""
    keys = list(dict.fromkeys((hit.code, hit.score) for hit in hits))
    return [hit.id for hit in sorted(hits, key=lambda hit: keys.index((hit.code, hit.score)))]


def search_with(visitor, picture):
    page = visitor.open()
    page.set_input_files("#picture", picture)
    expect(page.locator(".query img")).to_be_visible()
    visitor.wait()
    return page


def test_hits_of_an_item_show_how_sure_they_are(visitor, index):
    page = visitor.open("#/search?id=3")
    hits = index.search(id=3, k=40)
    for hit in hits:
        note = page.locator(f'.card[data-id="{hit.id}"] .sure')
        assert note.text_content() == sure_text(hit)
    assert {hit.sure == 1 for hit in hits} == {True, False}
    first = int(page.locator(".hits .card").first.get_attribute("data-id"))
    page.locator(".hits .card .picture").first.click()
    words = sure_text(next(hit for hit in hits if hit.id == first))
    expect(page.locator(".viewer .alike")).to_contain_text(words)


def test_hits_of_a_picture_show_how_sure_they_are_but_not_its_own_file(visitor, index, drawn):
    picture = sorted(drawn.glob("*.png"))[3]
    page = search_with(visitor, picture)
    hits = index.search(picture, k=40)
    for hit in hits:
        note = page.locator(f'.card[data-id="{hit.id}"] .sure')
        assert note.all_text_contents() == ([] if hit.id == 3 else [sure_text(hit)])
    assert visitor.hits() == own_first(3, in_order(hits))


def test_only_sure_hits_can_be_asked_for_and_the_limit_lifted(visitor, index):
    page = search_with(visitor, RED)
    sure = sorted(hit.sure for hit in index.search(jpeg(), k=40))
    step = next(step for step in (50, 60, 70, 80, 90, 95) if sure[0] < step / 100 <= sure[-1])
    page.get_by_label("Only hits").select_option(f"{step}")
    page.wait_for_url(re.compile(f"&sure={step}"))
    visitor.wait()
    kept = index.search(jpeg(), k=40, at_least=step / 100)
    assert 0 < len(kept) < len(sure)
    assert visitor.hits() == in_order(kept)
    expect(page.locator(".active")).to_contain_text(f"at least {step} % sure")
    page.evaluate("() => { location.hash = location.hash.replace(/sure=\\d+/, 'sure=100'); }")
    expect(page.locator(".empty")).to_contain_text("Nothing is that sure")
    page.locator(".empty").get_by_role("button", name="However sure").click()
    expect(page.locator(".empty")).to_have_count(0)
    assert visitor.hits() == in_order(index.search(jpeg(), k=40))
    assert "sure" not in visitor.address()


def test_a_link_to_a_code_has_no_limit_of_sureness(visitor, index):
    code = index.get(3).code.hex()
    page = visitor.open(f"#/search?code={code}&sure=90")
    assert visitor.hits() == in_order(index.search(code=code, k=40))
    expect(page.locator("#sure")).to_be_hidden()
    expect(page.locator(".active")).to_contain_text("give the picture itself")
    expect(page.locator(".filters > summary")).to_have_text("Filters")


def test_more_of_one_word_and_less_of_another_move_hits(visitor, index):
    page = visitor.open("#/search?id=3")
    page.locator(".tuning summary").click()
    field = page.get_by_role("combobox", name="A word")
    field.press_sequentially("hous")
    page.get_by_role("option", name="house").click()
    expect(field).to_have_value("house")  # which way is still to be said
    field.press("Enter")
    page.wait_for_url("**/#/search?id=3&more=house")
    field.fill("sun")
    page.get_by_role("button", name="Less of it").click()
    page.wait_for_url("**/#/search?id=3&more=house&less=sun")
    visitor.wait()
    tuned = in_order(index.search(id=3, k=40, more=["house"], less=["sun"]))
    plain = in_order(index.search(id=3, k=40))
    assert visitor.hits() == tuned != plain
    visitor.open(visitor.address())
    chips = page.get_by_role("group", name="More and less").get_by_role("button")
    expect(chips).to_have_text(["+ more house✕", "− less sun✕"])
    chips.first.press("Enter")
    page.wait_for_url("**/#/search?id=3&less=sun")
    expect(chips).to_have_count(1)
    assert page.evaluate("() => document.activeElement.dataset.way") == "less"
    page.keyboard.press("Enter")
    page.wait_for_url("**/#/search?id=3")
    visitor.wait()
    assert visitor.hits() == plain


def test_one_word_is_never_asked_for_both_ways(visitor):
    page = visitor.open("#/search?id=3&more=sun&more=house")
    page.locator(".tuning summary").click()
    page.get_by_role("combobox", name="A word").fill("sun")
    page.get_by_role("button", name="Less of it").click()
    page.wait_for_url("**/#/search?id=3&more=house&less=sun")
    expect(page.locator("#notice")).to_be_hidden()


def test_an_unknown_word_of_more_is_explained(visitor, index):
    page = visitor.open("#/search?id=3&more=mooon")
    expect(page.locator(".empty")).to_contain_text("“mooon” is not a word that is known here")
    page.locator(".empty").get_by_role("button", name="moon").click()
    page.wait_for_url("**/#/search?id=3&more=moon")
    visitor.wait()
    tuned = in_order(index.search(id=3, k=40, more=["moon"]))
    assert visitor.hits() == tuned
    visitor.errors.clear()


@pytest.mark.parametrize("scheme", ["light", "dark"])
def test_more_and_less_fit_a_phone(visit, scheme):
    page = visit(color_scheme=scheme, **PHONE).open("#/search?id=3&more=sun&less=house&sure=50")
    page.locator(".tuning summary").tap()
    page.locator(".filters summary").first.tap()
    expect(page.get_by_label("Only hits")).to_be_visible()
    assert page.evaluate("() => document.documentElement.scrollWidth") == 390
    for wrong in (SMALL, NAMELESS, CONTRAST):
        assert page.evaluate(wrong) == []
