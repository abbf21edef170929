"""A real browser on the page: Debian's or anybody's Chromium, without a window."""

import base64
import shutil
from contextlib import contextmanager
from dataclasses import replace

import numpy as np
import pytest

from softhash.data.image_set import ImageSet
from softhash.index import HammingIndex
from softhash.model.hasher import Hasher
from softhash.model.sureness import Sureness

CHROMIUM = shutil.which("chromium") or shutil.which("chromium-browser")
# A browser of its own accord asks servers for updates and lists; none of that belongs in a test.
ARGUMENTS = [
    "--no-sandbox",
    "--disable-gpu",
    "--disable-quic",
    "--no-first-run",
    "--disable-background-networking",
    "--disable-component-update",
    "--disable-sync",
]
PAGE = 24
READY = "main:not([aria-busy]) > :not([hidden])"


@contextmanager
def chromium():
    """Start a browser; skip where there is none."""
    api = pytest.importorskip("playwright.sync_api", reason="playwright is not installed")
    if CHROMIUM is None:
        pytest.skip("chromium is not installed")
    with api.sync_playwright() as playwright:
        browser = playwright.chromium.launch(executable_path=CHROMIUM, args=ARGUMENTS)
        try:
            yield browser
        finally:
            browser.close()


class Visitor:
    """Somebody on the page, who notices every request that leaves it and every error."""

    def __init__(self, browser, url, **look):
        self.url = url
        self.left, self.errors = [], []
        self.context = browser.new_context(**{"viewport": {"width": 1280, "height": 900}, **look})
        self.page = self.context.new_page()
        self.page.set_default_timeout(20_000)
        self.context.on("request", self._watch)
        self.page.on("console", lambda told: told.type == "error" and self.errors.append(told.text))
        self.page.on("pageerror", lambda error: self.errors.append(str(error)))

    def _watch(self, request):
        if not request.url.startswith((self.url, "blob:", "data:", "about:")):
            self.left.append(request.url)

    def open(self, state=""):
        self.page.goto("about:blank")  # or else a change of the state alone would load nothing
        self.page.goto(f"{self.url}/{state}")
        self.wait()
        return self.page

    def wait(self):
        self.page.locator(READY).first.wait_for(state="attached")

    def hits(self):
        """Ids of the shown pictures, those that are folded away included."""
        cards = self.page.locator(".hits .card")
        return [int(id) for id in cards.evaluate_all("all => all.map(card => card.dataset.id)")]

    def address(self):
        return self.page.evaluate("() => location.hash")


@contextmanager
def index_with_words(model, photos, place):
    """An index whose model finds labels likely, and knows how sure a hit is."""
    hasher = Hasher.load(model)
    sureness = Sureness(np.array([1.0, -3.0, 0.8, 0.5]))
    hasher.label_classifier = replace(hasher.label_classifier, sureness=sureness)
    with HammingIndex.create(place, hasher) as index:
        index.add(ImageSet.read(photos), device="cpu")
        yield index


def percent(probability):
    """A probability as the page writes it."""
    return ">99 %" if probability > 0.99 else f"{100 * probability:.0f} %"


def folded(hits):
    """Hits in the order of the page: those with one code together."""
    codes = list(dict.fromkeys(hit.code for hit in hits))
    return sorted(hits, key=lambda hit: codes.index(hit.code))


def fetched(index, *picture, **query):
    """What the page fetches: further hits until 24 are not folded, four times at most."""
    hits = []
    for more in (PAGE, PAGE, 2 * PAGE, 4 * PAGE):
        found = list(index.search(*picture, k=more, offset=len(hits), **query))
        hits += found
        if len(found) < more or len({(hit.code, hit.rescored) for hit in hits}) >= PAGE:
            break
    return hits


def own_first(own, ids):
    """The same ids, with that of the query's own file in front where it is among them."""
    return sorted(ids, key=lambda id: id != own)


def hand_over(page, event, name, data, kind="image/jpeg"):
    """Paste or drop a file, as far as a script can."""
    page.evaluate(
        """([event, name, text, type]) => {
            const bytes = Uint8Array.from(atob(text), (one) => one.charCodeAt(0));
            const carried = new DataTransfer();
            carried.items.add(new File([bytes], name, { type }));
            const options = { bubbles: true, cancelable: true };
            document.body.dispatchEvent(event === "paste"
                ? new ClipboardEvent(event, { ...options, clipboardData: carried })
                : new DragEvent(event, { ...options, dataTransfer: carried }));
        }""",
        [event, name, base64.b64encode(data).decode(), kind],
    )


# Scripts that walk over what is visible, and name what is wrong with it.
_WALK = """
    const seen = (one) => !one.closest(".unseen")
        && one.checkVisibility({ visibilityProperty: true, contentVisibilityAuto: true });
    const told = (one) => one.outerHTML.slice(0, 120);
"""

NAMELESS = f"""() => {{ {_WALK}
    const named = (one) => (one.getAttribute("aria-label") ?? "").trim() || one.labels?.length
        || (one.alt ?? "").trim() || one.innerText?.trim()
        || one.querySelector("img[alt]:not([alt=''])");
    const all = document.querySelectorAll("button, a, input, summary, img, svg, [role=img]");
    return [...all].filter((one) => seen(one) && !named(one) && one.ariaHidden !== "true"
        && !one.closest(".brand")).map(told);
}}"""

SMALL = f"""() => {{ {_WALK}
    return [...document.querySelectorAll("button, a, input, summary")].filter(seen)
        .filter((one) => !one.matches(".skip"))
        .filter((one) => one.getBoundingClientRect().height < 40).map(told);
}}"""

CONTRAST = f"""() => {{ {_WALK}
    const parts = (colour) => colour.match(/[\\d.]+/g).map(Number);
    const light = (colour) => parts(colour).slice(0, 3)
        .map((c) => c / 255).map((c) => c <= 0.03928 ? c / 12.92 : ((c + 0.055) / 1.055) ** 2.4)
        .reduce((sum, c, i) => sum + c * [0.2126, 0.7152, 0.0722][i], 0);
    const ground = (one) => {{
        const colour = getComputedStyle(one).backgroundColor;
        return parts(colour)[3] === 0 ? ground(one.parentElement) : colour;
    }};
    const ratio = (a, b) => (Math.max(a, b) + 0.05) / (Math.min(a, b) + 0.05);
    const texts = [...document.querySelectorAll("body *")].filter((one) => seen(one)
        && [...one.childNodes].some((node) => node.nodeType === 3 && node.data.trim()));
    return texts.filter((one) => !one.matches(".skip, script, noscript")).map((one) => {{
        const ink = getComputedStyle(one)[one.matches("svg *") ? "fill" : "color"];
        return [ratio(light(ink), light(ground(one))).toFixed(2), told(one)];
    }}).filter(([value]) => value < 4.5);
}}"""
