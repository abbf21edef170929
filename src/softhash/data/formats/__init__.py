"""Readers of labelled collections: one layout per file."""

from softhash.data.formats.layouts import FORMATS, describe, detect, list_options, read

__all__ = ["FORMATS", "describe", "detect", "list_options", "read"]
