"""Files of teacher data: come back as they were, and nothing else is taken for one."""

from __future__ import annotations

import json
import shutil
from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from agents.benchmarks import SeedSet
from agents.folder import FolderError
from agents.teaching import Decisions, concatenate, load_shards
from agents.teaching.play import play_deals
from agents.teaching.shards import (
    SETUP_FILE,
    ShardError,
    describe,
    encode,
    read_shard,
    shard_name,
)
from prefa_env import VectorEnv, prefa
from prefa_env.prefa import Rules
from tests.agents.teaching.chance import Chance

DEALS = 4


def decisions_of(number: int) -> Decisions:
    env = VectorEnv("prefa", DEALS, auto_reset=False)
    return play_deals(env, Chance(), SeedSet("shards"), number * DEALS, 0.0)


def write(folder: Path, count: int = 3, **other: Any) -> Path:
    """A folder of shards."""
    setup = describe(prefa, Rules()) | other
    folder.mkdir()
    (folder / SETUP_FILE).write_text(json.dumps(setup), "utf-8")
    for number in range(count):
        (folder / shard_name(number)).write_bytes(encode(decisions_of(number), setup, number))
    return folder


def test_decisions_come_back_as_they_were(tmp_path: Path) -> None:
    shards = list(load_shards(write(tmp_path / "a")))
    assert len(shards) == 3
    for number, shard in enumerate(shards):
        expected = decisions_of(number)
        for name, array in vars(expected).items():
            back = getattr(shard, name)
            assert (back.dtype, back.shape) == (array.dtype, array.shape)
            assert back.tobytes() == array.tobytes()
    whole = concatenate(shards)
    assert len(whole) == sum(map(len, shards))
    assert (whole.trajectories // 9 < 3 * DEALS).all()
    with pytest.raises(ValueError, match="no shards"):
        concatenate([])


def test_masks_are_the_legal_actions(tmp_path: Path) -> None:
    decisions = decisions_of(0)
    masks = decisions.masks
    assert masks.shape == (len(decisions), prefa.NUM_ACTIONS) and masks.dtype == np.bool_
    for mask, legal in zip(masks, decisions.legal_actions, strict=True):
        assert sum(1 << int(action) for action in np.flatnonzero(mask)) == legal


def _truncate(path: Path) -> None:
    path.write_bytes(path.read_bytes()[:-100])


def _flip_a_byte(path: Path) -> None:
    data = bytearray(path.read_bytes())
    data[len(data) // 3] ^= 1
    path.write_bytes(data)


def _write_one_array(path: Path) -> None:
    with path.open("wb") as file:
        np.save(file, np.zeros(3))


def _change(path: Path, **arrays: Any) -> None:
    with np.load(path) as file:
        kept = dict(file)
    np.savez_compressed(path, **{**kept, **arrays})


DAMAGES: dict[str, tuple[Callable[[Path], Any], str]] = {
    "truncated": (_truncate, "cannot be read"),
    "a byte changed": (_flip_a_byte, "cannot be read"),
    "empty": (lambda path: path.write_bytes(b""), "cannot be read"),
    "no archive": (lambda path: path.write_bytes(b"hello"), "cannot be read"),
    "one array": (_write_one_array, "no shard"),
    "pickled": (
        lambda path: _change(path, actions=np.array([{}], dtype=object)),
        "cannot be read",
    ),
    "other arrays": (lambda path: np.savez(path, a=np.zeros(1)), "no shard: it holds a"),
    "other type": (
        lambda path: _change(path, payoffs=np.zeros(3)),
        "payoffs must be float32",
    ),
    "other length": (
        lambda path: _change(path, choices=np.zeros(3, np.int8)),
        "choices must be int8",
    ),
    "other settings": (
        lambda path: shutil.copy(
            write(path.parent.parent / "other", seed=2) / path.name, path
        ),
        "of another folder",
    ),
    "renamed": (
        lambda path: shutil.copy(path.with_name(shard_name(2)), path),
        "shard 2 under another name",
    ),
}  # fmt: skip


@pytest.mark.parametrize("damage", DAMAGES)
def test_a_bad_file_is_named_skipped_and_counted(damage: str, tmp_path: Path) -> None:
    folder = write(tmp_path / "a")
    path = folder / shard_name(1)
    act, message = DAMAGES[damage]
    act(path)
    with pytest.warns(UserWarning, match="skipped") as caught:
        shards = list(load_shards(folder))
    texts = [str(warning.message) for warning in caught]
    assert len(texts) == 2
    assert texts[0].startswith(f"skipped a shard: {path}") and message in texts[0]
    assert texts[1] == f"skipped 1 of 3 shards at {folder}"
    numbers = [int(shard.trajectories[0]) // 9 // DEALS for shard in shards]
    assert numbers == [0, 2]


def test_no_broken_byte_is_taken_for_data(tmp_path: Path) -> None:
    """Each is noticed, unless it stands for nothing that is read, such as a date."""
    folder = write(tmp_path / "a", 1)
    setup = json.loads((folder / SETUP_FILE).read_text("utf-8"))
    path = folder / shard_name(0)
    data, expected = path.read_bytes(), decisions_of(0)
    rng = np.random.default_rng(0)
    ends = np.r_[:60, -800:0]  # heads of the first array and of the archive
    noticed = 0
    for place in np.r_[ends, rng.integers(len(data), size=100)]:
        broken = bytearray(data)
        broken[place] ^= 1 << rng.integers(8)
        path.write_bytes(broken)
        try:
            decisions = read_shard(path, prefa, setup)
        except ShardError:
            noticed += 1
            continue
        for name, array in vars(expected).items():
            assert getattr(decisions, name).tobytes() == array.tobytes()
    assert noticed > 400


@pytest.mark.filterwarnings("ignore:skipped a shard")
def test_nothing_usable_is_one_error(tmp_path: Path) -> None:
    folder = write(tmp_path / "a", 2)
    for number in range(2):
        _truncate(folder / shard_name(number))
    with pytest.raises(FolderError, match=r"none of the 2 shards at .* can be used"):
        list(load_shards(folder))


def test_folders_that_do_not_fit(tmp_path: Path) -> None:
    with pytest.raises(FolderError, match=f"no teacher data at .*: there is no {SETUP_FILE}"):
        load_shards(tmp_path)
    with pytest.raises(FolderError, match="there is no shard yet"):
        load_shards(write(tmp_path / "empty", 0))
    folder = write(tmp_path / "a", 1)
    with pytest.raises(FolderError, match=r"do not fit: rules is .*'hold'.*, here"):
        load_shards(folder, rules=Rules(hold="any_after_first_round"))
    with pytest.raises(FolderError, match="do not fit: state is 'x', here"):
        load_shards(write(tmp_path / "layout", 1, state="x"))
    with pytest.raises(FolderError, match="do not fit: format is 2, here 1"):
        load_shards(write(tmp_path / "format", 1, format=2))
    (folder / SETUP_FILE).write_text("[", "utf-8")
    with pytest.raises(FolderError, match=f"{SETUP_FILE} is broken"):
        load_shards(folder)
