"""From a hit to its file: the large view, selecting several, paths and downloads."""

import zipfile

import pytest
from browsing import CONTRAST, NAMELESS, SMALL
from live import serving

api = pytest.importorskip("playwright.sync_api", reason="playwright is not installed")
expect = api.expect

pytestmark = pytest.mark.slow

PHONE = {"viewport": {"width": 390, "height": 844}, "has_touch": True, "reduced_motion": "reduce"}


def active(page):
    return page.evaluate("() => document.activeElement.closest('.card')?.dataset.id")


def visible(page):
    cards = page.locator(".hits .card:visible")
    return cards.evaluate_all("all => all.map(card => Number(card.dataset.id))")


def test_large_view_walks_through_the_hits_by_keys(visitor, index):
    page = visitor.open("#/search?id=3")
    shown = visible(page)
    names = [index.get(id).file_name for id in shown]
    page.locator(".hits .card .picture").first.focus()
    page.keyboard.press("Enter")
    dialog = page.get_by_role("dialog", name=names[0])
    expect(dialog).to_be_visible()
    page.keyboard.press("ArrowLeft")  # nothing is before it
    for name in names[1:3]:
        page.keyboard.press("ArrowRight")
        expect(page.get_by_role("dialog", name=name)).to_be_visible()
    page.keyboard.press("ArrowLeft")
    expect(page.get_by_role("dialog", name=names[1])).to_be_visible()
    expect(page.locator(".viewer [role=status]")).to_have_text(f"2 of {len(shown)} pictures shown")
    for _ in range(12):  # the focus stays inside
        page.keyboard.press("Tab")
        assert page.evaluate(
            "() => document.activeElement === document.body"
            " || document.activeElement.closest('dialog') !== null"
        )
    page.keyboard.press("Escape")
    expect(page.locator(".viewer")).to_be_hidden()
    assert active(page) == str(shown[1])
    assert visitor.address() == "#/search?id=3"


def test_back_closes_the_large_view_and_similar_leaves_it(visitor):
    page = visitor.open("#/browse")
    page.locator("nav a", has_text="Search").click()
    page.locator(".samples .picture").first.click()
    page.wait_for_url("**/#/search?id=0")
    visitor.wait()
    page.locator(".hits .card .picture").first.click()
    expect(page.locator(".viewer")).to_be_visible()
    page.go_back()
    expect(page.locator(".viewer")).to_be_hidden()
    assert visitor.address() == "#/search?id=0"
    page.locator(".hits .card .picture").first.click()
    first = visible(page)[0]
    page.get_by_role("link", name="Find similar").click()
    page.wait_for_url(f"**/#/search?id={first}")
    expect(page.locator(".viewer")).to_be_hidden()
    page.go_back()
    page.wait_for_url("**/#/search?id=0")
    page.go_back()
    page.wait_for_url("**/#/search")


def test_a_file_is_downloaded_as_it_is(visitor, index, drawn, tmp_path):
    page = visitor.open("#/search?id=3")
    first = index.get(visible(page)[0]).file_name
    page.locator(".hits .card .picture").first.click()
    with page.expect_download() as download:
        page.get_by_role("link", name="Download").click()
    assert download.value.suggested_filename == first
    download.value.save_as(tmp_path / "saved")
    assert (tmp_path / "saved").read_bytes() == (drawn / first).read_bytes()


def test_paths_of_several_pictures_are_copied(visit, index):
    visitor = visit(permissions=["clipboard-read", "clipboard-write"])
    page = visitor.open("#/search?id=3")
    wanted = visible(page)[1:3]
    boxes = page.locator(".hits .pick input:visible")
    expect(boxes).to_have_count(0)
    page.get_by_role("button", name="Select", exact=True).click()
    page.get_by_role("checkbox", name=f"Select {index.get(wanted[0]).file_name}").check()
    page.locator(f'.hits [data-id="{wanted[1]}"] .picture').click()
    bar = page.get_by_role("region", name="Selection")
    expect(bar).to_contain_text("2 pictures selected")
    page.locator("nav a", has_text="Browse").click()  # the choice stays
    page.get_by_role("button", name="Copy paths").click()
    expect(bar).to_contain_text("2 paths copied")
    copied = page.evaluate("() => navigator.clipboard.readText()")
    assert copied.split("\n") == [index.get(id).file_name for id in wanted]
    page.get_by_role("button", name="Done").click()
    expect(bar).to_be_hidden()


def test_files_of_several_pictures_are_downloaded_as_a_zip(visitor, index, drawn):
    page = visitor.open("#/search?id=3")
    page.get_by_role("button", name="Select", exact=True).click()
    save = page.get_by_text("Download zip")
    expect(save).to_have_attribute("aria-disabled", "true")
    wanted = visible(page)[1:3]
    for id in wanted:
        page.locator(f'.hits [data-id="{id}"] .picture').click()
    with page.expect_download() as download:
        page.get_by_role("link", name="Download zip").click()
    assert download.value.suggested_filename == "pictures.zip"
    with zipfile.ZipFile(download.value.path()) as archive:
        assert archive.namelist() == [index.get(id).file_name for id in wanted]
        for name in archive.namelist():
            assert archive.read(name) == (drawn / name).read_bytes()


def test_a_server_without_originals_offers_no_zip(visit, index):
    with serving(index, originals=False) as (_, client):
        page = visit(str(client.base_url)).open("#/search?id=3")
        page.get_by_role("button", name="Select", exact=True).click()
        expect(page.get_by_role("button", name="Copy paths")).to_be_visible()
        expect(page.get_by_text("Download zip")).to_be_hidden()
        page.goto("about:blank")


@pytest.mark.parametrize("scheme", ["light", "dark"])
def test_large_view_and_selection_fit_a_phone(visit, scheme):
    page = visit(color_scheme=scheme, **PHONE).open("#/search?id=3")
    page.get_by_role("button", name="Select", exact=True).tap()
    page.locator(".hits .pick:visible").nth(1).tap()
    for shown in ("selection", "large view"):
        if shown == "large view":
            page.get_by_role("button", name="Done").tap()
            page.locator(".hits .card .picture").first.tap()
        assert page.evaluate("() => document.documentElement.scrollWidth") == 390, shown
        small = [one for one in page.evaluate(SMALL) if 'type="checkbox"' not in one]
        assert small == [], shown  # the label around a box is large
        for wrong in (NAMELESS, CONTRAST):
            assert page.evaluate(wrong) == [], shown


LOOKS = {"phone": PHONE, "zoomed": {"viewport": {"width": 640, "height": 400}}}


@pytest.mark.parametrize("look", LOOKS)
def test_first_hit_is_on_the_first_screen_and_skipping_leads_to_it(visit, drawn, look):
    visitor = visit(**LOOKS[look])
    page = visitor.open()
    page.set_input_files("#picture", sorted(drawn.glob("*.png"))[3])
    expect(page.locator(".query img")).to_be_visible()
    visitor.wait()
    box = page.locator(".hits .card .picture").first.bounding_box()
    assert box["y"] < 0.7 * LOOKS[look]["viewport"]["height"]
    page.locator("#skip").focus()
    page.keyboard.press("Enter")
    assert active(page) == "3"
