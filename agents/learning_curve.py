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
from pathlib import Path
from typing import Any

import numpy as np

from prefa_env.atomic import atomic_write, check_writable
from prefa_env.doors import find_game
from prefa_env.game import Game
from prefa_env.prefa import Rules

from . import checkpoint, provenance
from .agent import Agent
from .cli import Names, fail, parse_config
from .curves import read_curves
from .evaluation import EvaluateConfig, Evaluation
from .html import check_installed
from .league import League
from .policy import PolicyAgent, load_agent
from .report import make_console, make_progress, write_json
from .results import results

PROGRAM = "learning-curve"
_AVERAGE = "average"


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
        if self.points < 2:
            raise ValueError(f"points must be at least 2, not {self.points}")
        if not self.json and not self.svg:
            raise ValueError("json or svg must say where to write to")


def past_selves(run: Path, game: Game, rules: Rules, points: int) -> dict[int, PolicyAgent]:
    """Some of the past selves in a run's newest checkpoint, by the number of their iteration.

    Raises CheckpointError; ValueError where there are none.
    """
    folder = checkpoint.resolve(run)
    meta = checkpoint.load_meta(folder)
    average = load_agent(run, game, rules)
    if not (folder / checkpoint.LEAGUE_FILE).is_file():
        raise ValueError(f"{folder} holds no past selves: it is no run's")
    league = League(10**9)
    league.load(checkpoint.load_tensors(folder, meta, checkpoint.LEAGUE_FILE))
    if not league.times:
        raise ValueError(f"{folder} holds no past selves: train with past_share above 0")
    chosen = np.linspace(0, len(league.times) - 1, min(points, len(league.times)))
    selves = {}
    for index in chosen.round().astype(int):
        time = league.times[index]
        policy = copy.deepcopy(average.policy)
        league.recall(time, policy)
        selves[time * int(meta["config"]["snapshot_every"])] = PolicyAgent(str(time), policy, game)
    return selves


def _progress_of(run: Path) -> tuple[list[int], list[float]]:
    """Decisions and seconds that a run had taken before each of its iterations, from its curves.

    Raises ValueError where they are missing.
    """
    names = ["time/iterations", "time/fps"]
    found = read_curves(run, names, points=10**9)
    if len(found) < len(names):
        raise ValueError(
            f"{run} has no curves of TensorBoard, which tell when its past selves were"
        )
    decisions, seconds = [0], [0.0]
    for (step, _), (_, rate) in zip(*(found[name] for name in names), strict=True):
        seconds.append(seconds[-1] + (step - decisions[-1]) / rate)
        decisions.append(int(step))
    return decisions, seconds


def measure(config: CurveConfig) -> dict[str, Any]:
    """Measure all points; plain values, for JSON.

    Raises what `past_selves` and `Evaluation` raise.
    """
    run, game = Path(config.run), find_game("prefa")
    selves = past_selves(run, game, config.rules, config.points - 1)
    decisions, seconds = _progress_of(run)
    agents: dict[str, Agent] = {f"before {i}": agent for i, agent in selves.items()}
    agents[_AVERAGE] = load_agent(run, game, config.rules)
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
    places = [min(i, len(decisions) - 1) for i in (*selves, len(decisions) - 1)]
    return {
        "run": config.run,
        "identity": provenance.identity(config.run),
        **{key: found[key] for key in ("seeds", "version", "commit", "processor", "cores", "date")},
        "deals": config.deals,
        "decisions": [decisions[place] for place in places],
        "minutes": [seconds[place] / 60 for place in places],
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
    """Run with the arguments of a command line; the exit code: 0, or 2 for bad input."""
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
    except (ValueError, OSError, ModuleNotFoundError) as error:
        fail(str(error), PROGRAM)
    return 0


if __name__ == "__main__":
    signal.signal(signal.SIGTERM, lambda number, frame: sys.exit(128 + number))
    sys.exit(main())
