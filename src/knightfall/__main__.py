"""``python -m knightfall`` is the command line."""

try:
    from knightfall.cli import main

    if __name__ == "__main__":
        main()
except KeyboardInterrupt:  # before `main` could see to it
    raise SystemExit(130) from None
