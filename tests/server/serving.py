"""What the tests of the server share."""

import io
import warnings
from contextlib import contextmanager

from PIL import Image

from softhash.server import create_app

with warnings.catch_warnings():  # it would rather have another client than httpx
    warnings.simplefilter("ignore")
    from fastapi.testclient import TestClient

TOKEN = "right-0123456789"  # noqa: S105


@contextmanager
def open_client(index, **options):
    """A client of an application that runs in this process."""
    with TestClient(create_app(index, **options)) as client:
        yield client


def jpeg(width=64, height=48, colour=(200, 60, 20), **options):
    """The bytes of a JPEG in one colour."""
    file = io.BytesIO()
    Image.new("RGB", (width, height), colour).save(file, options.pop("format", "JPEG"), **options)
    return file.getvalue()


def is_problem(answer, status, kind=None):
    """Assert that an answer is a problem as RFC 9457 has it."""
    assert answer.status_code == status, answer.text
    assert answer.headers["content-type"] == "application/problem+json"
    told = answer.json()
    assert {"type", "title", "status", "detail", "hint"} <= set(told)
    assert told["status"] == status
    if kind:
        assert told["type"] == f"urn:softhash:problem:{kind}"
    return told
