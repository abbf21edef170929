"""What the page sends of a picture, and what it says of filters that stay."""

import base64
import io
import re

import numpy as np
import pytest
from browsing import fetched, folded
from PIL import Image

api = pytest.importorskip("playwright.sync_api", reason="playwright is not installed")
expect = api.expect

pytestmark = pytest.mark.slow


def photo(width, height, orientation):
    """A noisy JPEG whose upper left quarter is red, with an orientation in its EXIF."""
    noise = np.random.default_rng(0).integers(0, 90, (height, width, 3), np.uint8)
    noise[: height // 2, : width // 2, 0] = 255
    exif = Image.Exif()
    exif[0x0112] = orientation
    file = io.BytesIO()
    Image.fromarray(noise).save(file, "JPEG", quality=95, exif=exif)
    return file.getvalue()


# What is sent as `image` is kept, since the browser does not show large bodies.
KEEP = """() => {
    const real = window.fetch;
    window.fetch = (to, options) => {
        const image = options?.body?.get?.("image");
        if (image && !window.sent) window.sent = image;
        return real(to, options);
    };
}"""
READ = """async () => {
    const reader = new FileReader();
    reader.readAsDataURL(window.sent);
    await new Promise((done) => { reader.onload = done; });
    return reader.result.split(",")[1];
}"""


def sent_by(page, data, name="big.jpg", kind="image/jpeg"):
    """The picture that is sent when a file is handed to the page."""
    page.evaluate(KEEP)
    page.set_input_files("#picture", {"name": name, "mimeType": kind, "buffer": data})
    page.wait_for_function("() => window.sent")
    return base64.b64decode(page.evaluate(READ))


def test_a_large_picture_is_sent_small_and_upright(visitor):
    data = photo(2400, 1600, orientation=6)  # to be turned clockwise
    sent = sent_by(visitor.open(), data)
    assert len(sent) < len(data) / 3
    picture = Image.open(io.BytesIO(sent))
    assert (picture.format, picture.size) == ("JPEG", (683, 1024))
    assert picture.getpixel((600, 100))[0] > 200  # the red quarter is on the right
    assert picture.getpixel((100, 100))[0] < 120
    expect(visitor.page.locator(".hits .card").first).to_be_visible()


def test_a_picture_that_the_browser_cannot_read_is_sent_as_it_is(visitor):
    data = b"II*\0" + bytes(500_000)
    page = visitor.open()
    assert sent_by(page, data, "scan.tiff", "image/tiff") == data
    expect(page.locator("#notice")).to_be_visible()
    visitor.errors.clear()  # the server refused it


def test_own_file_is_the_first_hit_though_it_was_sent_small(visitor, index, drawn):
    path = drawn / index.get(9).file_name
    visitor.page.route(
        "**/scaling.js",
        lambda route: route.fulfill(
            response=(answer := route.fetch()),
            body=answer.text().replace("400_000", "0").replace("1024", "64"),
        ),
    )
    page = visitor.open()
    assert sent_by(page, path.read_bytes(), path.name, "image/png") != path.read_bytes()
    expect(page.locator(".hits .card .alike").first).to_have_text("the same file")
    assert visitor.hits()[0] == 9
    assert page.locator(".query .tags li").all_inner_texts() == list(index.get(9).entry.labels)


def test_filters_that_stay_for_another_picture_are_said(visitor, index, drawn):
    page = visitor.open("#/search?id=3&label=sky&without=car")
    expect(page.locator(".active")).to_have_text(
        re.compile("Only pictures: with sky · without car")
    )
    page.set_input_files("#picture", sorted(drawn.glob("*.png"))[4])
    expect(page.locator(".active")).to_contain_text("Your filters still apply: with sky")
    page.get_by_role("button", name="Clear filters").click()
    expect(page.locator(".active")).to_be_hidden()
    assert "label" not in visitor.address()


def test_labels_are_asked_for_together_or_one_by_one_or_by_logic(visitor, index):
    page = visitor.open("#/search?id=3")
    mode = page.get_by_role("radiogroup", name="Pictures with")
    expect(mode).to_be_hidden()
    for label in ("sky", "tree"):
        page.locator(f'.filters .chip[data-label="{label}"]').click()
        visitor.wait()
    right = fetched(index, id=3, labels=["sky", "tree"])
    assert visitor.hits() == [hit.id for hit in folded(right)]
    page.get_by_label("all of them").check()
    page.wait_for_url(re.compile("all=1"))
    visitor.wait()
    right = fetched(index, id=3, where="sky & tree")
    assert visitor.hits() == [hit.id for hit in folded(right)]
    page.get_by_role("button", name="Clear labels").click()
    page.get_by_text("And, or, not").click()
    page.get_by_label("Labels with &").fill("sky & (boat | sun) & !tree")
    page.get_by_label("Labels with &").press("Enter")
    page.wait_for_url(re.compile("where="))
    visitor.wait()
    right = fetched(index, id=3, where="sky & (boat | sun) & !tree")
    assert right
    assert visitor.hits() == [hit.id for hit in folded(right)]
