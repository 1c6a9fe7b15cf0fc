"""Checkpoints: weights as safetensors, everything else as JSON; no pickle anywhere.

A run folder holds folders `checkpoint-<decisions>`, each written under another name and renamed.
"""

from __future__ import annotations

import hashlib
import json
import os
import re
import shutil
from collections.abc import Mapping
from pathlib import Path
from typing import Any

import safetensors
from safetensors.torch import load_file, save_file
from torch import Tensor

from prefa_env.game import Game, GameRules

from . import released

VERSION = 1
MODEL_FILE = "model.safetensors"
OPTIMIZER_FILE = "optimizer.safetensors"
LEAGUE_FILE = "league.safetensors"
META_FILE = "checkpoint.json"
_FIELDS = {
    "game": str,
    "rules": dict,
    "network": dict,
    "config": dict,
    "iteration": int,
    "decisions": int,
    "sha256": dict,
}
"""What every checkpoint says, besides what `describe` does."""
_DRAFT = "checkpoint-draft"
_NAME = re.compile(r"checkpoint-(\d+)")


class CheckpointError(ValueError):
    """A checkpoint that is missing, broken, or of another game, layout or rules."""


def save(
    run: Path,
    decisions: int,
    tensors: Mapping[str, Mapping[str, Tensor]],
    meta: Mapping[str, Any],
    keep: int = 2,
) -> Path:
    """Write `run/checkpoint-<decisions>` whole or not at all, and keep only the last `keep`.

    Args:
        tensors: by the name of the file and their own.
    """
    target = run / f"checkpoint-{decisions:012d}"
    write(target, tensors, meta)
    for old in checkpoints(run)[:-keep]:
        shutil.rmtree(old)
    return target


def write(
    target: Path, tensors: Mapping[str, Mapping[str, Tensor]], meta: Mapping[str, Any]
) -> None:
    """Write a checkpoint's folder whole or not at all, in the place of what was there."""
    target.parent.mkdir(parents=True, exist_ok=True)
    for draft in target.parent.glob(f".{_DRAFT}.*"):  # of a process that was killed
        shutil.rmtree(draft, ignore_errors=True)
    draft = target.with_name(f".{_DRAFT}.{os.getpid()}")
    draft.mkdir()
    try:
        for name, of_file in tensors.items():
            save_file(dict(of_file), draft / name)
        hashes = {name: _sha256(draft / name) for name in tensors}
        text = json.dumps({"version": VERSION, **meta, "sha256": hashes}, indent=1)
        (draft / META_FILE).write_text(text, encoding="utf-8")
        if target.exists():
            shutil.rmtree(target)
        draft.replace(target)
    finally:
        shutil.rmtree(draft, ignore_errors=True)


def checkpoints(run: Path) -> list[Path]:
    """The checkpoint folders of a run, oldest first."""
    if not run.is_dir():
        return []
    found = [path for path in run.iterdir() if _NAME.fullmatch(path.name) and path.is_dir()]
    return sorted(found, key=lambda path: path.name)


def resolve(spec: str | Path) -> Path:
    """The checkpoint folder that a spec or path means: itself, or the newest of a run folder.

    As a text, the name of a player that comes with the project means that one, whatever lies here.

    Raises CheckpointError.
    """
    if isinstance(spec, str) and spec in released.NAMES:
        return released.FOLDER / spec
    if spec == "":
        raise CheckpointError("no checkpoint is named: give the folder of one, or of a run")
    path = Path(spec)
    if not path.exists():
        raise CheckpointError(f"no checkpoint at {path}: there is no such folder")
    if (path / META_FILE).is_file():
        return path
    found = checkpoints(path)
    if not found:
        raise CheckpointError(
            f"no checkpoint at {path}: neither {META_FILE} nor a folder checkpoint-<decisions>"
        )
    return found[-1]


def load_meta(folder: Path) -> dict[str, Any]:
    """The JSON of a checkpoint folder, with all its fields. Raises CheckpointError."""
    file = folder / META_FILE
    try:
        meta = json.loads(file.read_text(encoding="utf-8"))
    except (OSError, ValueError) as error:
        raise CheckpointError(f"broken checkpoint: {file}: {error}") from None
    if not isinstance(meta, dict) or meta.get("version") != VERSION:
        version = meta.get("version") if isinstance(meta, dict) else None
        raise CheckpointError(
            f"{file} has checkpoint version {version!r}; this program reads version {VERSION}"
        )
    for field, kind in _FIELDS.items():
        value = meta.get(field)
        if type(value) is not kind or (isinstance(value, int) and value < 0):
            raise CheckpointError(
                f"broken checkpoint: {file}: {field} must be of type {kind.__name__}"
                f"{', not negative' if kind is int else ''}, not {value!r}"
            )
    return meta


def past(meta: Mapping[str, Any]) -> dict[int, tuple[int, float]]:
    """Decisions and seconds that past selves had taken, by their time; CheckpointError."""
    try:
        taken = meta.get("past", {}).items()
        return {int(time): (int(count), float(seconds)) for time, (count, seconds) in taken}
    except (AttributeError, TypeError, ValueError) as error:
        raise CheckpointError(
            f"broken checkpoint: past must have two numbers a time: {error}"
        ) from None


def load_tensors(folder: Path, meta: Mapping[str, Any], name: str) -> dict[str, Tensor]:
    """The tensors of one file of a checkpoint, as they were saved. Raises CheckpointError."""
    file = folder / name
    try:
        if _sha256(file) != meta["sha256"].get(name):
            raise CheckpointError(f"broken checkpoint: {file} is not as it was saved (SHA-256)")
        return load_file(file)
    except (OSError, safetensors.SafetensorError) as error:
        raise CheckpointError(f"broken checkpoint: {file}: {error}") from None


def _sha256(file: Path) -> str:
    return hashlib.sha256(file.read_bytes()).hexdigest()


def describe(game: Game, rules: GameRules) -> dict[str, Any]:
    """What a checkpoint must agree on with the table it plays at."""
    return {
        "game": game.NAME,
        "rules": rules.to_dict(),
        "num_actions": game.NUM_ACTIONS,
        "observation": game.OBSERVATION.description(),
        "state": game.STATE.description(),
        "fingerprint": game.STATE.fingerprint,
    }


def check_fits(meta: Mapping[str, Any], game: Game, rules: GameRules, folder: Path) -> None:
    """Raise CheckpointError naming the first thing a checkpoint and a table differ in."""
    for key, here in describe(game, rules).items():
        there = meta.get(key)
        if there == here:
            continue
        if isinstance(here, dict) and isinstance(there, dict):
            name = next(name for name in here | there if here.get(name) != there.get(name))
            difference = f"{key} {name} is {there.get(name)!r}, here {here.get(name)!r}"
        elif isinstance(here, list) and isinstance(there, list):
            pairs = [*zip(there, here, strict=False), (there[len(here) :], here[len(there) :])]
            theirs, ours = next(pair for pair in pairs if pair[0] != pair[1])
            difference = f"{key} field {theirs} there is {ours} here (name, size, low, high)"
        else:
            difference = f"{key} is {there!r}, here {here!r}"
        raise CheckpointError(f"checkpoint {folder} does not fit: {difference}")
