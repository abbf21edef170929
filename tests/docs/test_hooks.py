from pathlib import Path

import pytest
from repository_links import rewrite

PAGES = {"recipes/README.md": "reference/recipes.md"}


@pytest.fixture
def repository(tmp_path: Path) -> Path:
    """Make a repository with a page and two files beside the documentation."""
    for name in ("docs/how-to/train.md", "recipes/README.md", "recipes/a.toml"):
        (tmp_path / name).parent.mkdir(parents=True, exist_ok=True)
        (tmp_path / name).touch()
    return tmp_path


@pytest.mark.parametrize(
    ("source", "link", "expected"),
    [
        (
            "docs/how-to/train.md",
            "[a](../../recipes/README.md#x)",
            "[a](../reference/recipes.md#x)",
        ),
        ("docs/how-to/train.md", "[a](../../recipes/a.toml)", "a"),
        ("docs/how-to/train.md", "[a](../../recipes/b.toml)", "[a](../../recipes/b.toml)"),
        ("docs/how-to/train.md", "[a](../index.md)", "[a](../index.md)"),
        ("docs/how-to/train.md", "[a](https://example.org/x)", "[a](https://example.org/x)"),
        ("docs/how-to/train.md", "![a](../images/a.png)", "![a](../images/a.png)"),
        ("recipes/README.md", "[a](../docs/how-to/train.md)", "[a](../how-to/train.md)"),
    ],
    ids=["page", "file", "nothing", "inside", "elsewhere", "picture", "from outside"],
)
def test_links_that_leave_the_documentation_lead_to_pages_or_become_text(
    repository, source, link, expected
):
    assert rewrite(link, source, repository, PAGES) == expected


def test_examples_of_docstrings_become_blocks_of_code():
    pytest.importorskip("griffe", reason="griffe is not installed")
    from doctest_blocks import fenced

    docstring = "Add.\n\n>>> 1 + 1\n2\n\nMore.\n\n    >>> 3\n    3"
    assert fenced(docstring).splitlines() == [
        "Add.", "", "```python", ">>> 1 + 1", "2", "```", "", "More.", "",
        "    ```python", "    >>> 3", "    3", "    ```",
    ]  # fmt: skip


def test_a_public_name_without_a_docstring_stops_the_build(monkeypatch):
    import api_page

    assert "::: softhash.Hasher" in api_page.api_page()
    monkeypatch.setattr(api_page, "undocumented", lambda: ["Hasher.encode"])
    with pytest.raises(ValueError, match=r"without a docstring: Hasher\.encode"):
        api_page.api_page()


def test_every_page_that_is_generated_says_whom_it_is_for():
    from generated_pages import GENERATED

    for path, page in GENERATED.items():
        lines = page().splitlines()
        assert lines[0].startswith("# "), path
        assert lines[2].startswith("For those who "), path
