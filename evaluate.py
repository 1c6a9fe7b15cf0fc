"""Plays agents against each other on duplicate deals and prints what a deal was worth to them."""

from __future__ import annotations

import signal
import sys
import time
from collections.abc import Sequence
from concurrent.futures.process import BrokenProcessPool
from contextlib import ExitStack
from dataclasses import asdict, dataclass, field
from pathlib import Path

from rich.progress import BarColumn, MofNCompleteColumn, Progress, TextColumn, TimeRemainingColumn

from agents import Agent, make_agent
from agents.arena import Comparison, Played, SeedSet, compare
from agents.atomic import check_writable
from agents.cli import Names, fail, parse_config
from agents.records import RecordWriter, open_records
from agents.report import make_console, print_results, results_json, write_json
from prefa_env.doors import find_game
from prefa_env.prefa import Rules

PROGRAM = Path(__file__).name
INTERRUPTED = 130


@dataclass(frozen=True)
class EvaluateConfig:
    """What is played, by whom, and where the results go."""

    game: str = "prefa"
    """Name of the game."""
    candidates: Names = Names(("heuristic",))  # noqa: RUF009 (a tuple)
    """Who is measured: specs of agents separated by commas; a name or the path of a checkpoint."""
    fields: Names = Names(("uniform",))  # noqa: RUF009
    """Against whom: specs as well; each candidate sits alone among copies of each field agent."""
    deals: int = 3000
    """Deals, at least 2; each is played with the candidate in each seat in turn, same cards."""
    seeds: str = "report"
    """Name of the set of deals; the same name gives the same deals to everyone."""
    json: str | None = None
    """File for the results, in JSON."""
    records: str | None = None
    """File for the deals as they were played, one JSON object a line."""
    batch_size: int | None = None
    """Deals played at once; as many as take about a second if not given. Results are the same."""
    workers: int = 1
    """Processes that play; results do not depend on it."""
    rules: Rules = field(default_factory=Rules)
    """The rule variant."""

    def __post_init__(self) -> None:
        find_game(self.game)
        for name in ("candidates", "fields"):
            specs = getattr(self, name)
            if not specs:
                raise ValueError(f"{name} must name at least one agent")
            for spec in specs:
                if specs.count(spec) > 1:
                    raise ValueError(f"{name}: {spec!r} stands there twice")
        limits = {"deals": (2, 10**9), "batch_size": (1, 10**6), "workers": (1, 1024)}
        for name, (low, high) in limits.items():
            value = getattr(self, name)
            if value is not None and not low <= value <= high:
                raise ValueError(f"{name} must be {low} to {high}, not {value}")
        for name in ("json", "records"):
            if getattr(self, name) == "":
                raise ValueError(f"{name} must name a file; leave it out for none")
        if not self.seeds:
            raise ValueError("seeds must be a name, not empty")
        if self.json and self.records and Path(self.json).resolve() == Path(self.records).resolve():
            raise ValueError(f"json and records must be two files, not both {self.json!r}")


def main(argv: Sequence[str] | None = None) -> int:
    """Run with the arguments of a command line; the exit code.

    0; 1 if a move was illegal or a deal's payments did not sum to zero; 130 after an interruption.
    """
    try:
        config = parse_config(EvaluateConfig, __doc__ or "", argv, PROGRAM)
        return _evaluate(config)
    except KeyboardInterrupt:
        print("interrupted; unfinished results were not written", file=sys.stderr)
        return INTERRUPTED
    except MemoryError as error:
        fail(f"not enough memory: {error}; lower batch_size", PROGRAM)
    except BrokenProcessPool:
        fail("a worker process was killed; too little memory for so many workers?", PROGRAM)
    except OSError as error:  # a full disk, a closed pipe
        fail(str(error), PROGRAM)


def _evaluate(config: EvaluateConfig) -> int:
    agents = _make_agents(config)
    for path in filter(None, (config.json, config.records)):
        check_writable(path)
    game, seeds = find_game(config.game), SeedSet(config.seeds)
    started = time.perf_counter()
    results = _play(config, agents)
    seconds = time.perf_counter() - started
    values = results_json(game, config.rules, seeds, config.deals, asdict(config), results)
    console = make_console()
    print_results(console, game, results)
    games = config.deals * game.NUM_SEATS * len(results)
    console.print(
        f"deals {config.seeds!r} ({values['seeds']['hash']}), each in {game.NUM_SEATS} seatings: "
        f"{games} games in {seconds:.1f} s",
        highlight=False,
        markup=False,
    )
    if config.json:
        write_json(config.json, values)
    is_clean = all(result.illegal == 0 and result.nonzero == 0 for result in results)
    return 0 if is_clean else 1


def _make_agents(config: EvaluateConfig) -> dict[str, Agent]:
    """Every agent once, by spec."""
    agents: dict[str, Agent] = {}
    for spec in (*config.candidates, *config.fields):
        if spec in agents:
            continue
        try:
            agents[spec] = make_agent(spec, config.game, config.rules)
        except (ValueError, OSError) as error:
            message = str(error)
            fail(message if spec in message else f"agent {spec!r}: {message}", PROGRAM)
    return agents


def _play(config: EvaluateConfig, agents: dict[str, Agent]) -> list[Comparison]:
    """Every candidate against every field agent."""
    game, seeds = find_game(config.game), SeedSet(config.seeds)
    pairs = [(candidate, field) for candidate in config.candidates for field in config.fields]
    results = []
    with ExitStack() as stack:
        writer: RecordWriter | None = None
        if config.records:
            writer = stack.enter_context(open_records(config.records, game, config.rules))
        progress = stack.enter_context(_make_progress())
        task = progress.add_task("", total=len(pairs) * config.deals)
        for candidate, opponent in pairs:
            progress.update(task, description=f"{candidate} against {opponent}")

            def on_played(played: Played, names: tuple[str, str] = (candidate, opponent)) -> None:
                if writer is not None:
                    writer.write(played, seeds, names)
                progress.advance(task, len(played.decks))

            results.append(
                compare(
                    game,
                    config.rules,
                    agents[candidate],
                    agents[opponent],
                    seeds,
                    config.deals,
                    config.batch_size,
                    config.workers,
                    on_played,
                )
            )
    return results


def _make_progress() -> Progress:
    """A bar with the time left; silent where the output is no terminal."""
    return Progress(
        TextColumn("{task.description}", markup=False),
        BarColumn(),
        MofNCompleteColumn(),
        TimeRemainingColumn(),
        console=make_console(),
        transient=True,
        disable=not sys.stdout.isatty(),
    )


if __name__ == "__main__":
    signal.signal(signal.SIGTERM, lambda number, frame: sys.exit(128 + number))  # cleans up first
    sys.exit(main())
