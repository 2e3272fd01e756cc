"""A user's file loaded where nothing is lost: `python -m knightfall.load_trial FILE`."""

from __future__ import annotations

import sys
from pathlib import Path

from knightfall.apart import quietly, tell
from knightfall.user_files import try_to_load

if __name__ == "__main__":
    out = quietly()
    tell(out, try_to_load(Path(sys.argv[1])))
