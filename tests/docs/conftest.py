"""The pages of the documentation, and the code that generates some of them."""

import sys
from pathlib import Path

ROOT = Path(__file__).parents[2]
sys.path.append(str(ROOT / "docs" / "_hooks"))
