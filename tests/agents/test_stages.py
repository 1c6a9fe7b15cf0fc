"""Stages of a training: run in turn, and on from where they were stopped."""

from __future__ import annotations

from pathlib import Path

import pytest

import train as program
from agents import checkpoint, stages
from agents.stages import read_stages, run_stages
from agents.teaching.generation import TeachingConfig
from agents.train_config import TrainConfig

SMALL = "decisions: 2000\ndeals: 64\nthreads: 1\nnetwork: {width: 16, blocks: 0}\n"


@pytest.fixture
def files(tmp_path: Path) -> list[str]:
    """Teacher data, a run, and a run that starts from it."""
    texts = {
        "data.yaml": f"out: {tmp_path}/data\ndeals: 5\n",
        "first.yaml": f"run: {tmp_path}/first\n{SMALL}",
        "second.yaml": f"run: {tmp_path}/second\nstart: {tmp_path}/first\n{SMALL}",
    }
    for name, text in texts.items():
        (tmp_path / name).write_text(text, encoding="utf-8")
    return [str(tmp_path / name) for name in texts]


@pytest.fixture
def generated(monkeypatch: pytest.MonkeyPatch) -> list[TeachingConfig]:
    """What data were asked for; none are made."""
    asked: list[TeachingConfig] = []
    monkeypatch.setattr(stages, "generate", lambda config, progress: asked.append(config))
    return asked


def test_files_are_told_apart(files: list[str]) -> None:
    data, first, second = read_stages(files)
    assert isinstance(data, TeachingConfig) and data.deals == 5
    assert isinstance(first, TrainConfig) and first.resume
    assert isinstance(second, TrainConfig) and second.start == first.run


def test_stages_run_in_turn_and_what_is_finished_is_left_alone(
    files: list[str],
    generated: list[TeachingConfig],
    tmp_path: Path,
    capsys: pytest.CaptureFixture[str],
) -> None:
    assert run_stages(files)
    assert [config.out for config in generated] == [f"{tmp_path}/data"]
    found = [checkpoint.resolve(tmp_path / name) for name in ("first", "second")]
    before = [(folder / "checkpoint.json").stat().st_mtime_ns for folder in found]
    capsys.readouterr()
    assert run_stages(files[1:])
    assert [(folder / "checkpoint.json").stat().st_mtime_ns for folder in found] == before
    said = capsys.readouterr().out
    assert "stage 2 of 2" in said and said.count("is finished") == 2


def test_after_a_signal_no_other_stage_begins(
    files: list[str], generated: list[TeachingConfig], monkeypatch: pytest.MonkeyPatch
) -> None:
    begun: list[str] = []

    def stop(config: TrainConfig) -> bool:
        begun.append(config.run)
        return False

    monkeypatch.setattr(stages, "train", stop)
    assert not run_stages(files)
    assert len(begun) == 1


def test_a_bad_stage_is_named_before_the_first_begins(
    files: list[str],
    generated: list[TeachingConfig],
    tmp_path: Path,
    capsys: pytest.CaptureFixture[str],
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    (tmp_path / "bad.yaml").write_text("run: x\nlr: 3\n", encoding="utf-8")
    for bad, words in (("bad.yaml", "unknown option 'lr'"), ("none.yaml", "no such file")):
        arguments = ["train.py", "--stages", f"{files[0]},{tmp_path / bad}"]
        monkeypatch.setattr("sys.argv", arguments)
        with pytest.raises(SystemExit) as stop:
            program.main()
        assert stop.value.code == 2
        assert words in capsys.readouterr().err
    assert not generated


def test_stages_must_be_named(
    monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.setattr("sys.argv", ["train.py", "--stages="])
    with pytest.raises(SystemExit):
        program.main()
    assert "stages" in capsys.readouterr().err


def test_the_command_line_runs_them(
    files: list[str], generated: list[TeachingConfig], monkeypatch: pytest.MonkeyPatch
) -> None:
    ended: list[str] = []

    def note(config: TrainConfig) -> bool:
        ended.append(config.run)
        return True

    monkeypatch.setattr(stages, "train", note)
    monkeypatch.setattr("sys.argv", ["train.py", "--stages", ",".join(files)])
    assert program.main() == 0
    assert len(ended) == 2 and len(generated) == 1


def test_what_no_stage_makes_is_named_before_the_first_begins(tmp_path: Path) -> None:
    for name in ("start", "anchor", "data"):
        file = tmp_path / f"{name}.yaml"
        file.write_text(f"run: {tmp_path}/run\n{name}: {tmp_path}/nothing\n", encoding="utf-8")
        with pytest.raises(
            ValueError, match=f"{name}: there is no .*nothing, and no earlier stage"
        ):
            read_stages([str(file)])
    file.write_text(f"run: {tmp_path}/run\nstart: prefa-v1\n", encoding="utf-8")
    assert len(read_stages([str(file)])) == 1
