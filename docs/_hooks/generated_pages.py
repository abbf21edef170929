"""The hook of mkdocs: pages made from the code, and links to files of the repository.

Nothing that these pages show is written twice, so nothing can go stale: a key, an option or a route
that is added appears with the next build.
"""

from pathlib import Path
from typing import Any

from api_page import api_page
from commands_page import commands_page
from errors_page import errors_page
from http_page import http_page
from recipes_page import recipes_page
from repository_links import rewrite

GENERATED = {
    "reference/api.md": api_page,
    "reference/commands.md": commands_page,
    "reference/recipes.md": recipes_page,
    "reference/http.md": http_page,
    "reference/errors.md": errors_page,
}
SHOWN = {  # files beside the documentation
    "recipes/paper/README.md": "reference/paper-recipes.md",
    "SECURITY.md": "reference/security.md",
}


def on_files(files: Any, config: Any) -> Any:
    """Add the generated pages, and those that show a file of the repository."""
    from mkdocs.exceptions import PluginError
    from mkdocs.structure.files import File

    root = Path(config["docs_dir"]).parent
    try:
        pages = {path: page() for path, page in GENERATED.items()}
    except ValueError as error:  # something public that nobody explained
        raise PluginError(str(error)) from error
    pages |= {path: (root / name).read_text(encoding="utf-8") for name, path in SHOWN.items()}
    for path, content in pages.items():
        files.append(File.generated(config, path, content=content))
    return files


def on_page_markdown(markdown: str, page: Any, config: Any, **_: Any) -> str:
    """Rewrite links that lead out of the documentation."""
    shown = {path: name for name, path in SHOWN.items()}
    source = shown.get(page.file.src_uri, f"docs/{page.file.src_uri}")
    return rewrite(markdown, source, Path(config["docs_dir"]).parent, SHOWN)
