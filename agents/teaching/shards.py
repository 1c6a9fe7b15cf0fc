"""Shards: files with the decisions of a fixed number of deals, and the folder that holds them.

A shard is an `.npz` of the arrays of `Decisions`, with the number of the shard and the hash of its
folder's `teaching.json`. Nothing is unpickled. docs/teaching.md describes the format.
"""

from __future__ import annotations

import hashlib
import io
import json
import os
import warnings
from collections.abc import Iterable, Iterator
from dataclasses import dataclass, fields
from pathlib import Path
from typing import Any

import numpy as np
import numpy.typing as npt

from prefa_env.doors import find_game
from prefa_env.game import Game, GameRules

from ..folder import FolderError, read_setup

FORMAT = 1
SETUP_FILE = "teaching.json"


class ShardError(ValueError):
    """A file that is no whole shard of its folder."""


@dataclass(frozen=True)
class Decisions:
    """N decisions with two or more legal actions, by trajectory, then by time."""

    states: npt.NDArray[np.int8]  # [N, P], whole tables; the first O bytes are the observation
    legal_actions: npt.NDArray[np.int64]  # [N] bit sets
    values: npt.NDArray[np.float32]  # [N, A] settled kapikia; NaN where not valued (`assess`)
    choices: npt.NDArray[np.int8]  # [N], the teacher's
    actions: npt.NDArray[np.int8]  # [N], what was played
    payoffs: npt.NDArray[np.float32]  # [N] settled kapikia paid to the payee at the deal's end
    trajectories: npt.NDArray[np.int64]  # [N], (deal * S + seat) * S + payee

    def __len__(self) -> int:
        return len(self.actions)

    @property
    def masks(self) -> npt.NDArray[np.bool_]:
        """Bool [N, A]: the legal actions."""
        actions = np.arange(self.values.shape[1])
        return (self.legal_actions[:, None] >> actions & 1).astype(np.bool_)


def concatenate(shards: Iterable[Decisions]) -> Decisions:
    """The decisions of one or more shards in one object. Raises ValueError if there are none."""
    parts = list(shards)
    if not parts:
        raise ValueError("there are no shards to concatenate")
    return Decisions(
        **{
            field.name: np.concatenate([getattr(part, field.name) for part in parts])
            for field in fields(Decisions)
        }
    )


# -- one file -------------------------------------------------------------------------------------


def shard_name(number: int) -> str:
    """The name of a shard's file."""
    return f"shard-{number:06d}.npz"


def setup_hash(setup: dict[str, Any]) -> str:
    """What a shard says of the folder it belongs to."""
    return hashlib.sha256(json.dumps(setup, sort_keys=True).encode()).hexdigest()


def encode(decisions: Decisions, setup: dict[str, Any], number: int) -> bytes:
    """A shard's file; the same decisions give the same bytes."""
    buffer = io.BytesIO()
    arrays: dict[str, Any] = {"number": number, "setup": setup_hash(setup)}
    np.savez_compressed(buffer, **vars(decisions), **arrays)
    return buffer.getvalue()


def read_shard(path: Path, game: Game, setup: dict[str, Any]) -> Decisions:
    """The decisions of a file. Raises ShardError, which names it and says what is wrong."""
    try:
        with path.open("rb") as file:
            loaded = np.load(file, allow_pickle=False)
            arrays = dict(loaded) if isinstance(loaded, np.lib.npyio.NpzFile) else {}
    except Exception as error:  # broken bytes make zip and array readers raise errors of all kinds
        raise ShardError(f"{path} cannot be read: {type(error).__name__}: {error}") from None
    expected = _expected(game)
    if arrays.keys() != {*expected, "number", "setup"}:
        raise ShardError(f"{path} is no shard: it holds {', '.join(sorted(arrays)) or 'no arrays'}")
    if str(arrays.pop("setup")) != setup_hash(setup):
        raise ShardError(f"{path} is of another folder: its settings are not those of {SETUP_FILE}")
    if path.name != shard_name(number := int(arrays.pop("number"))):
        raise ShardError(f"{path} is shard {number} under another name")
    count = len(arrays["actions"])
    for name, (dtype, shape) in expected.items():
        array = arrays[name]
        if array.dtype != dtype or array.shape != (count, *shape):
            raise ShardError(
                f"{path}: {name} must be {np.dtype(dtype)} {[count, *shape]}, "
                f"not {array.dtype} {list(array.shape)}"
            )
    return Decisions(**arrays)


def _expected(game: Game) -> dict[str, tuple[npt.DTypeLike, tuple[int, ...]]]:
    """Type and shape of a row of each array."""
    return {
        "states": (np.int8, (game.STATE.size,)),
        "legal_actions": (np.int64, ()),
        "values": (np.float32, (game.NUM_ACTIONS,)),
        "choices": (np.int8, ()),
        "actions": (np.int8, ()),
        "payoffs": (np.float32, ()),
        "trajectories": (np.int64, ()),
    }


# -- a folder -------------------------------------------------------------------------------------


def describe(game: Game, rules: GameRules) -> dict[str, Any]:
    """What `teaching.json` says of the table; readers must agree on it."""
    return {
        "format": FORMAT,
        "game": game.NAME,
        "rules": rules.to_dict(),
        "num_actions": game.NUM_ACTIONS,
        "observation": game.OBSERVATION.fingerprint,
        "state": game.STATE.fingerprint,
    }


def load_shards(
    folder: str | os.PathLike[str], game: str | Game = "prefa", rules: GameRules | None = None
) -> Iterator[Decisions]:
    """The shards of a folder, in order, one in memory at a time; see `concatenate`.

    A file that is broken or belongs elsewhere is skipped with a warning that names it; a last
    warning counts them.

    Args:
        folder: what `python -m agents.teaching` wrote.
        game: name or module of the game it must be of.
        rules: and the variant; default rules if None.

    Raises:
        FolderError: there are no shards, they are of another game, layout or variant, or none of
            them can be used; the last only after all have been tried.
    """
    path, game = Path(folder), find_game(game)
    if not (path / SETUP_FILE).is_file():
        raise FolderError(f"no teacher data at {path}: there is no {SETUP_FILE}")
    setup = read_setup(path / SETUP_FILE)
    for name, here in describe(game, game.Rules() if rules is None else rules).items():
        if setup.get(name) != here:
            raise FolderError(
                f"the teacher data at {path} do not fit: {name} is {setup.get(name)!r}, "
                f"here {here!r}"
            )
    files = sorted(path.glob("shard-*.npz"))
    if not files:
        raise FolderError(f"no teacher data at {path}: there is no shard yet")
    return _read_all(path, files, game, setup)


def _read_all(
    folder: Path, files: list[Path], game: Game, setup: dict[str, Any]
) -> Iterator[Decisions]:
    skipped = 0
    for file in files:
        try:
            decisions = read_shard(file, game, setup)
        except ShardError as error:
            warnings.warn(f"skipped a shard: {error}", stacklevel=2)
            skipped += 1
            continue
        yield decisions
    if skipped == len(files):
        raise FolderError(f"none of the {skipped} shards at {folder} can be used: make them anew")
    if skipped:
        warnings.warn(f"skipped {skipped} of {len(files)} shards at {folder}", stacklevel=2)
