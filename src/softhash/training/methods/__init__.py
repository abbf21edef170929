"""Hashing methods by name: one paper per file."""

from softhash.training.methods.method import Line, Method, Shallow
from softhash.training.methods.registry import (
    METHODS,
    create,
    describe,
    find_method,
    is_shallow,
    method_class,
    unsupervised_methods,
)

__all__ = [
    "METHODS",
    "Line",
    "Method",
    "Shallow",
    "create",
    "describe",
    "find_method",
    "is_shallow",
    "method_class",
    "unsupervised_methods",
]
