"""Links of a page to files of the repository that are not part of the site.

On a code host such links work as they are. On the site, a link to a file that has a page becomes a
link to that page, and a link to any other existing file becomes its text. A link to nothing is left
as it is: the build then stops at it.
"""

import re
from collections.abc import Mapping
from pathlib import Path, PurePosixPath
from posixpath import normpath, relpath

_LINK = re.compile(r"(?<!!)\[(?P<text>[^\]]*)\]\((?P<to>[^)\s#]+)(?P<at>#[^)\s]*)?\)")


def rewrite(markdown: str, source: str, root: Path, pages: Mapping[str, str]) -> str:
    """Rewrite the links of a page that lead out of the documentation, or into it from outside.

    Args:
        markdown: the page.
        source: the path of its file within the repository.
        root: the folder of the repository.
        pages: pages of the site by the path, within the repository, of the file they show.

    """
    page = _page(source, pages) or source

    def replaced(link: re.Match[str]) -> str:
        if ":" in link["to"] or link["to"].startswith("/"):
            return link[0]
        target = normpath(f"{PurePosixPath(source).parent}/{link['to']}")
        shown = _page(target, pages)
        if shown:
            to = relpath(shown, str(PurePosixPath(page).parent))
            return f"[{link['text']}]({to}{link['at'] or ''})"
        return link["text"] if (root / target).exists() else link[0]

    return _LINK.sub(replaced, markdown)


def _page(path: str, pages: Mapping[str, str]) -> str:
    """Return the page that shows a file of the repository, empty where there is none."""
    return pages.get(path) or (path.removeprefix("docs/") if path.startswith("docs/") else "")
