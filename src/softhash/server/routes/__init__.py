"""The routes: one topic a file."""
