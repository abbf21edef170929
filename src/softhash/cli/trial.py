"""``softhash try``: a folder of pictures on the search page, and nothing kept of it."""

import os
import signal
import sys
from collections.abc import Mapping
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from softhash.cli._output import say
from softhash.errors import InputError

if TYPE_CHECKING:
    from softhash.data.image_set import ImageSet
    from softhash.index import HammingIndex
    from softhash.index.encoding import KnownFeatures

MOST = 2000  # pictures: about a minute on two cores
ENDING = ("SIGTERM", "SIGHUP")  # signals that end a command, beside Ctrl-C


def try_folder(
    images: Annotated[str, typer.Argument(help="A folder, a table, or `scenes`.")],
    count: Annotated[int, typer.Option(help="Index up to so many pictures.", min=1)] = MOST,
    browser: Annotated[
        bool, typer.Option("--browser/--no-browser", help="Open the page, or print its address.")
    ] = True,
    port: Annotated[int, typer.Option(help="Port of the page; 0 for a free one.")] = 0,
) -> None:
    """Look at a folder on the search page, until Ctrl-C; the index is removed at the end."""
    import tempfile

    from softhash.cli._collection import read_collection
    from softhash.cli._models import first_look
    from softhash.index import HammingIndex
    from softhash.server.start import check_extra

    check_extra()  # before pictures are encoded
    _end_as_ctrl_c_does()
    chosen = _choose(read_collection(images), count)
    with tempfile.TemporaryDirectory(prefix="softhash-try-", ignore_cleanup_errors=True) as folder:
        look = first_look(chosen, engine="auto")
        with HammingIndex.create(Path(folder) / "index", look.hasher) as index:
            _fill(index, chosen, look.features)
            ended = _serve(index, port, browser=browser and can_open_browser())
        say(f"the index is removed; `softhash index {images}` makes one that is kept")
    if not ended:  # Python would wait for threads that still decode, and they cannot be stopped
        sys.stderr.flush()
        os._exit(0)


def can_open_browser(environ: Mapping[str, str] = os.environ, platform: str = sys.platform) -> bool:
    """Return whether a browser would open in a window: not in the terminal, nor far away.

    >>> can_open_browser({"DISPLAY": ":0"}, "linux"), can_open_browser({}, "linux")
    (True, False)
    >>> can_open_browser({"SSH_CONNECTION": "…"}, "darwin")
    False
    """
    if environ.get("SSH_CONNECTION"):
        return False
    has_screen = environ.get("DISPLAY") or environ.get("WAYLAND_DISPLAY") or environ.get("BROWSER")
    return platform in ("darwin", "win32") or bool(has_screen)


def _choose(images: "ImageSet", count: int) -> "ImageSet":
    from softhash.index.first_look import choose_evenly

    if len(images) <= count:
        return images
    chosen = images.select(choose_evenly(images.file_names, count))
    folders = len({name.rpartition("/")[0] for name in images.file_names})
    say(
        f"{len(chosen):,} of {len(images):,} pictures, chosen evenly over {folders:,} "
        f"{'folder' if folders == 1 else 'folders'}; --count takes more"
    )
    return chosen


def _fill(index: "HammingIndex", images: "ImageSet", features: "KnownFeatures") -> None:
    from softhash.cli._collection import warn_skipped
    from softhash.cli._progress import show_progress

    with show_progress("encoding", "pictures") as progress:
        summary = index.update(images, features=features, progress=progress)
    warn_skipped(summary.broken, images.skipped)
    if not len(index):
        raise InputError(f"none of the {len(images):,} pictures can be read", "give another folder")
    say(f"{len(index):,} pictures are indexed, in {summary.seconds:,.1f} s")


def _serve(index: "HammingIndex", port: int, *, browser: bool) -> bool:
    """Serve the page until Ctrl-C, and return whether all work has ended."""
    from softhash.server import serve

    def open_page(address: str) -> None:
        import threading
        import webbrowser

        if browser:  # which may take its time
            threading.Thread(target=webbrowser.open, args=(address,), daemon=True).start()
        else:
            say("open this address in a browser")
        say("Ctrl-C ends it and removes the index; your pictures stay as they are")

    return serve(index, port=port, on_listening=open_page)


def _end_as_ctrl_c_does() -> None:
    """Have a closed terminal, or a signal to end, remove the index too."""
    for name in ENDING:
        if hasattr(signal, name):  # of this system
            signal.signal(getattr(signal, name), lambda *_: signal.raise_signal(signal.SIGINT))
