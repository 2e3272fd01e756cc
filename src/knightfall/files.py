"""Where knightfall keeps what belongs to the user."""

from __future__ import annotations

import os
from pathlib import Path


def data_folder() -> Path:
    """The user's data folder; KNIGHTFALL_DATA_DIR moves it.  It need not exist yet."""
    override = os.environ.get("KNIGHTFALL_DATA_DIR")
    if override:
        return Path(override).absolute()
    from platformdirs import user_data_path

    return user_data_path("knightfall")
