"""The command line: a module per topic; a command imports the packages it needs when it runs."""

from __future__ import annotations

import sys


def main() -> None:
    """Run the command line and exit; the entry point of the console script."""
    try:
        # First of all imports, so that even an early Ctrl-C ends without a traceback.
        from knightfall.isolation import sigint

        sigint.exit_on_sigint()
        import gc

        # Importing Numba makes many objects and hardly any garbage, and with Python's threshold
        # collecting takes an eighth of the time in which a command starts.
        gc.set_threshold(100_000)
        from knightfall.cli.app import app
        from knightfall.cli.terminal import close_output, tolerate_any_stream

        tolerate_any_stream()
        try:
            app(prog_name="knightfall")
        except SystemExit as exit:
            # Otherwise Ctrl-C would print a traceback while the interpreter shuts down.
            sigint.exit_on_sigint_again()
            code = close_output(exit)
            if code == sigint.INTERRUPTED:
                sigint.exit_interrupted()
            sys.exit(code)
    except KeyboardInterrupt:
        sys.exit(130)
