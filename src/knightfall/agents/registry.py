"""All kinds of agents by name: the core's, and those that extensions add."""

from __future__ import annotations

from collections.abc import Iterator, Mapping

from knightfall.agents.base import Agent
from knightfall.agents.kinds import CORE_KINDS
from knightfall.extensions import added, load_added


class AgentKinds(Mapping[str, type[Agent]]):
    """The classes of agents by kind; extensions are looked for only where the core has none."""

    def __getitem__(self, kind: str) -> type[Agent]:
        if kind in CORE_KINDS:
            return CORE_KINDS[kind]
        found: type[Agent] = load_added("agents", kind)
        return found

    def __contains__(self, kind: object) -> bool:
        return kind in CORE_KINDS or (kind in added("agents") and "(" not in str(kind))

    def __iter__(self) -> Iterator[str]:
        yield from CORE_KINDS
        yield from (kind for kind in added("agents") if "(" not in kind)

    def __len__(self) -> int:
        return sum(1 for _ in self)

    def with_arguments(self, kind: str, arguments: list[str]) -> type[Agent]:
        """Return the class of a kind whose string holds some arguments: perhaps a variant of it."""
        usual = self[kind]
        rest = arguments[1:] if usual.argument else arguments
        if any("=" not in argument and argument not in usual.words for argument in rest):
            for word in variant_words(kind):
                if word in rest:
                    found: type[Agent] = load_added("agents", f"{kind}({word})")
                    return found
        return usual


def variant_words(kind: str) -> tuple[str, ...]:
    """Return the words that make a string of a kind one of a variant that an extension adds."""
    variants = (key.partition("(") for key in added("agents") if "(" in key)
    return tuple(word.rstrip(")") for of, _, word in variants if of == kind)


AGENT_KINDS = AgentKinds()
