"""Hashing methods by name: one paper per file."""

from softhash.training.methods.method import Method, Shallow
from softhash.training.methods.registry import METHODS, create, describe, method_class

__all__ = ["METHODS", "Method", "Shallow", "create", "describe", "method_class"]
