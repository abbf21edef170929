"""The page's other views, and what holds for all of them: phones, keyboards, contrast, names."""

import numpy as np
import pytest
from browsing import CONTRAST, NAMELESS, SMALL, folded
from live import serving

from softhash.index import Entry, HammingIndex

api = pytest.importorskip("playwright.sync_api", reason="playwright is not installed")
expect = api.expect

VIEWS = ["", "#/search?id=3&label=sky&without=car", "#/item/3", "#/browse?label=sky", "#/quality"]
PHONE = {"viewport": {"width": 390, "height": 844}, "has_touch": True}


def test_item_shows_one_picture_and_leads_to_its_label(visitor, index):
    item = index.get(3)
    page = visitor.open("#/item/3")
    expect(page.locator("h1")).to_have_text(item.entry.file_name)
    bits = "".join(f"{byte:08b}" for byte in item.code)[: index.bits]
    page.locator(".about summary").click()
    strip = page.locator(".about .strip")
    assert strip.get_attribute("aria-label") == f"Code of {index.bits} bits: {bits}"
    assert strip.locator(".one").count() == bits.count("1")
    shown = page.locator(".similar .card").evaluate_all("all => all.map(one => one.dataset.id)")
    assert [int(id) for id in shown] == [hit.id for hit in folded(index.search(id=3, k=12))]
    label = item.entry.labels[0]
    page.locator(".about .chip", has_text=label).click()
    expect(page.locator("h1")).to_have_text("Browse")
    expect(page.locator(f'.chip[data-label="{label}"]')).to_have_attribute("aria-pressed", "true")


def test_browse_loads_all_pictures_of_a_label_page_by_page(visit, index):
    visitor = visit()
    visitor.page.route(
        "**/items?*",
        lambda route: route.continue_(url=route.request.url.replace("limit=48", "limit=9")),
    )
    page = visitor.open("#/browse?label=sky")
    wanted = [item.id for item in index.store.items() if "sky" in item.entry.labels]
    cards = page.locator(".browse .card")
    expect(cards).to_have_count(27)  # what the screen holds, and somewhat more
    page.get_by_role("button", name="More", exact=True).click()
    expect(page.locator(".summary")).to_have_text(f"{len(wanted)} pictures, all shown")
    assert [int(id) for id in cards.evaluate_all("all => all.map(one => one.dataset.id)")] == wanted


def test_quality_draws_the_report(visitor, site):
    page = visitor.open("#/quality")
    report = page.request.get(f"{site}/api/v1/report").json()
    figures = page.locator(".figures").inner_text()
    for metric, cut in (("map", "10"), ("ndcg", "all")):
        value, error = (report[name][f"{metric}@{cut}"] for name in ("metrics", "standard_errors"))
        assert f"{value:.3f} ± {error:.3f} @{cut}" in figures
    for chart in page.locator(".chart").all():
        assert chart.locator(".dot").count() == len(report["curves"]["n"])
    assert page.locator(".chart").count() == 4
    rows = page.locator(".queries .row")
    assert rows.count() == len(report["worst"]) + len(report["best"])
    assert rows.first.locator(".answers .card").count() == len(report["worst"][0]["hits"])


def test_empty_index_says_what_to_do(visit, hasher, tmp_path):
    index = HammingIndex.create(tmp_path / "index", hasher)
    with index, serving(index) as (_, client):
        visitor = visit(str(client.base_url))
        page = visitor.open()
        expect(page.locator(".empty")).to_contain_text("softhash index")
        page.locator("nav a", has_text="Browse").click()
        expect(page.locator(".empty")).to_contain_text("softhash index")
        page.locator("nav a", has_text="Quality").click()
        expect(page.locator(".empty")).to_contain_text("no item of the index has a label")
        visitor.errors.clear()  # the browser names a report that was refused


def test_names_and_labels_are_text_whatever_they_hold(visit, tmp_path):
    evil = "<img src=x onerror=alert(1)>"
    label = "a&b #1? <b>"
    index = HammingIndex.create(tmp_path / "index", bits=8)
    entries = [Entry(f"{i}{evil}", (label,) if i else ()) for i in range(3)]
    index.add_codes(np.array([[1], [3], [7]], np.uint8), entries)
    with index, serving(index) as (_, client):
        visitor = visit(str(client.base_url))
        page = visitor.open("#/search?id=0")
        page.locator(".chip", has_text=label).click()
        expect(page.locator(".hits .card")).to_have_count(2)
        visitor.open(visitor.address())
        expect(page.locator(".hits .card")).to_have_count(2)
        expect(page.locator(".query h2")).to_have_text(f"0{evil}")
        assert page.locator("main img").count() == 0
        assert page.get_by_role("button", name="By picture").count() == 0


@pytest.mark.parametrize("scheme", ["light", "dark"])
def test_page_is_named_and_has_contrast_everywhere(visit, scheme):
    visitor = visit(color_scheme=scheme)
    grounds = set()
    for view in VIEWS:
        page = visitor.open(view)
        assert page.evaluate(NAMELESS) == [], view
        assert page.evaluate(CONTRAST) == [], view
        grounds.add(page.evaluate("() => getComputedStyle(document.body).backgroundColor"))
    (ground,) = grounds
    brightness = sum(int(part) for part in ground[4:-1].split(","))
    assert brightness > 600 if scheme == "light" else brightness < 150


def test_page_fits_a_phone(visit):
    visitor = visit(**PHONE)
    for view in VIEWS:
        page = visitor.open(view)
        page.evaluate(
            "() => document.querySelectorAll('details').forEach((d) => { d.open = true; })"
        )
        assert page.evaluate("() => document.documentElement.scrollWidth") == 390, view
        assert page.evaluate(SMALL) == [], view
    page = visitor.open(VIEWS[1])
    tops = page.locator(".hits .card:visible .picture").evaluate_all(
        "all => all.slice(0, 3).map(one => one.getBoundingClientRect().top)"
    )
    assert tops[0] == tops[1] < tops[2]  # two columns


def tab_to(page, selector):
    for _ in range(80):
        page.keyboard.press("Tab")
        if page.evaluate("wanted => document.activeElement.matches(wanted)", selector):
            return
    raise AssertionError(f"{selector} cannot be reached with the Tab key")


def test_page_works_with_the_keyboard_alone(visitor, drawn):
    # Early, since the browser takes a moment until it tells instead of asking.
    visitor.page.on("filechooser", lambda chooser: None)
    page = visitor.open()
    tab_to(page, ".dropzone button")
    with page.expect_file_chooser() as chooser:
        page.keyboard.press("Enter")
    chooser.value.set_files(sorted(drawn.glob("*.png"))[3])
    expect(page.locator(".hits h1")).to_be_visible()
    tab_to(page, '.chip[data-label="sky"]')
    page.keyboard.press("Enter")
    expect(page.locator('.chip[data-label="sky"]')).to_have_attribute("aria-pressed", "true")
    visitor.wait()
    assert page.evaluate("() => document.activeElement.dataset.label") == "sky"
    tab_to(page, ".card .action")
    page.keyboard.press("Enter")
    page.wait_for_url("**/#/search?id=*label=sky")
    visitor.wait()
    assert page.evaluate("() => document.activeElement.id") == "main"


@pytest.mark.parametrize("scheme", ["light", "dark"])
def test_the_finer_order_can_be_chosen_on_a_phone(visit, drawn, scheme):
    visitor = visit(color_scheme=scheme, **PHONE)
    page = visitor.open()
    page.set_input_files("#picture", sorted(drawn.glob("*.png"))[3])
    page.locator("summary", has_text="Filters").click()
    page.get_by_text("Finer order").tap()
    expect(page.get_by_role("checkbox", name="Finer order")).to_be_checked()
    page.locator(".details summary").click()
    expect(page.locator(".weighed").first).to_be_visible()
    visitor.wait()
    assert page.evaluate("() => document.documentElement.scrollWidth") == 390
    for wrong in (SMALL, NAMELESS, CONTRAST):
        assert page.evaluate(wrong) == []
