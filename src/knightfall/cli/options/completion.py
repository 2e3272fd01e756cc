"""What a shell may complete: only what is known without starting the compiler."""

from __future__ import annotations

from knightfall.errors import KnightfallError


def agent_names(incomplete: str) -> list[str]:
    """The course's agents, and the kinds of agents with an open bracket."""
    from knightfall.agents import AGENT_KINDS, COURSE

    known = [name for names in COURSE.values() for name in names]
    known += [name if not kind.argument else f"{name}(" for name, kind in AGENT_KINDS.items()]
    return [name for name in dict.fromkeys(known) if name.startswith(incomplete)]


def run_numbers(incomplete: str) -> list[tuple[str, str]]:
    """The runs of the user's own store, with who took part."""
    from knightfall.arena.store.store import Store
    from knightfall.cli.options.store import some

    try:
        with Store.open(read_only=True) as store:
            runs = {str(info.id): some(info.names) for info in store.runs()}
    except KnightfallError:  # there is no store yet
        return []
    return [(id, who) for id, who in runs.items() if id.startswith(incomplete)]
