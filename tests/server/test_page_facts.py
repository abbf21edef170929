"""Dates, cameras, places and folders on the page: what is shown, and what can be asked for."""

import re

import pytest
from browsing import CONTRAST, NAMELESS, SMALL
from PIL import Image
from serving import jpeg

from softhash.data.image_set import ImageSet
from softhash.index import HammingIndex

api = pytest.importorskip("playwright.sync_api", reason="playwright is not installed")
expect = api.expect

pytestmark = pytest.mark.slow

PHONE = {"viewport": {"width": 390, "height": 844}, "has_touch": True, "reduced_motion": "reduce"}
PLACE = {1: "N", 2: (48.0, 12.0, 30.6), 3: "E", 4: (16.0, 22.0, 19.5)}


def photograph(colour, taken, model, place=None):
    data = Image.Exif()
    data[0x110] = model
    data.get_ifd(0x8769)[0x9003] = taken
    if place:
        data.get_ifd(0x8825).update(place)
    return jpeg(colour=colour, exif=data.tobytes())


@pytest.fixture(scope="module")
def index(hasher, tmp_path_factory):
    folder = tmp_path_factory.mktemp("facts")
    files = {
        "2024/Italy/a.jpg": photograph((200, 60, 20), "2024:05:17 14:03:22", "NIKON D90", PLACE),
        "2024/b.jpg": photograph((20, 60, 200), "2024:05:18 00:00:00", "X100"),
        "2023/c.jpg": photograph((20, 200, 20), "2023:01:01 10:00:00", "X100"),
        "d.jpg": jpeg(colour=(9, 9, 9)),
    }
    for name, data in files.items():
        (folder / "photos" / name).parent.mkdir(parents=True, exist_ok=True)
        (folder / "photos" / name).write_bytes(data)
    with HammingIndex.create(folder / "index", hasher) as index:
        index.add(ImageSet.read(folder / "photos"), device="cpu")
        yield index


def id_of(index, name):
    return next(item.id for item in index.store.items() if item.file_name == name)


def names(visitor, index):
    return sorted(index.get(id).file_name for id in visitor.hits())


def facts(page, within):
    parts = page.locator(f"{within} .known > div")
    return dict(zip(*(parts.locator(tag).all_inner_texts() for tag in ("dt", "dd")), strict=True))


def test_item_and_large_view_show_when_where_and_by_which_camera(visit, index):
    visitor = visit(permissions=["clipboard-read", "clipboard-write"])
    id = id_of(index, "2024/Italy/a.jpg")
    page = visitor.open(f"#/item/{id}")
    for within in (".about", ".viewer"):
        if within == ".viewer":
            visitor.open("#/browse")
            page.locator(f'.card[data-id="{id}"] .picture').click()
        shown = facts(page, within)
        assert shown["Taken"] == "17 May 2024 at 14:03"
        assert (shown["Camera"], shown["Folder"]) == ("NIKON D90", "2024/Italy")
        assert shown["Place"].split("\n")[0].strip() == "48.20850, 16.37208"
        page.locator(within).get_by_role("button", name="Copy the place").click()
        expect(page.locator(within).get_by_text("Copied")).to_be_visible()
        assert page.evaluate("() => navigator.clipboard.readText()") == "48.20850, 16.37208"
    page.locator(".viewer").get_by_role("link", name="NIKON D90").click()
    page.wait_for_url("**/#/browse?camera=NIKON+D90")
    expect(page.locator(".viewer")).to_be_hidden()
    expect(page.locator(".browse .card")).to_have_count(1)


def test_a_picture_of_which_nothing_is_known_shows_nothing(visitor, index):
    page = visitor.open(f"#/item/{id_of(index, 'd.jpg')}")
    assert page.locator(".known").count() == 0


def test_a_search_is_narrowed_by_dates_with_both_ends(visitor, index):
    page = visitor.open(f"#/search?id={id_of(index, 'd.jpg')}")
    page.get_by_label("Taken from").fill("2024-05-17")
    page.wait_for_url(re.compile("from=2024-05-17"))
    visitor.wait()
    assert names(visitor, index) == ["2024/Italy/a.jpg", "2024/b.jpg"]
    page.get_by_label("to", exact=True).fill("2024-05-17")  # that day counts
    page.wait_for_url(re.compile("to=2024-05-17"))
    visitor.wait()
    assert names(visitor, index) == ["2024/Italy/a.jpg"]
    expect(page.locator(".active")).to_contain_text("taken from 2024-05-17 to 2024-05-17")
    visitor.open(visitor.address())
    assert names(visitor, index) == ["2024/Italy/a.jpg"]
    expect(page.get_by_label("Taken from")).to_have_value("2024-05-17")
    page.get_by_role("button", name="Clear filters").click()
    visitor.wait()
    assert len(visitor.hits()) == 3


def test_a_search_is_narrowed_by_camera_and_folder_and_says_when_nothing_is_left(visitor, index):
    page = visitor.open(f"#/search?id={id_of(index, 'd.jpg')}")
    page.get_by_label("Camera").fill("x1")
    page.get_by_label("Camera").press("Enter")
    page.wait_for_url(re.compile("camera=x1"))
    visitor.wait()
    assert names(visitor, index) == ["2023/c.jpg", "2024/b.jpg"]
    page.get_by_label("Folder").select_option(label="2024 (2)")
    page.wait_for_url(re.compile("folder=2024"))
    visitor.wait()
    assert names(visitor, index) == ["2024/b.jpg"]
    expect(page.locator(".active")).to_contain_text("in 2024 · by a camera “x1”")
    page.get_by_label("Folder").select_option(label="2024/Italy (1)")
    expect(page.locator(".empty")).to_contain_text("No picture is from there and then")
    page.locator(".empty").get_by_role("button").click()
    expect(page.locator(".empty")).to_have_count(0)
    assert len(visitor.hits()) == 3


def test_dates_still_apply_to_another_picture(visitor, index):
    page = visitor.open(f"#/search?id={id_of(index, 'd.jpg')}&from=2024-01-01")
    picture = {"name": "red.jpg", "mimeType": "image/jpeg", "buffer": jpeg()}
    page.set_input_files("#picture", picture)
    expect(page.locator(".active")).to_contain_text("Your filters still apply: taken from 2024")
    visitor.wait()
    assert names(visitor, index) == ["2024/Italy/a.jpg", "2024/b.jpg"]


def test_browsing_is_narrowed_by_dates(visitor):
    page = visitor.open("#/browse?from=2023-01-01&to=2023-12-31")
    expect(page.locator(".summary")).to_have_text("1 picture, all shown")
    expect(page.locator(".active")).to_contain_text("taken from 2023-01-01 to 2023-12-31")
    page.locator(".filters summary").first.click()
    expect(page.get_by_label("Taken from")).to_have_value("2023-01-01")
    page.get_by_role("button", name="Clear filters").click()
    expect(page.locator(".summary")).to_have_text("4 pictures, all shown")


@pytest.mark.parametrize("scheme", ["light", "dark"])
def test_dates_and_places_fit_a_phone(visit, index, scheme):
    visitor = visit(color_scheme=scheme, **PHONE)
    id = id_of(index, "2024/Italy/a.jpg")
    for view in (f"#/item/{id}", f"#/search?id={id}&from=2020-01-01&camera=x", "#/browse?camera=x"):
        page = visitor.open(view)
        page.locator("details").evaluate_all("all => all.forEach((one) => { one.open = true; })")
        assert page.evaluate("() => document.documentElement.scrollWidth") == 390, view
        for wrong in (SMALL, NAMELESS, CONTRAST):
            assert page.evaluate(wrong) == [], view


def test_an_index_without_dates_offers_no_dates(visit, index):
    visitor = visit()
    visitor.page.route(
        re.compile(r"items\?(taken_after|camera)="),
        lambda route: route.fulfill(json={"items": [], "next": None, "total": 0}),
    )
    page = visitor.open(f"#/search?id={id_of(index, 'd.jpg')}")
    expect(page.get_by_label("Folder")).to_be_visible()
    for label in ("Taken from", "Camera"):
        expect(page.get_by_label(label)).to_be_hidden()
