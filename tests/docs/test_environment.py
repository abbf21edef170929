import re
from pathlib import Path

ROOT = Path(__file__).parents[2]
PAGE = ROOT / "docs" / "reference" / "environment.md"
READS = re.compile(r"environ|envvar|getenv")
NAME = re.compile(r"[\"']([A-Z][A-Z0-9_]{2,})[\"']")


def variables_read() -> set[str]:
    """Return the names in capitals on lines of the source that read the environment."""
    return {
        name
        for path in (ROOT / "src").rglob("*.py")
        for line in path.read_text(encoding="utf-8").splitlines()
        if READS.search(line)
        for name in NAME.findall(line)
    }


def test_every_environment_variable_that_is_read_is_documented():
    text = PAGE.read_text(encoding="utf-8")
    found = variables_read()
    assert {"SOFTHASH_TOKEN", "XDG_CACHE_HOME", "TMUX"} <= found
    assert [name for name in sorted(found) if f"`{name}`" not in text] == []
