"""An index behind HTTP: a page for people, an API for programs; needs the extra `serve`."""

from softhash.server.limits import Limits
from softhash.server.start import create_app, serve

__all__ = ["Limits", "create_app", "serve"]
