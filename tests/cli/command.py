"""The command, run as a person runs it."""

import subprocess
import sys


def run(*arguments, **options):
    """Run ``softhash`` in a process of its own, and return what it printed and its exit code."""
    return subprocess.run(
        [sys.executable, "-m", "softhash", *map(str, arguments)],
        capture_output=True,
        text=True,
        timeout=300,
        **options,
    )
