"""The ``softhash`` command. One file a command; heavy imports happen inside them.

Data goes to stdout, everything else to stderr. Exit codes: 0 done, 1 failed, 2 usage,
130 interrupted.
"""

from softhash.cli._app import main

__all__ = ["main"]
