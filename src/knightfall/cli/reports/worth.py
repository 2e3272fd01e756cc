"""The report of what a heuristic is worth: a line per budget, and the answer in two sentences."""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Sequence
from typing import TYPE_CHECKING, Any

from knightfall.cli.reports.report import between, heading, one_decimal, percent, plus_minus
from knightfall.cli.screen.output import columns, console, number, print_table

if TYPE_CHECKING:
    from rich.table import Table

    from knightfall.arena.plan.plan import Plan
    from knightfall.arena.results.tallies import Effort, EntrantResult, MatchResult, Results
    from knightfall.arena.worth.worth import Level, Overall
    from knightfall.statistics.pairs import Verdict


def so_far(plan: Plan, counts: Sequence[Sequence[int]]) -> Table:
    """The win rates while the run goes on."""
    from knightfall.arena.worth.worth import levels

    table = columns("Budget", "Won", "95 % interval")
    for level in levels(plan):
        verdict = _verdict(counts[level.match])
        table.add_row(level.text, percent(verdict.score), between(verdict.low, verdict.high))
    return table


def to_json(found: Results) -> dict[str, Any]:
    """The report for scripts."""
    from knightfall.arena.worth import worth

    plan = found.run.plan
    return {
        "a": plan.options["a"],
        "b": plan.options["b"],
        "budgets": [_level_json(found, level) for level in worth.levels(plan)],
        "equal_nodes": _overall_json(worth.overall(found, "nodes")),
        "equal_time": _overall_json(worth.overall(found, "time")),
        "price": worth.price(found),
        "words": words(found),
    }


def _level_json(found: Results, level: Level) -> dict[str, Any]:
    match = found.matches[level.match]
    verdict = _verdict(match.pairs)
    return {
        "budget": level.text,
        "equal": level.measure,
        "amount": level.amount,
        "pairs": list(match.pairs),
        "rate": verdict.score,
        "low": verdict.low,
        "high": verdict.high,
        "elo": number(verdict.elo),
        "elo_error": number(verdict.elo_error),
        "agents": [
            {
                "agent": found.entrants[entrant].agent,
                "mean_nodes": fared.effort.mean_nodes,
                "mean_depth": fared.effort.mean_depth,
                "mean_microseconds": fared.effort.mean_microseconds,
                "losses": dict(fared.losses),
            }
            for entrant, fared in ((match.a, match.of_a), (match.b, match.of_b))
        ],
    }


def _overall_json(overall: Overall | None) -> dict[str, Any] | None:
    if overall is None:
        return None
    return {
        "openings": overall.openings,
        "rate": overall.rate,
        "low": overall.low,
        "high": overall.high,
    }


def print_text(found: Results) -> None:
    """The report for people."""
    from knightfall.arena.worth.worth import levels

    plan = found.run.plan
    a, b = plan.options["a"], plan.options["b"]
    screen = console()
    screen.print(heading(found), soft_wrap=True)
    screen.print()
    screen.print(f"{a} against {b}; of two numbers the first is that of {a}", soft_wrap=True)
    table = columns("Equal", "Won", "95 % interval", "Elo", "nodes a move", "depth", "µs a move")
    for column in table.columns[1:]:
        column.justify = "right"
    for level in levels(plan):
        table.add_row(*_line(level, found.matches[level.match]))
    print_table(table)
    for line in _unusual(found):
        screen.print(line, soft_wrap=True)
    screen.print()
    for sentence in words(found):
        screen.print(sentence, soft_wrap=True)


def _line(level: Level, match: MatchResult) -> list[str]:
    verdict = _verdict(match.pairs)

    def both(figure: Callable[[Effort], float | None]) -> str:
        efforts = match.of_a.effort, match.of_b.effort
        return " / ".join(one_decimal(figure(effort)) for effort in efforts)

    return [
        level.text,
        percent(verdict.score),
        between(verdict.low, verdict.high),
        plus_minus(verdict.elo, verdict.elo_error),
        both(lambda effort: effort.mean_nodes),
        both(lambda effort: effort.mean_depth),
        both(lambda effort: effort.mean_microseconds),
    ]


def _unusual(found: Results) -> list[str]:
    """Games lost in other ways than by having no move."""

    def lost(name: str, fared: Callable[[MatchResult], EntrantResult]) -> str:
        reasons = sum((Counter(fared(match).losses) for match in found.matches), Counter[str]())
        del reasons["no moves"]
        told = ", ".join(f"{count:,} by {why}" for why, count in sorted(reasons.items()))
        return f"{name} lost {told}" if told else ""

    options = found.run.plan.options
    of_a, of_b = lost(options["a"], lambda m: m.of_a), lost(options["b"], lambda m: m.of_b)
    return [line for line in (of_a, of_b) if line]


# -- the answer --------------------------------------------------------------------------------


def words(found: Results) -> list[str]:
    """What it comes to, decided by the intervals over all budgets; open where they are."""
    from knightfall.arena.worth import worth

    at_nodes, at_time = worth.overall(found, "nodes"), worth.overall(found, "time")
    played = at_nodes or at_time
    if played is None or not played.openings:
        return ["No opening has been played with every budget yet."]
    options = found.run.plan.options
    a, b = options["a"], options["b"]
    sentences = []
    if at_nodes is not None:
        judges = {1: "it judges better", -1: "it judges worse", 0: _open(at_nodes)}
        sentences.append(f"At equal nodes {a} wins {_rate(at_nodes)}: {judges[at_nodes.sign]}.")
    price = worth.price(found)
    cost = "" if price is None else f"A node costs {a} {_times(price, b)}"
    if at_time is None:
        return [*sentences, f"{cost}; equal time was not played."] if cost else sentences
    value = _value(at_time, 0 if at_nodes is None else at_nodes.sign, price)
    paid = ", after paying for that," if price is not None and price > ABOUT else ""
    sentences.append(f"{cost}; at equal time{paid} it wins {_rate(at_time)}: {value}.")
    return sentences


def _value(at_time: Overall, judgement: int, price: float | None) -> str:
    dearer = price is not None and price > ABOUT
    if at_time.sign > 0:
        return "it is worth its cost" if dearer else "it is better"
    if at_time.sign < 0:
        return "it is not worth its cost" if dearer and judgement >= 0 else "it is worse"
    return _open(at_time)


ABOUT = 1.05
"""Costs that differ by less are about the same."""


def _times(price: float, other: str) -> str:
    if 1 / ABOUT <= price <= ABOUT:
        return f"about as much time as {other}"
    digits = 0 if price >= 10 else 1 if price > 1 else 2
    return f"{price:,.{digits}f} times as much time as {other}"


def _rate(overall: Overall) -> str:
    return f"{percent(overall.rate)} ({between(overall.low, overall.high)})"


def _open(overall: Overall) -> str:
    openings = f"{overall.openings:,} {'opening' if overall.openings == 1 else 'openings'}"
    return f"{openings} cannot tell that from 50 %"


def _verdict(pairs: Sequence[int]) -> Verdict:
    from knightfall.statistics.pairs import of_pairs

    lost, split, won = pairs
    return of_pairs((lost, 0, split, 0, won))
