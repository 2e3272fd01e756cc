"""The command line: a module per topic; each command imports its rooms only when run."""

from __future__ import annotations

import sys


def main() -> None:
    """Run the command line; the console script's entry point."""
    try:
        # Before anything else is imported, so that even an early Ctrl-C ends quietly.
        from knightfall.isolation import sigint

        sigint.exit_on_sigint()
        from knightfall.cli.app import app
        from knightfall.cli.terminal import close_output, tolerate_any_stream

        tolerate_any_stream()
        try:
            app(prog_name="knightfall")
        except SystemExit as exit:
            # Or Ctrl-C would be a traceback while the interpreter winds up.
            sigint.exit_on_sigint_again()
            code = close_output(exit)
            if code == sigint.INTERRUPTED:
                sigint.exit_interrupted()
            sys.exit(code)
    except KeyboardInterrupt:
        sys.exit(130)
