"""What each part of the recipe is worth: the same training without it, and what is won then.

`python -m benchmarks.ablations`, from the root of the repository; an hour or two, and it goes on
where it was stopped. It needs the teacher data of `configs/teacher.yaml`.
"""

from __future__ import annotations

import os
import sys
from collections.abc import Sequence
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any, NamedTuple

if __name__ == "__main__":
    # Read by OpenMP when torch is imported: threads that spin while they wait starve each other.
    os.environ.setdefault("OMP_WAIT_POLICY", "PASSIVE")

from agents import checkpoint
from agents.cli import Names, fail, parse_config
from agents.evaluation import EvaluateConfig, Evaluation
from agents.report import make_console, make_progress, print_results, write_json
from agents.results import results
from agents.train_config import TrainConfig
from agents.trainer import train
from prefa_env.atomic import check_writable

PROGRAM = "ablations"


class Ablation(NamedTuple):
    """A recipe with something left out."""

    name: str
    options: dict[str, str]  # of the self-play, others than those of its config
    network: dict[str, str] = {}  # of clone and self-play  # noqa: RUF012 (never written to)
    has_clone: bool = True


_PAYMENTS_ONLY = {
    f"ppo.{name}": "0"
    for name in ("hindsight", "final_hindsight", "hindsight_words", "final_hindsight_words")
}

ABLATIONS = (
    Ablation("everything", {}),
    Ablation("without clone", {}, has_clone=False),
    Ablation("critic sees no hidden cards", {}, {"network.open_critic": "false"}),
    Ablation("without league", {"opponents": "[]", "past_share": "0"}),
    Ablation("suits as dealt", {}, {"network.relabel": "false"}),
    Ablation("one network", {}, {"network.card_body": "false"}),
    Ablation("without hindsight", _PAYMENTS_ONLY),
    Ablation("without clone and hindsight", _PAYMENTS_ONLY, has_clone=False),
    Ablation("Monte Carlo", {**_PAYMENTS_ONLY, "method": "monte-carlo"}, has_clone=False),
)


@dataclass(frozen=True)
class AblationConfig:
    """With what budget, and on which deals the players are measured."""

    decisions: int = 4_000_000
    """Decisions of each self-play."""
    folder: str = "runs/ablations"
    """Where the runs are."""
    fields: Names = Names(("heuristic-v1",))  # noqa: RUF009 (a tuple)
    """Against whom they are measured."""
    deals: int = 3000
    """Deals they are measured on."""
    seeds: str = "select-v1"
    """Name of the set of deals."""
    json: str | None = None
    """File for the results, in JSON."""
    workers: int = 2
    """Processes that play."""


def _config(file: str, options: dict[str, str]) -> TrainConfig:
    arguments = ["--config", file]
    for name, value in options.items():
        arguments += [f"--{name}", value]
    return replace(parse_config(TrainConfig, "", arguments, PROGRAM), resume=True)


def stages(ablation: Ablation, folder: Path, decisions: int) -> list[TrainConfig]:
    """Clone, if any, and self-play."""
    clone = "clone" + "".join(f"-{name}-{value}" for name, value in ablation.network.items())
    run = folder / ablation.name.replace(" ", "-").lower()
    options = {"run": str(run), "decisions": str(decisions), "warm_up": "50000"}
    options |= ablation.network | ablation.options
    if not ablation.has_clone:
        none = {"start": "null", "anchor": "null", "warm_up": "0"}
        none |= {"ppo.anchor": "0", "ppo.final_anchor": "0"}
        return [_config("configs/selfplay.yaml", options | none)]
    path = str(folder / clone)
    return [
        _config("configs/clone.yaml", {"run": path, **ablation.network}),
        _config("configs/selfplay.yaml", options | {"start": path, "anchor": path}),
    ]


def _evaluation(config: AblationConfig, runs: Sequence[str]) -> EvaluateConfig:
    return EvaluateConfig(
        candidates=Names(runs), fields=config.fields, deals=config.deals, seeds=config.seeds,
        workers=config.workers,
    )  # fmt: skip


def measure(config: AblationConfig, runs: dict[str, str]) -> dict[str, Any]:
    """Measure players, whose folders `runs` has by the name of what was left out."""
    evaluation = Evaluation(_evaluation(config, list(runs.values())))
    console = make_console()
    with make_progress(console) as progress:
        evaluation.run(progress)
    found = results(evaluation)
    print_results(console, found)
    metas = {
        name: checkpoint.load_meta(checkpoint.resolve(Path(run))) for name, run in runs.items()
    }
    found["budget"] = config.decisions
    found["ablations"] = {
        name: {"run": runs[name], "decisions": meta["decisions"], "seconds": meta["seconds"]}
        for name, meta in metas.items()
    }
    return found


def main(argv: Sequence[str] | None = None) -> int:
    """Run with the arguments of a command line; the exit code.

    0; 2 for bad input; 130 after a signal.
    """
    config = parse_config(AblationConfig, __doc__ or "", argv, PROGRAM)
    try:
        return _run(config)
    except KeyboardInterrupt:
        print("interrupted; the same command goes on", file=sys.stderr)
        return 130
    except (ValueError, OSError) as error:
        fail(str(error), PROGRAM)


def _run(config: AblationConfig) -> int:
    Evaluation(_evaluation(config, ["heuristic"]))  # what is wrong is said before the training
    if config.json:
        check_writable(config.json)
    runs = {}
    for ablation in ABLATIONS:
        for stage in stages(ablation, Path(config.folder), config.decisions):
            print(f"{ablation.name}: {stage.run}", flush=True)
            if not train(stage):
                return 130
            runs[ablation.name] = stage.run
    found = measure(config, runs)
    if config.json:
        write_json(config.json, found)
    return 0


if __name__ == "__main__":
    sys.exit(main())
