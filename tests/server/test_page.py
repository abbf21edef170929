"""What people do on the page, in a real browser, against what the index itself answers."""

import re

import pytest
from browsing import fetched, folded, hand_over, own_first
from serving import jpeg

api = pytest.importorskip("playwright.sync_api", reason="playwright is not installed")
expect = api.expect


@pytest.fixture
def picture(drawn):
    """A file that is in the index, so that its labels are known."""
    return sorted(drawn.glob("*.png"))[3]


def encode_picture(index, picture):
    return index.hasher.encode(picture, device="cpu")[0].tobytes().hex()


def ids(hits):
    return [hit.id for hit in folded(hits)]


def test_page_finds_an_uploaded_picture(visitor, index, picture):
    page = visitor.open()
    page.set_input_files("#picture", picture)
    expect(page.locator(".query img")).to_have_attribute("src", re.compile("^blob:"))
    code = encode_picture(index, picture)
    assert visitor.address() == f"#/search?code={code}"
    found = own_first(3, ids(fetched(index, code=code)))
    assert visitor.hits() == found
    expect(page.locator(".hits .card .alike").first).to_have_text("the same file")
    wanted = index.find_labels(picture)
    frames = page.locator(".hits .card").evaluate_all("all => all.map(one => one.dataset.frame)")
    shared = [len(set(index.get(id).entry.labels) & set(wanted)) for id in found]
    assert frames == ["none" if not n else "all" if n == len(wanted) else "some" for n in shared]
    texts = page.locator(".hits .card .verdict").all_inner_texts()
    for n, text in zip(shared, texts, strict=True):
        assert f"{n} of {len(wanted)} shared" in text
    page.locator(".details summary").click()
    assert "has all labels of your picture" in page.locator("ul.legend").inner_text()


def test_page_does_not_judge_hits_of_a_picture_without_labels(visitor):
    page = visitor.open()
    page.set_input_files(
        "#picture", {"name": "red.jpg", "mimeType": "image/jpeg", "buffer": jpeg()}
    )
    expect(page.locator(".hits .card").first).to_be_visible()
    assert page.locator(".legend, .verdict").count() == 0
    frames = page.locator(".hits .card").evaluate_all("all => all.map(one => one.dataset.frame)")
    assert set(frames) == {"unknown"}


@pytest.mark.parametrize("event", ["paste", "drop"])
def test_page_takes_a_picture_that_is_handed_over(visitor, index, picture, event):
    page = visitor.open("#/browse")
    if event == "drop":
        hand_over(page, "dragenter", "a.png", b"")
        expect(page.locator("#drop")).to_be_visible()
    hand_over(page, event, "a.png", picture.read_bytes(), "image/png")
    expect(page.locator(".query h2")).to_have_text("a.png")
    expect(page.locator("#drop")).to_be_hidden()
    right = ids(fetched(index, code=encode_picture(index, picture)))
    assert visitor.hits() == own_first(3, right)


def test_page_refuses_a_file_that_is_no_picture(visitor):
    page = visitor.open()
    hand_over(page, "drop", "notes.txt", b"words", "text/plain")
    expect(page.locator("#notice")).to_contain_text("notes.txt is not a picture")
    page.get_by_role("button", name="Dismiss").click()
    expect(page.locator("#notice")).to_be_hidden()


def test_page_asks_for_a_label_then_leaves_it_out(visitor, index):
    page = visitor.open("#/search?id=3")
    chip = page.locator('.chip[data-label="tree"]')
    for state, query in (
        ("true", {"labels": ["tree"]}),
        ("mixed", {"not_labels": ["tree"]}),
        ("false", {}),
    ):
        chip.click()
        expect(chip).to_have_attribute("aria-pressed", state)
        visitor.wait()
        assert visitor.hits() == ids(fetched(index, id=3, **query))
        assert ("tree" in visitor.address()) == bool(query)
    page.go_back()
    expect(chip).to_have_attribute("aria-pressed", "mixed")
    visitor.wait()
    assert visitor.hits() == ids(fetched(index, id=3, not_labels=["tree"]))


def test_page_narrows_to_a_radius_and_says_when_nothing_is_left(visitor, index):
    lonely = next(
        item.id for item in index.store.items() if not index.search(id=item.id, max_distance=0)
    )
    page = visitor.open(f"#/search?id={lonely}")
    page.locator("#radius").press("Home")
    expect(page.locator(".empty")).to_contain_text("Nothing is that alike")
    assert visitor.address() == f"#/search?id={lonely}&radius=0"
    page.locator("#radius").press("ArrowRight")
    page.locator("#radius").press("ArrowRight")
    page.wait_for_url(re.compile("radius=2"))
    visitor.wait()
    assert visitor.hits() == ids(fetched(index, id=lonely, max_distance=2))
    page.locator("#radius").press("Home")
    page.get_by_role("button", name="However alike").click()
    expect(page.locator(".empty")).to_have_count(0)
    assert visitor.hits() == ids(fetched(index, id=lonely))


def test_page_ranks_a_picture_in_finer_order(visitor, index, picture):
    plain, finer = (ids(fetched(index, picture, rescore=asked)) for asked in (False, True))
    page = visitor.open()
    page.set_input_files("#picture", picture)
    box = page.get_by_role("checkbox", name="Finer order")
    expect(box).to_be_visible()
    expect(box).not_to_be_checked()
    address = visitor.address()
    box.check()
    page.wait_for_url(re.compile("&rescore=1"))
    visitor.wait()
    assert visitor.address() == f"{address}&rescore=1"
    assert visitor.hits() == own_first(3, finer)
    assert page.evaluate("() => document.activeElement.id") == "rescore"
    page.locator(".details summary").click()
    nearest = index.search(picture, k=1, rescore=True)[0]
    shown = page.locator(f'.card[data-id="{nearest.id}"] .weighed')
    expect(shown).to_have_text(f", rescored {nearest.rescored:.2f}")
    page.go_back()
    expect(box).not_to_be_checked()
    visitor.wait()
    assert visitor.hits() == own_first(3, plain) != own_first(3, finer)
    assert page.locator(".weighed").count() == 0


def test_page_offers_the_finer_order_for_pictures_alone(visitor, index, picture):
    code = encode_picture(index, picture)
    page = visitor.open(f"#/search?code={code}&rescore=1")  # a link, and the picture is not here
    box = page.locator("#rescore")
    expect(box).to_be_hidden()
    assert visitor.hits() == ids(fetched(index, code=code))
    page.set_input_files("#picture", picture)
    expect(box).to_be_checked()
    visitor.wait()
    assert visitor.hits() == own_first(3, ids(fetched(index, picture, rescore=True)))
    page.locator(".hits .card .action").first.click()
    expect(box).to_be_hidden()
    assert "rescore" not in visitor.address()


def test_page_says_that_no_picture_has_these_labels(visitor):
    page = visitor.open("#/search?id=3&label=sky&without=sky")
    expect(page.locator(".empty")).to_contain_text("No picture has these labels")
    page.locator(".empty").get_by_role("button", name="Clear labels").click()
    expect(page.locator(".hits .card")).to_have_count(39)


def test_page_goes_to_similar_pictures_and_back(visitor, index):
    page = visitor.open("#/search?id=3&label=sky")
    before = visitor.hits()
    chosen = before[0]
    page.locator(f'.card[data-id="{chosen}"] .action').click()
    expect(page.locator(".query h2")).to_have_text(index.get(chosen).entry.file_name)
    after = visitor.hits()
    assert after == ids(fetched(index, id=chosen, labels=["sky"]))
    page.go_back()
    expect(page.locator(".query h2")).to_have_text(index.get(3).entry.file_name)
    assert visitor.hits() == before
    page.go_forward()
    expect(page.locator(".query h2")).to_have_text(index.get(chosen).entry.file_name)
    assert visitor.hits() == after


def test_page_shows_a_problem_and_keeps_the_last_results(visitor):
    page = visitor.open("#/search?id=3")
    before = visitor.hits()
    page.evaluate("() => { location.hash = '#/search?id=99999'; }")
    expect(page.locator("#notice")).to_contain_text("no item has the id 99999")
    assert visitor.hits() == before
    page.go_back()
    expect(page.locator("#notice")).to_be_hidden()
    assert all("404" in error for error in visitor.errors)
    visitor.errors.clear()


def test_page_says_that_the_server_is_away_and_tries_again(visitor, index):
    page = visitor.open("#/search?id=3")
    before = visitor.hits()
    page.route("**/api/**", lambda route: route.abort())
    page.locator('.chip[data-label="tree"]').click()
    expect(page.locator("#notice")).to_contain_text("The server does not answer")
    assert visitor.hits() == before
    page.unroute("**/api/**")
    page.get_by_role("button", name="Try again").click()
    expect(page.locator("#notice")).to_be_hidden()
    assert visitor.hits() == ids(fetched(index, id=3, labels=["tree"]))
    visitor.errors.clear()
