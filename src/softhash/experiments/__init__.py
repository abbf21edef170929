"""Grids of recipes on one split, their rows of results, and what the paper printed."""
