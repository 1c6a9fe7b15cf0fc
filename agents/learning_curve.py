"""How a run got better: its past selves measured on duplicate deals, as numbers and as a picture.

The past selves are those in its newest checkpoint (`past_share` above 0 keeps them); they play
their most likely actions. The last point is the averaged policy, which is what the run's checkpoint
plays.
"""

from __future__ import annotations

import copy
import signal
import sys
from collections.abc import Sequence
from dataclasses import dataclass, field
from typing import Any

import numpy as np

from prefa_env.atomic import atomic_write, check_writable
from prefa_env.doors import find_game
from prefa_env.game import Game
from prefa_env.prefa import Rules

from . import checkpoint, provenance
from .agent import Agent
from .cli import Names, fail, parse_config
from .evaluation import EvaluateConfig, Evaluation
from .html import check_installed
from .league import League
from .policy import PolicyAgent, load_agent
from .report import make_console, make_progress, write_json
from .results import results

PROGRAM = "learning-curve"
INTERRUPTED = 130


@dataclass(frozen=True)
class CurveConfig:
    """Which run, against whom, and where the curve goes."""

    run: str = "runs/selfplay"
    """Folder of the run."""
    fields: Names = Names(("heuristic-v1",))  # noqa: RUF009 (a tuple)
    """Against whom: specs of agents separated by commas."""
    points: int = 10
    """Points at most, 2 or more: past selves at about even distances, and the average."""
    deals: int = 1000
    """Deals a point and field, at least 2."""
    seeds: str = "select-v1"
    """Name of the set of deals."""
    json: str | None = None
    """File for the points, in JSON."""
    svg: str | None = None
    """File for the picture."""
    workers: int = 1
    """Processes that play."""
    rules: Rules = field(default_factory=Rules)
    """The rule variant."""

    def __post_init__(self) -> None:
        if not self.run:
            raise ValueError("run must name a folder, not be empty")
        if self.points < 2:
            raise ValueError(f"points must be at least 2, not {self.points}")
        if not self.json and not self.svg:
            raise ValueError("json or svg must say where to write to")


@dataclass(frozen=True)
class Point:
    """A policy of a run, and what it had taken."""

    agent: PolicyAgent
    decisions: int
    seconds: float


def points_of(run: str, game: Game, rules: Rules, most: int) -> list[Point]:
    """Some of the past selves in a run's newest checkpoint, and its average; `most` at most.

    Raises:
        CheckpointError: there is no checkpoint, or it is broken.
        ValueError: it has no past selves.
    """
    folder = checkpoint.resolve(run)
    meta = checkpoint.load_meta(folder)
    average = load_agent(folder, game, rules)
    if not (folder / checkpoint.LEAGUE_FILE).is_file():
        raise ValueError(f"{folder} holds no past selves: it is not a run's")
    league = League(10**9)
    league.load(
        checkpoint.load_tensors(folder, meta, checkpoint.LEAGUE_FILE), checkpoint.past(meta)
    )
    if not league.taken:
        raise ValueError(f"{folder} holds no past selves: train with past_share above 0")
    times = list(league.taken)
    chosen = np.linspace(0, len(times) - 1, min(most - 1, len(times))).round().astype(int)
    points = []
    for time in [times[index] for index in chosen]:
        policy = copy.deepcopy(average.policy)
        league.recall(time, policy)
        points.append(Point(PolicyAgent(f"past {time}", policy, game), *league.taken[time]))
    return [*points, Point(average, meta["decisions"], float(meta["seconds"]))]


def measure(config: CurveConfig) -> dict[str, Any]:
    """Measure all points; plain values, for JSON.

    Raises what `points_of` and `Evaluation` raise.
    """
    points = points_of(config.run, find_game("prefa"), config.rules, config.points)
    agents: dict[str, Agent] = {point.agent.name: point.agent for point in points}
    evaluation = Evaluation(
        EvaluateConfig(
            candidates=Names(agents),
            fields=config.fields,
            deals=config.deals,
            seeds=config.seeds,
            workers=config.workers,
            examine=0,
            timed=0,
            rules=config.rules,
        ),
        agents,
    )
    with make_progress(make_console()) as progress:
        evaluation.run(progress)
    found = results(evaluation)
    return {
        "run": config.run,
        "identity": provenance.identity(config.run),
        **{key: found[key] for key in ("seeds", "version", "commit", "processor", "cores", "date")},
        "deals": config.deals,
        "decisions": [point.decisions for point in points],
        "minutes": [point.seconds / 60 for point in points],
        "fields": {
            name: {
                key: [row[key] for row in found["rows"] if row["field"] == name]
                for key in ("mean", "low", "high")
            }
            for name in config.fields
        },
    }


def picture(found: dict[str, Any]) -> str:
    """What `measure` found, as SVG."""
    from .html.plots import growth

    fields = found["fields"]
    means, lows, highs = (
        [values[key] for values in fields.values()] for key in ("mean", "low", "high")
    )
    decisions, minutes = found["decisions"], found["minutes"]
    return growth(list(fields), decisions, minutes, means, lows, highs, "kapikia a deal")


def main(argv: Sequence[str] | None = None) -> int:
    """Run with the arguments of a command line; the exit code.

    0; 2 for bad input; 130 after an interruption.
    """
    config = parse_config(CurveConfig, __doc__ or "", argv, PROGRAM)
    try:
        for path in filter(None, (config.json, config.svg)):
            check_writable(path)  # not after minutes
        if config.svg:
            check_installed()
        found = measure(config)
        if config.json:
            write_json(config.json, found)
        if config.svg:
            with atomic_write(config.svg) as file:
                file.write(picture(found))
    except KeyboardInterrupt:
        print("interrupted; nothing was written", file=sys.stderr)
        return INTERRUPTED
    except (ValueError, OSError, ModuleNotFoundError) as error:
        fail(str(error), PROGRAM)
    return 0


if __name__ == "__main__":
    signal.signal(signal.SIGTERM, lambda number, frame: sys.exit(128 + number))
    sys.exit(main())
