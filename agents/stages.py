"""Stages of a training, each a config file: run in turn, and on from where they were stopped."""

from __future__ import annotations

import signal
import sys
from collections.abc import Sequence
from dataclasses import dataclass, field, replace
from pathlib import Path

import jsonargparse
from rich.progress import Progress

from . import released
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

    Raises ValueError if what a stage begins with is not there, nor made by one before.
    """
    stages: list[Stage] = []
    for file in files:
        stage = _read(file)
        if isinstance(stage, TrainConfig):
            _check_sources(file, stage, {_folder(earlier) for earlier in stages})
        stages.append(stage)
    return stages


def _folder(stage: Stage) -> Path:
    return Path(stage.run if isinstance(stage, TrainConfig) else stage.out)


def _check_sources(file: str, stage: TrainConfig, made: set[Path]) -> None:
    """ValueError if what a stage begins with is not there, nor made by one before."""
    for name in ("start", "anchor", "data"):
        value = getattr(stage, name)
        if value is None or value in released.NAMES or Path(value) in made:
            continue
        if not Path(value).exists():
            raise ValueError(f"{file}: {name}: there is no {value}, and no earlier stage makes it")


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
        # Shards are whole or not there: an exception is all that it takes to stop.
        before = signal.signal(signal.SIGTERM, lambda number, frame: sys.exit(128 + number))
        try:
            with Progress(console=console, disable=not console.is_terminal) as progress:
                print(f"{stage.out}: {generate(stage, progress)}", flush=True)
        finally:
            signal.signal(signal.SIGTERM, before)
    return True
