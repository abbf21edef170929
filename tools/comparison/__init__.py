"""The page that compares every method on a collection under the same recipes."""
