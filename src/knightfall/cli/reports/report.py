"""What a run says, in words or as JSON: the end of every run, and ``knightfall show``."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from knightfall.cli.screen.output import number, print_json
from knightfall.errors import KnightfallError

if TYPE_CHECKING:
    from knightfall.arena.results.standings import Row
    from knightfall.arena.results.tallies import Effort, Results
    from knightfall.arena.store.run import Run


def print_report(run: Run, *, json: bool) -> None:
    """Print the report of a run, finished or not."""
    from knightfall.arena.results.tallies import results
    from knightfall.cli.reports import league as report_league
    from knightfall.cli.reports import match as report_match
    from knightfall.cli.reports import tournament as report_tournament
    from knightfall.cli.reports import worth as report_worth

    kinds: dict[str, Any] = {
        "tournament": report_tournament,
        "match": report_match,
        "league": report_league,
        "worth": report_worth,
    }
    found = results(run)
    report = kinds[run.plan.kind]
    if json:
        print_json(heading_json(found) | report.to_json(found))
    else:
        report.print_text(found)


def heading_json(found: Results) -> dict[str, Any]:
    """What every report begins with."""
    run, plan = found.run, found.run.plan
    return {
        "run": run.id,
        "kind": plan.kind,
        "pairs": found.played,
        "planned": plan.total,
        "finished": run.finished is not None,
        "repeats": sum(match.repeats for match in found.matches),
        "board": plan.board,
        "seed": plan.seed,
        "outcome": run.outcome,
    }


def heading(found: Results) -> str:
    """The same as a line for people."""
    run, plan = found.run, found.run.plan
    where = "a book" if plan.book else plan.board.replace("x", "×")
    games = 2 * found.played
    parts = [f"run {run.id}: {games:,} {'game' if games == 1 else 'games'} on {where}"]
    parts.append(f"seed {plan.seed}")
    if plan.options.get("given_budget"):
        parts.append(f"all who deepen get {plan.options['given_budget']}")
    if not run.finished:
        parts.append(f"unfinished, {2 * plan.total:,} planned")
    repeats = sum(match.repeats for match in found.matches)
    if repeats:
        parts.append(f"{2 * repeats:,} games were repeated move for move and are counted only once")
    return " · ".join(parts)


def row_json(row: Row) -> dict[str, Any]:
    """An entrant's figures."""
    fared, effort = row.fared, row.fared.effort
    return {
        "name": row.name,
        "agent": row.agent,
        "games": fared.total.games,
        "won": fared.total.won,
        "lost": fared.total.lost,
        "pairs": list(row.pairs),
        "rate": row.rate,
        "low": row.low,
        "high": row.high,
        "elo": number(row.elo),
        "elo_error": number(row.elo_error),
        "as_first": fared.first.share,
        "as_second": fared.second.share,
        "as_hunter": fared.hunter.share,
        "as_runner": fared.runner.share,
        "losses": dict(fared.losses),
        "mean_depth": effort.mean_depth,
        "mean_nodes": effort.mean_nodes,
        "mean_microseconds": effort.mean_microseconds,
    }


# -- words and figures -----------------------------------------------------------------------


def percent(share: float | None) -> str:
    """A share as a percentage."""
    return "–" if share is None else f"{100 * share:.1f} %"


def between(low: float, high: float) -> str:
    """An interval of shares."""
    return f"{100 * low:.1f}–{100 * high:.1f}"


def signed(value: float, digits: int = 0) -> str:
    """A number with its sign, as a typesetter writes it; ∞ where there is no end."""
    if value in (float("inf"), float("-inf")):
        return "+∞" if value > 0 else "−∞"
    text = f"{value:+.{digits}f}"
    if float(text) == 0:
        text = text.lstrip("+-")
    return text.replace("-", "−")


BOUNDLESS = 2500.0
"""An error in Elo from which on there is no knowing: agents that never met, say."""


def plus_minus(value: float, error: float, digits: int = 0) -> str:
    """A value with its error."""
    if error >= BOUNDLESS:
        return f"{signed(value, digits)} ± ∞"
    return f"{signed(value, digits)} ± {error:.{digits}f}"


def one_decimal(value: float | None) -> str:
    """A mean, or a dash."""
    return "–" if value is None else f"{value:,.1f}"


def losses(row: Row) -> str:
    """The reasons of lost games, the ordinary one first."""
    from knightfall.arena.game.records import REASONS

    parts = [f"{row.fared.losses[why]} {why}" for why in REASONS if row.fared.losses.get(why)]
    return ", ".join(parts) or "none"


def searched(effort: Effort) -> str:
    """How deep and how much, for those who search at all."""
    if not effort.nodes:
        return ""
    depth, nodes = one_decimal(effort.mean_depth), one_decimal(effort.mean_nodes)
    return f"depth {depth}, {nodes} nodes a move; "


def accidents(found: Results) -> list[str]:
    """For each entrant that lost otherwise than on the board: why, and a game to look at."""
    lines = []
    for place, entrant in enumerate(found.entrants):
        losses = found.entrant(place).losses
        for reason in sorted(set(losses) - {"no moves"}):
            game = next(iter(found.run.games(lost_by=[place], reason=reason, limit=1)), None)
            if game is None:
                continue
            detail = found.run.pair(game.pair).games[game.game].detail
            said = f"first: {detail}; " if detail else ""
            lines.append(
                f"{entrant.name} lost by: {losses[reason]:,} {reason} "
                f"({said}knightfall replay {game.id})"
            )
    return lines


def short_names(agents: list[str], names: list[str]) -> list[str]:
    """Names for narrow columns: the heuristic alone where nothing else tells agents apart."""
    from knightfall.agents import parse_agent

    try:
        parsed = [parse_agent(agent) for agent in agents]
    except KnightfallError:  # a heuristic that only another process knows
        return names
    spelt = [agent for agent, name in zip(parsed, names, strict=True) if "(" in name]
    alike = len({(agent.kind, agent.budget, agent.plain, agent.seed) for agent in spelt}) == 1
    short = []
    for agent, name in zip(parsed, names, strict=True):
        if "(" not in name:
            short.append(name.rpartition(":")[2])
        elif alike and agent.heuristic:
            short.append(agent.heuristic.rpartition("/")[2])
        else:
            short.append(name)
    return [one if short.count(one) == 1 else name for one, name in zip(short, names, strict=True)]
