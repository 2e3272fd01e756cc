"""What every report on a run has in common."""

from __future__ import annotations

from abc import abstractmethod
from collections import Counter
from collections.abc import Iterable, Iterator, Sequence
from functools import cached_property
from typing import TYPE_CHECKING, Any, ClassVar

from knightfall.agents import spelling, submissions, timing, without_folder
from knightfall.arena.plan import REASONS
from knightfall.arena.results import Rated, Results, Standing, outcomes_of, rated, results
from knightfall.display.numbers import count, for_json, mean
from knightfall.display.report import Displayable, Part

if TYPE_CHECKING:
    from matplotlib.figure import Figure

    from knightfall.arena.plan import Entrant, Plan
    from knightfall.arena.results import Effort
    from knightfall.arena.run_loop import Scoreboard
    from knightfall.arena.store import Run


MOST_NAMED = 5
"""Submissions of a run that are named with their paths."""

FEW_LATE, SHARE_LATE = 3, 0.01
"""Games lost to the wall clock, or the share of all, up to which an agent's results are judged."""


class RunReport(Displayable):
    """A run, finished or not, as of the moment the report was made.

    `interrupted` tells that Ctrl-C came before the end; the same call goes on from there if the
    run is stored.
    """

    kind: ClassVar[str]

    def __init__(self, run: Run, *, interrupted: bool = False) -> None:
        self.results: Results = results(run)
        self.interrupted = interrupted
        self.commands = True
        """Whether it names commands of the command line that would tell more."""

    @property
    def run(self) -> Run:
        """The run in its store."""
        return self.results.run

    @property
    def plan(self) -> Plan:
        """What was to be played."""
        return self.run.plan

    @property
    def finished(self) -> bool:
        """Whether all was played that was to be, or a rule ended it sooner."""
        return self.run.finished is not None

    @cached_property
    def ratings(self) -> Rated:
        """Bradley and Terry's ratings of all entrants."""
        return rated(self.plan, outcomes_of(self.run))

    # -- what it says ----------------------------------------------------------------------

    @abstractmethod
    def body(self) -> Iterable[Part]:
        """What comes after the heading."""

    @abstractmethod
    def body_dict(self) -> dict[str, Any]:
        """The same as plain values."""

    @staticmethod
    @abstractmethod
    def live(board: Scoreboard) -> Iterable[Part]:
        """What is shown while a run goes on."""

    def parts(self) -> Iterator[Part]:
        """See `Displayable`."""
        yield self._heading()
        yield from self._submissions()
        yield ""
        nothing = self.nothing_measured()
        if nothing:
            yield from self.accidents()
            yield ""
            yield nothing
            return
        yield from self.body()

    def to_dict(self) -> dict[str, Any]:
        """See `Displayable`."""
        found, plan = self.results, self.plan
        return {
            "run": self.run.id,
            "kind": plan.kind,
            "pairs": found.played,
            "planned": plan.total,
            "finished": self.finished,
            "repeats": found.repeats,
            "board": plan.board,
            "submissions": [
                one._asdict() for one in submissions(entrant.agent for entrant in plan.entrants)
            ],
            "seed": plan.seed,
            "outcome": self.run.outcome,
            "nothing_measured": bool(self.nothing_measured()),
            "no_verdict": self.no_verdict,
            **self.body_dict(),
        }

    def plot(self, kind: str | None = None) -> Figure:
        """A chart of the run; `kind` says which where several fit."""
        from knightfall.arena.charts import checked, draw

        return draw(checked(self.results, kind)[0], self.results)

    # -- parts of it -----------------------------------------------------------------------

    def _heading(self) -> str:
        found, plan = self.results, self.plan
        where = "a book" if plan.book else plan.board.replace("x", "×")
        run = "" if self.run.file.in_memory else f"run {self.run.id}: "
        parts = [f"{run}{count(2 * found.played, 'game')} on {where}"]
        parts.append(f"seed {plan.seed}")
        if plan.options.get("given_budget"):
            parts.append(f"all who deepen get {plan.options['given_budget']}")
        if not self.finished:
            parts.append("unfinished" if plan.stop else f"unfinished, {2 * plan.total:,} planned")
        if found.repeats:
            games = count(2 * found.repeats, "game")
            parts.append(f"{games} were repeated move for move and are counted only once")
        return " · ".join(parts)

    def _submissions(self) -> Iterator[str]:
        """Name the submissions that play under other names than their paths."""
        found = submissions(
            entrant.agent for entrant in self.plan.entrants if entrant.name != entrant.agent
        )
        yield from map(str, found[:MOST_NAMED])
        if len(found) > MOST_NAMED:
            yield f"and {count(len(found) - MOST_NAMED, 'more submission')}"

    def accidents(self) -> Iterator[str]:
        """For each entrant that lost otherwise than on the board: why, and a game to look at."""
        found = self.results
        for place, entrant in enumerate(found.entrants):
            losses = found.entrant(place).losses
            for reason in sorted(set(losses) - {"no moves"}):
                game = next(iter(self.run.games(lost_by=[place], reason=reason, limit=1)), None)
                if game is None:
                    continue
                detail = self.run.pair(game.pair).games[game.game].detail
                more = [f"first: {detail}"] if detail else []
                if self.commands and not self.run.file.in_memory:
                    more.append(f"knightfall replay {game.id}")
                told = f" ({'; '.join(more)})" if more else ""
                yield f"{entrant.name} lost by: {losses[reason]:,} {reason}{told}"

    @cached_property
    def no_verdict(self) -> str:
        """Return why nothing is concluded: too many games lost to the wall clock; "" if not."""
        late: list[str] = []
        kinds: set[str] = set()
        for place, entrant in enumerate(self.results.entrants):
            clock, fared = timing(entrant.agent), self.results.entrant(place)
            lost, games = fared.losses.get("timeout", 0), fared.total.games
            if clock and clock.clock == "wall" and too_late(lost, games):
                late.append(f"{entrant.name} lost {lost:,} of {count(games, 'game')} to the clock")
                kinds.add((spelling(entrant.agent) or ("",))[0])
        return no_verdict(late, ticks=kinds == {"course"})

    def nothing_measured(self) -> str:
        """Return a sentence if no game came to its ordinary end, so that nothing can be counted."""
        ways = self._ways_lost
        if not ways or "no moves" in ways:
            return ""
        return f"Every game was lost by {' or '.join(ways)}: nothing was measured."

    @property
    def broken(self) -> bool:
        """Return whether no game came to its end, and none was given up: nobody played."""
        ways = self._ways_lost
        return bool(ways) and not {"no moves", "forfeit"} & set(ways)

    @property
    def _ways_lost(self) -> list[str]:
        lost = Counter[str]()
        for match in self.results.matches:
            lost.update(match.of_a.losses)
            lost.update(match.of_b.losses)
        return [reason for reason in REASONS if reason in lost]


def too_late(lost: int, games: int) -> bool:
    """Return whether so many games lost to the wall clock spoil an agent's results."""
    return lost > max(FEW_LATE, SHARE_LATE * games)


def no_verdict(late: Sequence[str], *, ticks: bool) -> str:
    """Return the sentence in a verdict's place, from what each late agent lost; "" if none was."""
    if not late:
        return ""
    instead = "play on an idle machine"
    if ticks:
        instead += ", or with --clock ticks (clock=ticks in an agent), by which results repeat"
    return (
        f"No verdict: {'; '.join(late)}. Such results depend on what else the machine did: "
        f"{instead}."
    )


def entrant_dict(row: Standing) -> dict[str, Any]:
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
        "elo": for_json(row.elo),
        "elo_error": for_json(row.elo_error),
        "as_first": fared.first.share,
        "as_second": fared.second.share,
        "as_hunter": fared.hunter.share,
        "as_runner": fared.runner.share,
        "losses": dict(fared.losses),
        "mean_depth": effort.mean_depth,
        "mean_nodes": effort.mean_nodes,
        "mean_microseconds": effort.mean_microseconds,
    }


def losses(row: Standing) -> str:
    """The reasons of lost games, the ordinary one first."""
    parts = [f"{row.fared.losses[why]} {why}" for why in REASONS if row.fared.losses.get(why)]
    return ", ".join(parts) or "none"


def searched(effort: Effort) -> str:
    """How deep and how much, for those who search at all."""
    if not effort.nodes:
        return ""
    return f"depth {mean(effort.mean_depth)}, {mean(effort.mean_nodes)} nodes a move; "


def short_names(entrants: Sequence[Entrant]) -> list[str]:
    """Return names for narrow columns: the heuristic alone where all search with one alike."""
    names = [entrant.name for entrant in entrants]
    spelled = [spelling(entrant.agent) for entrant in entrants]
    alike = len({(how[0], how[2]) for how in spelled if how and how[1]}) == 1
    short = []
    for how, name in zip(spelled, names, strict=True):
        if "(" not in name:
            short.append(name.rpartition(":")[2])
        elif alike and how and how[1]:
            short.append(without_folder(how[1]))
        else:
            short.append(name)
    return [one if short.count(one) == 1 else name for one, name in zip(short, names, strict=True)]
