"""From a folder to pixels: collections, splits, decoding."""
