"""The routes: one topic per file."""
