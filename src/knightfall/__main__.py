"""Run the command line by ``python -m knightfall``."""

try:
    from knightfall.cli import main

    if __name__ == "__main__":
        main()
except KeyboardInterrupt:  # before `main` has installed its handler
    raise SystemExit(130) from None
