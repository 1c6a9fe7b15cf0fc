"""Folders of shards: the same bytes however they are made, and never another's."""

from __future__ import annotations

import json
import os
import signal
import subprocess
import sys
import time
from dataclasses import replace
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from rich.progress import Progress

from agents import teaching
from agents.benchmarks import SeedSet
from agents.folder import Folder, FolderError
from agents.teaching import generation, load_shards
from agents.teaching.__main__ import INTERRUPTED, main
from agents.teaching.generation import LOCK_FILE, Summary, TeachingConfig, generate
from agents.teaching.shards import SETUP_FILE, shard_name
from tests.agents.teaching.chance import Chance

ROOT = Path(teaching.__file__).parents[2]


@pytest.fixture
def config(tmp_path: Path) -> TeachingConfig:
    return TeachingConfig(out=str(tmp_path / "a"), teacher="pimc:1", deals=12, shard=3)


@pytest.fixture
def by_chance(monkeypatch: pytest.MonkeyPatch) -> None:
    """The teacher costs nothing, whatever its name."""
    monkeypatch.setattr(generation, "make_agent", lambda *_: Chance())


def run(config: TeachingConfig, progress: Progress | None = None) -> Summary:
    return generate(config, progress or Progress(disable=True))


def shards(config: TeachingConfig) -> dict[str, bytes]:
    return {path.name: path.read_bytes() for path in Path(config.out).glob("*.npz")}


class Interrupting(Progress):
    """Raises when the second shard has been written."""

    def update(self, *args: Any, **kwargs: Any) -> None:
        super().update(*args, **kwargs)
        if self.tasks[0].completed == 2:
            raise KeyboardInterrupt


@pytest.mark.parametrize("workers", [1, 2])
def test_the_same_bytes_by_any_processes_and_after_an_interruption(
    workers: int, config: TeachingConfig, tmp_path: Path
) -> None:
    run(config)
    other = replace(config, out=str(tmp_path / "other"), workers=workers)
    with pytest.raises(KeyboardInterrupt):
        run(other, Interrupting(disable=True))
    assert 2 <= len(shards(other)) < 4
    summary = run(other)
    assert shards(other) == shards(config)
    assert list(shards(config)) and len(shards(config)) == 4
    assert summary.deals == 12
    assert summary.decisions == sum(map(len, load_shards(other.out)))
    assert summary.size == sum(map(len, shards(other).values()))
    assert 0 < summary.made < summary.decisions
    assert run(other).made == 0  # nothing is left to do


@pytest.mark.parametrize("number", [signal.SIGINT, signal.SIGTERM, signal.SIGKILL])
def test_a_program_that_is_stopped_goes_on(number: signal.Signals, tmp_path: Path) -> None:
    arguments = ["--teacher", "pimc:1", "--shard", "2", "--deals", "400", "--workers", "2", "--out"]
    out = tmp_path / "a"
    process = subprocess.Popen(
        [sys.executable, "-m", "agents.teaching", *arguments, str(out)],
        cwd=ROOT,
        env={**os.environ, "PYTHONPATH": str(ROOT)},
        stderr=subprocess.PIPE,
        encoding="utf-8",
    )
    deadline = time.monotonic() + 300  # machine code may have to be made first
    while not list(out.glob("*.npz")) and time.monotonic() < deadline:
        time.sleep(0.02)
    process.send_signal(number)
    _, said = process.communicate(timeout=30)
    codes = {signal.SIGINT: 130, signal.SIGTERM: 143, signal.SIGKILL: -9}
    assert process.returncode == codes[number], said
    if number == signal.SIGINT:
        assert said.endswith("interrupted; the same command goes on\n")
    kept = {path.name: path.read_bytes() for path in out.glob("*.npz")}
    assert 0 < len(kept) < 200
    (out / f".{shard_name(199)}.1.tmp").write_bytes(b"a draft")
    whole = TeachingConfig(out=str(tmp_path / "b"), teacher="pimc:1", shard=2, deals=2 * len(kept))
    run(whole)
    going_on = replace(whole, out=str(out))
    run(going_on)
    assert shards(going_on).items() >= shards(whole).items()
    assert shards(going_on).items() >= kept.items()
    assert not list(out.glob(".*"))


@pytest.mark.usefixtures("by_chance")
def test_more_deals_are_added(config: TeachingConfig, tmp_path: Path) -> None:
    run(replace(config, deals=4))
    before = shards(config)
    assert len(before) == 2  # rounded up
    run(config)
    assert len(shards(config)) == 4 and shards(config).items() > before.items()
    assert len(set(shards(config).values())) == 4
    deals = np.concatenate([shard.trajectories // 9 for shard in load_shards(config.out)])
    assert set(deals.tolist()) == set(range(12))


@pytest.mark.usefixtures("by_chance")
@pytest.mark.parametrize(
    ("name", "value"), [("seed", 2), ("epsilon", 0.5), ("shard", 4), ("teacher", "pimc:2")]
)
def test_other_settings_are_refused(name: str, value: Any, config: TeachingConfig) -> None:
    run(config)
    before = shards(config)
    other = replace(config, **{name: value})
    with pytest.raises(FolderError, match=f"another set of teacher data: {name} was .* and is now"):
        run(other)
    assert shards(config) == before


@pytest.mark.usefixtures("by_chance")
def test_settings_decide_what_is_played(config: TeachingConfig, tmp_path: Path) -> None:
    run(config)
    setup = json.loads((Path(config.out) / SETUP_FILE).read_text("utf-8"))
    assert setup == config.setup
    for changed in (replace(config, seed=2), replace(config, epsilon=0.5)):
        other = replace(changed, out=str(tmp_path / f"{changed.seed} {changed.epsilon}"))
        run(other)
        arrays = [next(load_shards(folder.out)) for folder in (config, other)]
        assert arrays[0].actions.tobytes() != arrays[1].actions.tobytes()


@pytest.mark.usefixtures("by_chance")
def test_a_broken_shard_is_not_overwritten(config: TeachingConfig) -> None:
    run(config)
    whole = shards(config)
    path = Path(config.out) / shard_name(1)
    path.write_bytes(b"broken")
    with pytest.raises(
        FolderError, match=rf"{path.name} cannot be read.*delete it, and it is made"
    ):
        run(config)
    assert path.read_bytes() == b"broken"
    path.unlink()
    run(config)
    assert shards(config) == whole


@pytest.mark.usefixtures("by_chance")
def test_one_process_at_a_time(config: TeachingConfig) -> None:
    run(config)
    with (
        Folder(config.out, "x", SETUP_FILE, LOCK_FILE, config.setup),
        pytest.raises(FolderError, match="another process is writing to"),
    ):
        run(config)


def test_deals_of_a_benchmark_are_refused(
    config: TeachingConfig, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(TeachingConfig, "seeds", SeedSet("select-v1"))
    with pytest.raises(ValueError, match="seed 1 drew 3 deals of the benchmark select-v1"):
        run(config)
    assert not Path(config.out).exists()


@pytest.mark.usefixtures("by_chance")
def test_the_program(
    config: TeachingConfig, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    file = tmp_path / "config.yaml"
    file.write_text(f"out: {config.out}\nshard: 3\ndeals: 5\nteacher: pimc:1\n", "utf-8")
    assert main(["--config", str(file), "--deals", "12"]) == 0
    out = capsys.readouterr().out
    total = sum(map(len, load_shards(config.out)))
    assert out.startswith(f"{config.out}: 12 deals, {total:,} decisions, ")
    assert out.endswith(" decisions/s\n")
    run(config)
    assert len(shards(config)) == 4


BAD = {
    "--teacher heuristic": "teacher 'heuristic' does not say what actions are worth: take pimc:N",
    "--teacher heuristic+uniform": "does not say what actions are worth",
    "--teacher open": "does not say what actions are worth",
    "--teacher nobody": "no such agent: 'nobody'",
    "--teacher=": "teacher must be a name",
    "--out=": "out must be a name",
    "--epsilon 1.5": "epsilon must be 0 to 1",
    "--deals 0": "deals must be 1 to",
    "--shard 0": "shard must be 1 to",
    "--workers 0": "workers must be 1 to",
    "--game chess": "chess",
    "--epsilom 1": "did you mean 'epsilon'?",
}


@pytest.mark.parametrize("arguments", BAD)
def test_bad_input_ends_in_one_line(
    arguments: str, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    with pytest.raises(SystemExit) as stop:
        main(["--out", str(tmp_path / "a"), *arguments.split()])
    assert stop.value.code == 2
    line = capsys.readouterr().err
    assert line.startswith("teaching: error: ") and line.count("\n") == 1
    assert BAD[arguments] in line
    assert not (tmp_path / "a").exists()


def test_a_folder_of_something_else(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    (tmp_path / "thesis.tex").write_text("x", "utf-8")
    with pytest.raises(SystemExit):
        main(["--out", str(tmp_path)])
    assert f"is not empty and holds no {SETUP_FILE}" in capsys.readouterr().err
    assert [path.name for path in tmp_path.iterdir()] == ["thesis.tex"]


def test_an_interruption_is_said(monkeypatch: pytest.MonkeyPatch) -> None:
    def interrupted(*_: Any) -> Summary:
        raise KeyboardInterrupt

    monkeypatch.setattr("agents.teaching.__main__.generate", interrupted)
    assert main([]) == INTERRUPTED == 130
