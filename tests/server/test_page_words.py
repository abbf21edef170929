"""Search by words on the page, and labels that are only likely, against what the index answers."""

import shutil

import pytest
from browsing import CONTRAST, NAMELESS, PAGE, SMALL, index_with_words, percent
from live import serving

api = pytest.importorskip("playwright.sync_api", reason="playwright is not installed")
expect = api.expect

pytestmark = pytest.mark.slow

PHONE = {"viewport": {"width": 390, "height": 844}, "has_touch": True, "reduced_motion": "reduce"}


@pytest.fixture(scope="module")
def index(telling_model, drawn, tmp_path_factory):
    place = tmp_path_factory.mktemp("words") / "index"
    with index_with_words(telling_model, drawn, place) as index:
        yield index


def lines(texts):
    return [" ".join(text.split()) for text in texts]


def box(page):
    return page.get_by_role("combobox", name="What is in the pictures").locator("visible=true")


def test_words_and_enter_are_a_search_that_back_undoes(visitor, index):
    page = visitor.open()
    box(page).fill("suns and houses")
    box(page).press("Enter")
    expect(page.locator(".hits h1")).to_have_text("Pictures of sun, house")
    assert visitor.address() == "#/search?words=suns+and+houses"
    right = [hit.id for hit in index.search(words=["sun", "house"], k=PAGE)]
    assert visitor.hits() == right
    visitor.open(visitor.address())  # a link shows the same
    assert visitor.hits() == right
    expect(box(page)).to_have_value("suns and houses")
    for control in ("#radius", "#sure", "#rescore", ".tuning", ".details"):
        expect(page.locator(control)).to_be_hidden()
    page.locator("nav a", has_text="Search").click()
    expect(page.locator(".start")).to_be_visible()
    expect(box(page)).to_have_value("")
    page.go_back()
    expect(page.locator(".hits h1")).to_have_text("Pictures of sun, house")


def test_hits_of_words_show_which_words_they_were_found_by(visitor, index):
    page = visitor.open("#/search?words=sky+sea+sun")
    words, kinds = ["sky", "sea", "sun"], set()
    for hit in index.search(words=words, k=PAGE):
        by = page.locator(f'.card[data-id="{hit.id}"] .by li')
        given = [f"{word} (a label)" for word in words if word in hit.labels]
        likely = [f"likely {w} {percent(hit.likely[w])}" for w in words if w in hit.likely]
        assert sorted(lines(by.all_text_contents())) == sorted(given + likely)
        kinds |= {bool(given), not likely}
    assert kinds == {True, False}


def test_the_last_word_is_completed_by_keys(visitor, index):
    page = visitor.open()
    field = box(page)
    field.press_sequentially("sun ho")
    options = page.get_by_role("option")
    expect(options).to_have_count(1)
    expect(field).to_have_attribute("aria-expanded", "true")
    expect(options).to_contain_text(f"house{index.store.labels()['house']} given")
    field.press("ArrowDown")
    expect(options.first).to_have_attribute("aria-selected", "true")
    active = options.first.get_attribute("id")
    expect(field).to_have_attribute("aria-activedescendant", active)
    field.press("Escape")
    expect(options).to_have_count(0)
    expect(field).to_have_attribute("aria-expanded", "false")
    expect(field).to_have_value("sun ho")
    field.press("ArrowDown")  # opens it again
    expect(options).to_have_count(1)
    field.press("ArrowUp")
    field.press("Enter")
    page.wait_for_url("**/#/search?words=sun+house")
    visitor.wait()
    assert visitor.hits() == [hit.id for hit in index.search(words=["sun", "house"], k=PAGE)]


def test_a_completion_can_be_clicked_and_typing_alone_searches_nothing(visitor):
    page = visitor.open()
    box(page).press_sequentially("moo")
    page.get_by_role("option", name="moon").click()
    page.wait_for_url("**/#/search?words=moon")
    page.locator("nav a", has_text="Search").click()
    expect(box(page)).to_have_value("")
    box(page).press_sequentially("  ")
    box(page).press("Enter")
    assert visitor.address() == "#/search"


@pytest.mark.parametrize(
    ("text", "word", "whole"),
    [
        ("dog traffic li", "traffic light", "dog traffic light"),
        ("dog li", "traffic light", "dog traffic light"),
        ("HOT D", "hot dog", "hot dog"),
        ('"traffic li', "traffic light", '"traffic light'),
        ("a.c", "arc", "arc"),
    ],
)
def test_a_completion_takes_the_place_of_what_it_begins_with(visitor, text, word, whole):
    script = "async ([text, word]) => (await import('./words.js')).completed(text, word)"
    assert visitor.open().evaluate(script, [text, word]) == whole


def test_an_unknown_word_is_explained_and_its_suggestion_searches(visitor, index):
    page = visitor.open("#/search?words=sun+mooon")
    expect(page.locator(".empty")).to_contain_text("“mooon” is not a word that is known here")
    expect(page.locator(".empty")).to_contain_text("softhash train")
    expect(page.locator("#notice")).to_be_hidden()
    page.locator(".empty").get_by_role("button", name="moon").click()
    page.wait_for_url("**/#/search?words=sun+moon")
    expect(page.locator(".empty")).to_have_count(0)
    assert visitor.hits() == [hit.id for hit in index.search(words=["sun", "moon"], k=PAGE)]
    assert all("422" in error for error in visitor.errors)
    visitor.errors.clear()


def test_cards_show_given_labels_and_at_most_three_likely_ones(visitor, index):
    page = visitor.open("#/browse")
    most = set()
    for item in index.store.items():
        kept = index.store.likely.get([(item.id, item.entry)])[0].items()
        likely = [(name, p) for name, p in kept if name not in item.entry.labels and p >= 0.5][:3]
        card = page.locator(f'.card[data-id="{item.id}"]')
        given = card.locator(".tags li:not(.maybe)").all_text_contents()
        assert sorted(given) == sorted(item.entry.labels)
        shown = lines(card.locator(".tags .maybe").all_text_contents())
        assert shown == [f"likely {name} {percent(p)}" for name, p in likely]
        most.add(len(likely))
    assert most - {0}
    first = page.locator('.card[data-id="3"]')
    guesses = first.locator(".maybe").all_text_contents()
    style = "one => getComputedStyle(one).borderTopStyle"
    assert first.locator(".maybe").first.evaluate(style) == "dashed"
    first.locator(".picture").click()
    assert page.locator(".viewer .maybe").all_text_contents()[: len(guesses)] == guesses


def test_of_many_likely_labels_the_three_most_probable_are_on_a_card(visitor):
    def with_many(route):
        page = route.fetch().json()
        likely = {"7": 0.61, "a": 0.95, "b": 0.999, "c": 0.7, "d": 0.49}
        page["items"] = [{**one, "labels": [], "likely": likely} for one in page["items"]]
        route.fulfill(json=page)

    visitor.page.route("**/items?*", with_many)
    page = visitor.open("#/browse")
    shown = page.locator(".card").first.locator(".maybe")
    assert lines(shown.all_text_contents()) == ["likely b >99 %", "likely a 95 %", "likely c 70 %"]
    page.locator(".card .picture").first.click()
    expect(page.locator(".viewer .maybe")).to_have_count(4)  # one is not likely enough


def test_filters_count_given_and_likely_labels_and_can_use_given_ones_alone(visitor, index):
    given, likely = index.store.labels(), index.store.likely_counts()
    page = visitor.open("#/search?id=3")
    for label in {*given, *likely}:
        chip = page.locator(f'.filters .chip[data-label="{label}"]')
        counts = given.get(label, 0), likely.get(label, 0)
        assert chip.locator(".count").inner_text() == str(sum(counts))
        title = f"{counts[0]} given, {counts[1]} likely" if counts[1] else None
        assert chip.get_attribute("title") == title
        assert ("maybe" in chip.get_attribute("class")) == (not counts[0])
    only_likely = next(label for label in likely if label not in given)
    page.locator('.filters .chip[data-label="sky"]').click()
    page.wait_for_url("**label=sky")
    visitor.wait()
    both = sorted(hit.id for hit in index.search(id=3, k=40, labels=["sky"]))
    assert sorted(visitor.hits()) == both
    page.get_by_role("checkbox", name="Given labels only").check()
    page.wait_for_url("**given=1")
    visitor.wait()
    alone = sorted(hit.id for hit in index.search(id=3, k=40, labels=["sky"], given_only=True))
    assert sorted(visitor.hits()) == alone != both
    expect(page.locator(f'.filters .chip[data-label="{only_likely}"]')).to_be_hidden()
    expect(page.locator(".active")).to_contain_text("with sky · given labels only")


def test_a_folder_without_labels_is_filtered_by_likely_ones(visit, telling_model, drawn, tmp_path):
    (tmp_path / "bare").mkdir()
    for file in sorted(drawn.glob("*.png"))[:12]:
        shutil.copy(file, tmp_path / "bare")
    with (
        index_with_words(telling_model, tmp_path / "bare", tmp_path / "index") as bare,
        serving(bare) as (_, client),
    ):
        visitor = visit(str(client.base_url))
        page = visitor.open("#/browse")
        page.locator(".filters summary").first.click()
        chips = page.locator(".filters .chip")
        assert chips.count() == page.locator(".filters .chip.maybe").count() > 0
        expect(page.get_by_text("Given labels only")).to_be_hidden()
        label, items = max(bare.store.likely_counts().items(), key=lambda one: one[1])
        page.locator(f'.filters .chip[data-label="{label}"]').click()
        expect(page.locator(".summary")).to_have_text(f"{items} pictures, all shown")
        page.goto("about:blank")


@pytest.mark.parametrize("scheme", ["light", "dark"])
@pytest.mark.parametrize("view", ["", "#/search?words=sun+sky&label=tree", "#/search?id=3"])
def test_words_fit_a_phone_and_the_first_picture_stays_high(visit, scheme, view):
    page = visit(color_scheme=scheme, **PHONE).open(view)
    if view:
        assert page.locator(".hits .picture").first.bounding_box()["y"] < 420
    box(page).press_sequentially("s")
    expect(page.get_by_role("option").first).to_be_visible()
    assert page.evaluate("() => document.documentElement.scrollWidth") == 390
    for wrong in (SMALL, NAMELESS, CONTRAST):
        assert page.evaluate(wrong) == []
