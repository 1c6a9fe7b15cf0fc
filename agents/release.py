"""Makes a player to be published from a checkpoint: its averaged weights, and ONNX if wanted."""

from __future__ import annotations

import sys
import warnings
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path

import torch
from torch import Tensor, nn

from prefa_env.atomic import atomic_write, check_writable
from prefa_env.doors import find_game

from . import checkpoint
from .cli import fail, parse_config
from .network import Policy
from .policy import load_agent

PROGRAM = "release"
_RUN_ONLY = {"version", "sha256", "torch", "past"}


@dataclass(frozen=True)
class ReleaseConfig:
    """What is published, and where it goes."""

    source: str = "runs/selfplay"
    """Checkpoint or run."""
    out: str | None = None
    """Folder of the player, a checkpoint without optimiser; must not exist."""
    onnx: str | None = None
    """File for the policy as an ONNX graph; needs `pip install 'prefa[export]'`."""

    def __post_init__(self) -> None:
        if not self.source:
            raise ValueError("source must name a checkpoint or run, not be empty")
        if not self.out and not self.onnx:
            raise ValueError("out or onnx must say where to write to")


def release(source: str | Path, out: str | Path) -> Path:
    """Write the averaged policy and the critic of a checkpoint or run to a new folder.

    Raises:
        CheckpointError: there is no checkpoint, or it is broken.
        FileExistsError: the folder is there.
    """
    target = Path(out)
    if target.exists():
        raise FileExistsError(f"{target} exists: choose another folder, or delete it first")
    folder = checkpoint.resolve(source)
    meta = checkpoint.load_meta(folder)
    tensors = checkpoint.load_tensors(folder, meta, checkpoint.MODEL_FILE)
    kept = {name: t for name, t in tensors.items() if name.startswith("critic.")}
    average = {n: t for n, t in tensors.items() if n.startswith("average.")}
    for name, tensor in tensors.items():
        if name.startswith("policy."):
            kept[name] = average.get(name.replace("policy.", "average.", 1), tensor)
    facts = {name: value for name, value in meta.items() if name not in _RUN_ONLY}
    checkpoint.write(target, {checkpoint.MODEL_FILE: kept}, facts)
    return target


class _Graph(nn.Module):
    """A policy with the masks as int8, as environments give them."""

    def __init__(self, policy: Policy) -> None:
        super().__init__()
        self.policy = policy

    def forward(self, observations: Tensor, masks: Tensor) -> Tensor:
        log_probs: Tensor = self.policy(observations, masks != 0)
        return log_probs


def export(source: str | Path, file: str | Path) -> None:
    """Write the policy of a checkpoint or run as an ONNX graph.

    Inputs `observations` int8 [B, O] and `masks` int8 [B, A], both as `Game.relabel` gives them if
    the checkpoint's `network.relabel` says so; output `log_probs` float32 [B, A].

    Raises:
        CheckpointError: there is no checkpoint, or it is broken.
        ModuleNotFoundError: onnx or onnxscript is missing.
        OSError: the file cannot be written.
    """
    meta = checkpoint.load_meta(checkpoint.resolve(source))
    game = find_game(meta["game"])
    try:
        rules = game.Rules(**meta["rules"])
    except (TypeError, ValueError) as error:
        raise checkpoint.CheckpointError(f"broken checkpoint: {source}: rules: {error}") from None
    policy = load_agent(source, game, rules).policy
    example = (
        torch.zeros(2, game.OBSERVATION.size, dtype=torch.int8),
        torch.ones(2, game.NUM_ACTIONS, dtype=torch.int8),
    )
    batch = {0: torch.export.Dim("batch")}
    try:
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")  # about the exporter's own insides
            program = torch.onnx.export(
                _Graph(policy),
                example,
                input_names=["observations", "masks"],
                output_names=["log_probs"],
                dynamic_shapes=(batch, batch),
                dynamo=True,
                verbose=False,
            )
    except ModuleNotFoundError as error:
        raise ModuleNotFoundError(
            "the ONNX export needs onnx and onnxscript: pip install 'prefa[export]'",
            name=error.name,
        ) from error
    assert program is not None  # with dynamo there always is one
    with atomic_write(file, "wb") as target:
        target.write(program.model_proto.SerializeToString())


def main(argv: Sequence[str] | None = None) -> int:
    """Run with the arguments of a command line; the exit code: 0, or 2 for bad input."""
    config = parse_config(ReleaseConfig, __doc__ or "", argv, PROGRAM)
    try:
        if config.onnx:  # before the player is written
            check_writable(config.onnx)
        if config.out:
            print(release(config.source, config.out))
        if config.onnx:
            export(config.source, config.onnx)
            print(config.onnx)
    except (ValueError, OSError, ModuleNotFoundError) as error:
        fail(str(error), PROGRAM)
    return 0


if __name__ == "__main__":
    sys.exit(main())
