"""A small index of drawn pictures, and clients of its server."""

import pytest
from browsing import Visitor, chromium
from live import serving
from serving import TOKEN, open_client

from softhash.data import scenes
from softhash.data.image_set import ImageSet
from softhash.index import HammingIndex
from softhash.model.hasher import Hasher


@pytest.fixture(scope="session")
def hasher(tiny_model):
    return Hasher.load(tiny_model)


@pytest.fixture(scope="session")
def drawn(tmp_path_factory):
    """The folder of 40 scenes; not to be written to."""
    folder = tmp_path_factory.mktemp("server") / "photos"
    scenes.write(folder, count=40, size=96, workers=1)
    return folder


def filled(hasher, folder, place):
    index = HammingIndex.create(place, hasher)
    index.add(ImageSet.read(folder), device="cpu")
    return index


@pytest.fixture(scope="module")
def index(hasher, drawn, tmp_path_factory):
    with filled(hasher, drawn, tmp_path_factory.mktemp("served") / "index") as index:
        yield index


@pytest.fixture(scope="module")
def client(index):
    with open_client(index) as client:
        yield client


@pytest.fixture
def writable(hasher, tmp_path):
    """An index of six scenes that may be changed, in a folder of its own."""
    scenes.write(tmp_path / "photos", count=6, size=64, workers=1)
    with filled(hasher, tmp_path / "photos", tmp_path / "index") as index:
        yield index


@pytest.fixture
def writer(writable):
    """A client with the right token."""
    with open_client(writable, writable=True, token=TOKEN) as client:
        client.headers["Authorization"] = f"Bearer {TOKEN}"
        yield client


@pytest.fixture(scope="module")
def browser():
    """One browser a file: while it runs, nothing else can start an event loop."""
    with chromium() as browser:
        yield browser


@pytest.fixture(scope="module")
def site(index):
    """The address of a real server of the index."""
    with serving(index) as (_, client):
        yield str(client.base_url)


@pytest.fixture
def visit(browser, site):
    """Make visitors; in the end none of them may have met an error or left the site."""
    visitors = []

    def visit(url=site, **look):
        visitors.append(Visitor(browser, url, **look))
        return visitors[-1]

    yield visit
    for one in visitors:
        one.context.close()
        assert not one.errors
        assert not one.left


@pytest.fixture
def visitor(visit):
    return visit()
