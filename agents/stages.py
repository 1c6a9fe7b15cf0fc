"""Stages of a training, each a config file: run in turn, and on from where they were stopped."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field, replace

import jsonargparse
from rich.progress import Progress

from .cli import Names, parse_config
from .report import make_console
from .teaching.generation import TeachingConfig, generate
from .train_config import TrainConfig
from .trainer import train

PROGRAM = "train.py"


@dataclass(frozen=True)
class StagesConfig:
    """Which stages are run."""

    stages: Names = field(default_factory=Names)
    """Config files in the order in which they are run: of teacher data those with a key `out`, of
    training runs all others."""

    def __post_init__(self) -> None:
        if not self.stages:
            raise ValueError("stages must name config files")


Stage = TeachingConfig | TrainConfig


def read_stages(files: Sequence[str]) -> list[Stage]:
    """The stages of config files; a bad one ends the program as `parse_config` does.

    A training run is one to be resumed.
    """
    return [_read(file) for file in files]


def _read(file: str) -> Stage:
    arguments = ["--config", file]
    try:
        with open(file, encoding="utf-8") as text:
            values = jsonargparse.get_loader("yaml")(text.read())
    except Exception:
        values = None  # the parser of the stage says what is wrong
    if isinstance(values, dict) and "out" in values:
        return parse_config(TeachingConfig, "", arguments, PROGRAM)
    return replace(parse_config(TrainConfig, "", arguments, PROGRAM), resume=True)


def run_stages(files: Sequence[str]) -> bool:
    """Run stages in turn; True if all came to their end, False after a signal.

    Finished ones are left as they are. Raises what `generate` and `train` raise.
    """
    stages = read_stages(files)
    for number, (file, stage) in enumerate(zip(files, stages, strict=True), 1):
        print(f"stage {number} of {len(stages)}: {file}", flush=True)
        if isinstance(stage, TrainConfig):
            if not train(stage):
                return False
            continue
        console = make_console()
        with Progress(console=console, disable=not console.is_terminal) as progress:
            print(f"{stage.out}: {generate(stage, progress)}", flush=True)
    return True
