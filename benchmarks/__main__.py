"""``python -m benchmarks``: run the benchmarks from a checkout."""

from __future__ import annotations

import argparse
import sys

from knightfall.errors import KnightfallError

from .run import main, show_names


def command(arguments: list[str]) -> None:
    """Read the command line and run or list the benchmarks it names."""
    reads = argparse.ArgumentParser(
        prog="python -m benchmarks",
        description="Node counts that must not change, and speed as ratios within one run.",
    )
    which = reads.add_mutually_exclusive_group()
    which.add_argument(
        "--only", metavar="NAME", action="append", help="run this one; may be repeated"
    )
    which.add_argument("--all", action="store_true", help="also run those that take minutes")
    which.add_argument("--list", action="store_true", help="list the names and run nothing")
    reads.add_argument("--json", action="store_true", help="print JSON, for scripts")
    given = reads.parse_args(arguments)
    if given.list:
        show_names(json=given.json)
        return
    try:
        main(json=given.json, only=given.only, everything=given.all)
    except KnightfallError as error:
        reads.error(str(error))


if __name__ == "__main__":
    command(sys.argv[1:])
