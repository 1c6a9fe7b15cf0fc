"""An evaluation: what is to be played, and playing it so that it can be interrupted."""

from __future__ import annotations

import time
from collections.abc import Iterable, Iterator
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any, Literal

import numpy as np
from rich.progress import Progress

from prefa_env.doors import Episode, find_game
from prefa_env.prefa import Rules
from prefa_env.prefa.rules import MOST_SHOWN

from . import provenance
from .agent import Agent
from .analysis import timing
from .arena import Arena
from .benchmarks import SeedSet, benchmark_hash
from .cli import Names
from .composite import combine
from .designs import (
    Matchup,
    balanced_sample,
    copies_against_one,
    everyone,
    league,
    one_against_copies,
)
from .folder import FolderError
from .journal import JOURNAL, SETUP, Journal
from .lots import AgentError
from .played import Played
from .ratings import check_openskill
from .records import RecordWriter
from .registry import make_agent
from .statistics import FIRST_LOOK, deals_until
from .tally import Tally, summarise
from .workers import one_thread

_MOST_DEALS = 200
"""Of a match, if nothing else is said: many times the usual."""

_USUAL_LENGTH = 34
"""Deals of a match of rule players with the default rules, on average."""

CHECK_EVERY = 100
"""Deals between looks at an interval that is to become narrow enough."""


@dataclass(frozen=True)
class EvaluateConfig:
    """What is played, by whom, and where the results go."""

    game: str = "prefa"
    """Name of the game."""
    design: Literal["xyy", "xxy", "cross", "trio", "league"] = "xyy"
    """Who sits where: `xyy` a candidate among copies of a field agent; `xxy` copies of a candidate
    against one field agent; `cross` as xyy, also with only the bidding or only the cards of the
    candidate; `trio` as many candidates as seats, in all seatings; `league` all candidates in all
    choices and seatings."""
    candidates: Names = Names(("heuristic",))  # noqa: RUF009 (a tuple)
    """Who is measured: specs of agents separated by commas; a name or the path of a checkpoint."""
    fields: Names = Names(("uniform",))  # noqa: RUF009
    """Against whom: specs as well; `trio` and `league` do not need any."""
    episode: Episode = "deal"
    """What is played: single deals, or whole matches, each of which then stands for a deal below;
    what counts is what a player has won at the end of one."""
    deals: int = 3000
    """Deals, at least 2; every match-up plays the same cards in all its seatings."""
    max_deals: int | None = None
    """Deals after which a match ends unfinished, and the kassas that are left are counted; 200 if
    not given."""
    until: float | None = None
    """Stop a match-up when its 95 % interval is no wider than this either way; `deals` at most."""
    sample: int | None = None
    """In a league, about how many match-ups play each deal; all of them if not given."""
    seeds: str = "select-v1"
    """Name of the set of deals; the same name gives the same deals to everyone."""
    examine: int = 100
    """First deals of each match-up that are compared with open cards: calibration and regret. Of
    matches as many as usually have so many deals."""
    timed: int = 5
    """Deals in which every agent's moves are timed one by one beforehand."""
    out: str | None = None
    """Folder for all results; the evaluation goes on there if it was interrupted."""
    json: str | None = None
    """File for the results, in JSON."""
    html: str | None = None
    """File for the results as a page with pictures."""
    records: str | None = None
    """File for the deals as they were played, one JSON object a line."""
    replay: str | None = None
    """Instead of playing: show a deal of a file of records, `file:line`, and check all it says."""
    batch_size: int | None = None
    """Deals played at once; as many as take about a second if not given. Results are the same."""
    workers: int = 1
    """Processes that play; results do not depend on it."""
    time_limit: float = 10.0
    """Seconds that a bot of its own process (`exec:`) has for a move."""
    rules: Rules = field(default_factory=Rules)
    """The rule variant."""

    def __post_init__(self) -> None:
        game = find_game(self.game)
        for name in ("candidates", "fields"):
            specs = getattr(self, name)
            if not specs:
                raise ValueError(f"{name} must name at least one agent")
            for spec in specs:
                if specs.count(spec) > 1:
                    raise ValueError(f"{name}: {spec!r} stands there twice")
        limits: dict[str, tuple[float, float]] = {
            "deals": (2, 10**9), "batch_size": (1, 10**6), "workers": (1, 1024),
            "max_deals": (1, MOST_SHOWN), "sample": (1, 10**9), "examine": (0, 10**9),
            "timed": (0, 10**9), "until": (1e-3, 1e6), "time_limit": (1e-3, 1e6),
        }  # fmt: skip
        for name, (low, high) in limits.items():
            value = getattr(self, name)
            if value is not None and not low <= value <= high:
                raise ValueError(f"{name} must be {low} to {high}, not {value}")
        for name in ("json", "html", "records", "out", "replay"):
            if getattr(self, name) == "":
                raise ValueError(f"{name} must name a file; leave it out for none")
        if not self.seeds:
            raise ValueError("seeds must be a name, not empty")
        paths = [Path(path).resolve() for path in (self.json, self.html, self.records) if path]
        if len(set(paths)) < len(paths):
            raise ValueError("json, html and records must be different files")
        for name in (JOURNAL, SETUP) if self.out else ():
            if (Path(self.out or "") / name).resolve() in paths:
                raise ValueError(f"{name} in {self.out} is the evaluation's own: name another file")
        self._check_design(game.NUM_SEATS)

    def _check_design(self, num_seats: int) -> None:
        count = len(self.candidates)
        if self.design == "trio" and count != num_seats:
            raise ValueError(f"trio needs {num_seats} candidates, a seat each, not {count}")
        if self.design == "league" and count < 2:
            raise ValueError("a league needs 2 candidates or more, not 1")
        if self.until is not None and self.design not in ("xyy", "xxy"):
            raise ValueError(f"until is for the designs xyy and xxy, not {self.design}")
        if self.until is not None and self.deals < FIRST_LOOK:
            raise ValueError(f"until needs {FIRST_LOOK} deals or more, not {self.deals}")
        if self.max_deals is not None and self.episode != "match":
            raise ValueError(f"max_deals is for the episode match, not {self.episode}")
        if self.sample is not None and self.design != "league":
            raise ValueError(f"sample is for the design league, not {self.design}")


@dataclass(frozen=True)
class Failure:
    """An agent that is out, and when."""

    agent: str
    message: str
    candidate: str
    field: str


class Evaluation:
    """Match-ups, and what has come of them so far."""

    def __init__(self, config: EvaluateConfig, agents: dict[str, Agent] | None = None) -> None:
        """Make the agents.

        Args:
            config: what to play.
            agents: agents by spec that are there already.

        Raises:
            ValueError: no such agent, or one that does not fit, named.
            BenchmarkError: see `benchmark_hash`.
            ModuleNotFoundError: a league is to be rated, and openskill is missing.
        """
        if config.design == "league":
            check_openskill()  # before anything is played
        self.config = config
        self.max_deals: int | None = None
        self.examined = config.examine  # deals, or matches, of each match-up
        if config.episode == "match":
            self.max_deals = config.max_deals or _MOST_DEALS
            self.examined = -(-config.examine // _USUAL_LENGTH)
        self.game = find_game(config.game)
        self.seeds = SeedSet(config.seeds)
        self.benchmark = benchmark_hash(self.game, config.seeds, config.deals)
        self.failures: list[Failure] = []
        self.timing: dict[str, Any] = {}  # by agent, `ms` and `differing`
        self.seconds = 0.0  # of playing
        self.records_size = 0  # bytes of the records of the deals played so far
        self.commits: list[str | None] = []  # that have played
        self.names: list[str] = []
        self.agents: list[Agent] = []
        made = dict(agents or {})
        self.tallies = [Tally(matchup) for matchup in self._matchups(made)]
        a_deal = config.sample or len(self.tallies)
        self.deals = balanced_sample(
            len(self.tallies), config.deals, a_deal, int(self.seeds.key >> np.uint64(1))
        )
        self.identities = {name: provenance.identity(name) for name in dict.fromkeys(self.names)}

    # -- the plan ---------------------------------------------------------------------------------

    def _matchups(self, made: dict[str, Agent]) -> list[Matchup]:
        config, num_seats = self.config, self.game.NUM_SEATS
        candidates = [self._enter(spec, made) for spec in config.candidates]
        if config.design == "trio":
            return [everyone(candidates)]
        if config.design == "league":
            return league(candidates, num_seats)
        fields = [self._enter(spec, made) for spec in config.fields]
        meet = copies_against_one if config.design == "xxy" else one_against_copies
        pairs = [(candidate, field) for candidate in candidates for field in fields]
        if config.design != "cross":
            return [meet(*pair, num_seats) for pair in pairs]
        return [
            meet(player, field, num_seats)
            for candidate, field in pairs
            for player in (candidate, self._join(candidate, field), self._join(field, candidate))
        ]

    def _enter(self, spec: str, made: dict[str, Agent]) -> int:
        """Index of an agent; one object a spec, but each place in the config has an index."""
        if spec not in made:
            config = self.config
            try:
                made[spec] = make_agent(spec, config.game, config.rules, config.time_limit)
            except (ValueError, OSError) as error:
                message = str(error)
                raise ValueError(
                    message if spec in message else f"agent {spec!r}: {message}"
                ) from None
        self.names.append(spec)
        self.agents.append(made[spec])
        return len(self.names) - 1

    def _join(self, bidder: int, card_player: int) -> int:
        self.names.append(f"{self.names[bidder]}+{self.names[card_player]}")
        self.agents.append(combine(self.agents[bidder], self.agents[card_player]))
        return len(self.names) - 1

    def setup(self) -> dict[str, Any]:
        """What must be the same for results to go on with those of before."""
        config = self.config
        return {
            "version": provenance.package_version(),
            "game": self.game.NAME,
            "rules": config.rules.to_dict(),
            "design": config.design,
            "seeds": config.seeds,
            "benchmark": self.benchmark,
            "candidates": list(config.candidates),
            "fields": list(config.fields),
            "agents": self.identities,
            "examine": config.examine,
            "until": config.until,
            "episode": config.episode,
            "max_deals": self.max_deals,
            **({"sample": config.sample, "deals": config.deals} if config.sample else {}),
            **({"records": str(Path(config.records).resolve())} if config.records else {}),
        }

    def label(self, tally: Tally) -> tuple[str, str]:
        """Candidate and field of a match-up, as its first row has them."""
        first, *others = tally.matchup.players
        return self.names[first], ",".join(self.names[player] for player in others)

    # -- playing ----------------------------------------------------------------------------------

    def run(
        self,
        progress: Progress,
        journal: Journal | None = None,
        writer: RecordWriter | None = None,
    ) -> None:
        """Time the agents, then play what has not been played yet.

        Args:
            progress: shows how far it is.
            journal: gets every lot of deals when it is finished.
            writer: gets the deals as they were played.

        Raises:
            BrokenProcessPool: a worker was killed.
            OSError: something could not be written.
        """
        config = self.config
        this = provenance.run()
        self.commits.append(this["commit"])
        if journal is not None:
            journal.append({"run": this})
        task = progress.add_task("timing", total=self._games(len(d) for d in self.deals))
        progress.advance(task, self.games)
        self._time_agents(journal)
        begun, before = time.perf_counter(), self.seconds
        with Arena(
            self.game,
            config.rules,
            self.agents,
            self.seeds,
            config.workers,
            config.batch_size,
            config.episode,
            self.max_deals,
        ) as arena:
            for index, tally in enumerate(self.tallies):
                progress.update(task, description=" against ".join(self.label(tally)))
                if self._is_out(tally):
                    continue
                try:
                    for played in self._play(arena, index):
                        entry = self._take(index, played)
                        if writer is not None:
                            writer.write(played, self.seeds, self.names)
                            self.records_size = entry["records"] = writer.position()
                        self.seconds = before + time.perf_counter() - begun
                        if journal is not None:
                            journal.append({**entry, "seconds": self.seconds})
                        progress.advance(task, len(played) * len(tally.matchup.seatings))
                except AgentError as error:
                    self._fail(error, tally)

    @property
    def games(self) -> int:
        """Games played so far."""
        return self._games(tally.deals for tally in self.tallies)

    def _games(self, deals: Iterable[int]) -> int:
        pairs = zip(deals, self.tallies, strict=True)
        return sum(count * len(tally.matchup.seatings) for count, tally in pairs)

    def _play(self, arena: Arena, index: int) -> Iterator[Played]:
        """The rest of a match-up's deals, in lots that end where something is to be decided."""
        tally, numbers = self.tallies[index], self.deals[index]
        if self._is_enough(tally):
            return
        for played in arena.play(tally.matchup.seatings, numbers[tally.deals :]):
            first = 0
            while first < len(played):
                last = min(len(played), first + self._stretch(tally.deals))
                yield played.select(slice(first, last))
                first = last
                if self._is_enough(tally):
                    return

    def _stretch(self, deals: int) -> int:
        """Deals from here to where something changes."""
        ends = [self.examined - deals] if deals < self.examined else []
        if self.config.until is not None:
            ends.append(CHECK_EVERY - deals % CHECK_EVERY)
        return min(ends, default=10**9)

    def _is_enough(self, tally: Tally) -> bool:
        until = self.config.until
        if until is None or tally.deals % CHECK_EVERY or tally.deals < CHECK_EVERY:
            return False
        values = tally.values(tally.matchup.players[0])
        return deals_until(values, until, every=CHECK_EVERY) is not None

    def _take(self, index: int, played: Played) -> dict[str, Any]:
        tally = self.tallies[index]
        is_examined = tally.deals < self.examined
        summary = summarise(self.game, tally.matchup, played, is_examined)
        tally.add(summary)
        return {"matchup": index, "lot": summary}

    def _time_agents(self, journal: Journal | None) -> None:
        """Ask each agent for its moves in some deals one by one; who fails here is out at once."""
        for tally in self.tallies if self.config.timed else ():
            for player in tally.matchup.players:
                name = self.names[player]
                if name in self.timing or self._is_out(tally):
                    continue
                try:
                    self._time(player, tally)
                except AgentError as error:
                    self._fail(error, tally)
                    continue
                if journal is not None:
                    journal.append({"agent": name, **self.timing[name]})

    def _time(self, player: int, tally: Tally) -> None:
        config, seatings = self.config, tally.matchup.seatings
        times = timing.Times({}, 0)
        with Arena(self.game, config.rules, self.agents, self.seeds) as arena, one_thread():
            for played in arena.play(seatings, np.arange(config.timed)):
                more = timing.measure(
                    self.game, config.rules, self.agents[player], self.seeds, played,
                    seatings == player,
                )  # fmt: skip
                times = timing.add(times, more)
        self.timing[self.names[player]] = {
            "ms": timing.percentiles(times),
            "differing": times.differing,
        }

    def _is_out(self, tally: Tally) -> bool:
        """Whether an agent of the match-up has failed."""
        out = {failure.agent for failure in self.failures}
        return any(self.agents[player].name in out for player in tally.matchup.players)

    def _fail(self, error: AgentError, tally: Tally) -> None:
        self.failures.append(Failure(error.agent, error.message, *self.label(tally)))

    def restore(self, entries: Iterable[dict[str, Any]]) -> None:
        """Take over what a journal of the same setup has.

        Raises:
            FolderError: an entry is not one of an evaluation.
            ValueError: it has more deals than the config asks for.
        """
        for number, entry in enumerate(entries, 1):
            try:
                self._take_over(entry)
            except (AttributeError, IndexError, KeyError, TypeError, ValueError) as error:
                raise FolderError(
                    f"line {number} of the journal is none of an evaluation ({error!r}); cut the "
                    "file off before that line to play the rest again"
                ) from None
        for tally, numbers in zip(self.tallies, self.deals, strict=True):
            if tally.deals > len(numbers):
                raise ValueError(
                    f"deals: {tally.deals} were already played, more than {len(numbers)}; ask for "
                    "as many, or choose another folder"
                )

    def _take_over(self, entry: dict[str, Any]) -> None:
        if "lot" in entry:
            self.tallies[entry["matchup"]].add(entry["lot"])
            self.seconds = entry["seconds"]
            self.records_size = entry.get("records", self.records_size)
        elif "agent" in entry:
            self.timing[entry["agent"]] = {k: entry[k] for k in ("ms", "differing")}
        else:
            self.commits.append(entry["run"]["commit"])

    @property
    def is_begun(self) -> bool:
        """Whether the journal has been played on before: its records, if any, are its own."""
        return bool(self.commits)

    @property
    def is_clean(self) -> bool:
        """Whether all agents played to the end, legally, and all payments summed to zero."""
        counts = [tally.nonzero + int(tally.illegal.sum()) for tally in self.tallies]
        return not self.failures and not any(counts)
