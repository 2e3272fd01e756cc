"""The options of commands that can draw what they tell."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated

import typer

Chart = Annotated[
    Path | None,
    typer.Option(
        "--chart",
        metavar="FILE",
        help="Draw it there; the name ends in .svg, .png or .pdf.",
        show_default=False,
    ),
]
Force = Annotated[bool, typer.Option("--force", help="Replace a chart that exists.")]
