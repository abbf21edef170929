"""Write the page of a collection: ``python -m tools.comparison docs/results/coco --title COCO``."""

import argparse
import sys
from pathlib import Path

from tools.comparison.page import PAGE, write_page

from softhash import SofthashError


def main(arguments: list[str]) -> int | str:
    """Write the page of the folder that is named."""
    parser = argparse.ArgumentParser(description=(__doc__ or "").partition(":")[0])
    parser.add_argument("folder", type=Path, help="with frozen-common.jsonl")
    parser.add_argument("--title", required=True, help="the collection's name")
    parser.add_argument("--paper", default="", help="the paper's name of the data set")
    given = parser.parse_args(arguments)
    try:
        write_page(given.folder, given.title, given.paper)
    except SofthashError as error:
        return f"error: {error}"
    print(given.folder / PAGE)
    return 0


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
