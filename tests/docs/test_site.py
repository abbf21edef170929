"""The site is built strictly: a dead link, a page outside the navigation or a warning fails."""

import re
import subprocess
import sys
from pathlib import Path

import pytest

import softhash

ROOT = Path(__file__).parents[2]
pytest.importorskip("mkdocs", reason="mkdocs is not installed")
pytest.importorskip("mkdocstrings", reason="mkdocstrings is not installed")


@pytest.fixture(scope="module")
def site(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Build the site."""
    folder = tmp_path_factory.mktemp("site")
    command = [sys.executable, "-m", "mkdocs", "build", "--strict", "--site-dir", str(folder)]
    done = subprocess.run(command, cwd=ROOT, capture_output=True, text=True)
    assert done.returncode == 0, done.stderr
    return folder


def test_every_public_name_is_on_the_page_of_the_api(site):
    text = (site / "reference" / "api" / "index.html").read_text(encoding="utf-8")
    missing = [name for name in softhash.__all__ if f'id="softhash.{name}"' not in text]
    assert missing == []


def test_generated_pages_show_what_the_code_defines(site):
    def page(name: str) -> str:
        return (site / "reference" / name / "index.html").read_text(encoding="utf-8")

    assert "--max-distance" in page("commands")
    assert "batch_size" in page("recipes")
    assert "/api/v1/search" in page("http")
    assert "InputError" in page("errors")


def test_pages_load_nothing_from_elsewhere(site):
    remote = re.compile(r"<(?:script|link|img|iframe)\b[^>]*(?:src|href)=[\"']?(https?:[^\"' >]+)")
    found = {
        (path.relative_to(site).as_posix(), address)
        for path in site.rglob("*.html")
        for address in remote.findall(path.read_text(encoding="utf-8"))
    }
    assert found == set()
