"""Write requirements.lock: every package that CI installs, with the SHA-256 of its file.

::

    python tools/lock.py

It asks pip what it would install for `constraints.txt`, all extras and the development groups, and
what building softhash needs. The hashes are those of one platform: Linux on x86-64 with the Python
that runs this. `.ci/run` installs from it; `make` elsewhere takes `constraints.txt` alone.
"""

import json
import subprocess
import sys
import tempfile
import tomllib
from pathlib import Path
from typing import Any

ROOT = Path(__file__).parents[1]
LOCK = ROOT / "requirements.lock"
HEADER = """\
# Written by tools/lock.py: what CI installs, by SHA-256.
# Python {python}, Linux on x86-64, torch for processors.
"""


def resolve() -> list[dict[str, Any]]:
    """Return what pip would install into an empty environment."""
    project = tomllib.loads((ROOT / "pyproject.toml").read_text())
    build = project["build-system"]["requires"]
    with tempfile.TemporaryDirectory() as folder:
        report = Path(folder, "report.json")
        subprocess.run(  # noqa: S603 (fixed words)
            [
                *(sys.executable, "-m", "pip", "install", "--dry-run", "--ignore-installed"),
                *("--quiet", "--report", str(report), "-c", "constraints.txt"),
                *("-e", ".[all]", "--group", "dev", "editables", "pip", *build),
            ],
            cwd=ROOT,
            check=True,
        )
        found: list[dict[str, Any]] = json.loads(report.read_text())["install"]
    return found


def locked(found: list[dict[str, Any]]) -> list[str]:
    """Return one line per package, in the form that `pip install --require-hashes` reads."""
    lines = []
    for one in found:
        hashes = one["download_info"].get("archive_info", {}).get("hashes", {})
        if not one["download_info"].get("dir_info", {}).get("editable"):
            name, version = one["metadata"]["name"].lower(), one["metadata"]["version"]
            lines.append(f"{name}=={version} --hash=sha256:{hashes['sha256']}")
    return sorted(lines)


def main() -> None:
    """Write the file."""
    lines = locked(resolve())
    python = ".".join(map(str, sys.version_info[:2]))
    LOCK.write_text(HEADER.format(python=python) + "\n".join(lines) + "\n")
    print(f"{LOCK.name}: {len(lines)} packages")


if __name__ == "__main__":
    main()
