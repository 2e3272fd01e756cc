"""``python -m knightfall`` is the command line."""

from __future__ import annotations

from knightfall.cli import main

if __name__ == "__main__":
    main()
