"""``python -m softhash`` is ``softhash``."""

from softhash.cli import main

if __name__ == "__main__":
    main()
