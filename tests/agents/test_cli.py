"""Command lines and config files over dataclasses; files that are there whole or not at all."""

from __future__ import annotations

import os
from dataclasses import dataclass, field
from pathlib import Path
from typing import Literal

import pytest

from agents.cli import USAGE_ERROR, Names, parse_config
from prefa_env.atomic import atomic_write, check_writable
from prefa_env.prefa import Rules


@dataclass(frozen=True)
class Ppo:
    """How it learns."""

    lr: float = 2.5e-4
    """Learning rate."""
    epochs: int = 2
    """Passes over the data."""

    def __post_init__(self) -> None:
        if not self.lr > 0:
            raise ValueError(f"lr must be positive, not {self.lr}")


@dataclass(frozen=True)
class Config:
    """Everything."""

    kind: Literal["small", "large"] = "small"
    """Which kind."""
    who: Names = Names(("a",))  # noqa: RUF009
    """Whose names."""
    widths: tuple[int, ...] = (1, 2)
    """How wide."""
    out: str | None = None
    """Where to."""
    rules: Rules = field(default_factory=Rules)
    """The rule variant."""
    ppo: Ppo = field(default_factory=Ppo)
    """Learning."""

    def __post_init__(self) -> None:
        if "nobody" in self.who:
            raise ValueError("who must not name 'nobody'")


def parse(*arguments: str) -> Config:
    return parse_config(Config, "Does things.", arguments, "prog")


def write(folder: Path, name: str, text: str) -> str:
    path = folder / name
    path.write_text(text, "utf-8")
    return str(path)


def test_defaults() -> None:
    assert parse() == Config()


def test_values_on_the_command_line() -> None:
    config = parse(
        "--kind=large", "--who", "x,y", "--widths", "[3]", "--ppo.lr", "3e-4", "--out", "7",
        "--rules.hold", "any_after_first_round", "--rules.ten_nt_value", "10",
        "--rules.write_bid", "false",
    )  # fmt: skip
    assert config == Config(
        kind="large",
        who=Names(("x", "y")),
        widths=(3,),
        out="7",
        rules=Rules(hold="any_after_first_round", ten_nt_value=10, write_bid=False),
        ppo=Ppo(lr=3e-4),
    )
    assert isinstance(config.who, Names)


def test_files_give_values_later_ones_and_the_command_line_override(tmp_path: Path) -> None:
    first = write(tmp_path, "1.yaml", "who: [x, y]\nppo:\n  lr: 1e-3\n  epochs: 5\n")
    second = write(tmp_path, "2.yaml", "who: z,w\nppo:\n  epochs: 6\nrules:\n  all_pass: misere\n")
    config = parse("--config", first, "--config", second, "--ppo.lr", "0.5")
    assert config == Config(who=Names(("z", "w")), ppo=Ppo(0.5, 6), rules=Rules(all_pass="misere"))


def test_printed_config_is_read_back(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    with pytest.raises(SystemExit) as stop:
        parse("--who", "x,y", "--ppo.lr", "3e-4", "--rules.kassa", "20", "--print_config")
    assert stop.value.code == 0
    path = write(tmp_path, "c.yaml", capsys.readouterr().out)
    assert parse("--config", path) == Config(
        who=Names(("x", "y")), ppo=Ppo(3e-4), rules=Rules(kassa=20)
    )


def test_help_explains_every_field(capsys: pytest.CaptureFixture[str]) -> None:
    with pytest.raises(SystemExit) as stop:
        parse("--help")
    assert stop.value.code == 0
    text = " ".join(capsys.readouterr().out.split())
    for part in ("Which kind.", "Whose names.", "Learning rate.", "Who may hold a bid (A3)."):
        assert part in text


BAD_ARGUMENTS = {
    "--kind huge": ["kind", "huge", "'small', 'large'"],
    "--who a,,b": ["who", "a,,b", "commas"],
    "--who nobody": ["who must not name 'nobody'"],
    "--widths 1,x": ["widths", "1,x"],
    "--ppo.lr -1": ["ppo: lr must be positive, not -1.0"],
    "--ppo.lr much": ["ppo.lr", "much", "float"],
    "--ppo.epochs 1.5": ["ppo.epochs", "1.5", "int"],
    "--ppo.lrr 1": ["unknown option 'ppo.lrr'", "did you mean 'ppo.lr'?"],
    "--nothing-like-it 1": ["unknown option 'nothing-like-it'", "known: config, kind, who"],
    "--wh x": ["unknown option 'wh'", "did you mean 'who'?"],
    "stray": ["stray"],
    "--kind": ["--kind"],
    "--config": ["--config"],
    "--config none.yaml": ["no such file", "none.yaml"],
    "--config=none.yaml": ["no such file", "none.yaml"],
    "--rules.hold never": ["rules.hold", "never", "any_after_first_round"],
    "--rules.kassa 0": ["rules: kassa must be an integer of 1 to 16383, not 0"],
}


def error_line(capsys: pytest.CaptureFixture[str], *arguments: str) -> str:
    """The one line that a bad command line ends with."""
    with pytest.raises(SystemExit) as stop:
        parse(*arguments)
    assert stop.value.code == USAGE_ERROR
    captured = capsys.readouterr()
    assert captured.out == ""
    assert captured.err.startswith("prog: error: ")
    assert captured.err.count("\n") == 1
    return captured.err


@pytest.mark.parametrize("arguments", BAD_ARGUMENTS)
def test_bad_arguments_end_in_one_line(arguments: str, capsys: pytest.CaptureFixture[str]) -> None:
    line = error_line(capsys, *arguments.split())
    for part in BAD_ARGUMENTS[arguments]:
        assert part in line


BAD_FILES = {
    "whom: x\n": ["unknown option 'whom'", "did you mean 'who'?"],
    "ppo:\n  foo: 1\n": ["unknown option 'ppo.foo'"],
    "ppo:\n  lr: [1\n": ["line 2"],
    "who: [1, x]\n": ["who", "[1, 'x']"],
    "kind: 3\n": ["kind", "3", "small"],
    "- x\n": ["keys and values"],
    "": ["keys and values"],
    "rules:\n  hod: x\n": ["unknown option 'rules.hod'", "did you mean 'rules.hold'?"],
}


@pytest.mark.parametrize("text", BAD_FILES)
def test_bad_files_end_in_one_line_that_names_them(
    text: str, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    good = write(tmp_path, "good.yaml", "who: x\n")
    bad = write(tmp_path, "bad.yaml", text)
    line = error_line(capsys, "--config", good, "--config", bad)
    for part in [bad, *BAD_FILES[text]]:
        assert part in line


def test_value_in_place_of_keys(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    line = error_line(capsys, "--config", write(tmp_path, "c.yaml", "ppo: 3\n"))
    assert "ppo" in line and "3" in line


# -- atomic files ---------------------------------------------------------------------------------


def test_atomic_write(tmp_path: Path) -> None:
    path = tmp_path / "x.txt"
    path.write_text("old")
    with atomic_write(path) as file:
        file.write("new ♠")
        file.flush()
        assert path.read_text() == "old"
    assert path.read_text("utf-8") == "new ♠"
    with atomic_write(path, "wb") as bytes_file:
        bytes_file.write(b"\0")
    assert path.read_bytes() == b"\0"
    assert list(tmp_path.iterdir()) == [path]


@pytest.mark.parametrize("error", [ValueError, KeyboardInterrupt])
def test_atomic_write_leaves_nothing_after_an_error(
    tmp_path: Path, error: type[BaseException]
) -> None:
    path = tmp_path / "x.txt"
    path.write_text("old")
    for target in (path, tmp_path / "y.txt"):
        with pytest.raises(error):
            _write_half(target, error)
    assert list(tmp_path.iterdir()) == [path]
    assert path.read_text() == "old"


def _write_half(path: Path, error: type[BaseException]) -> None:
    with atomic_write(path) as file:
        file.write("half")
        raise error


def test_atomic_write_through_a_link(tmp_path: Path) -> None:
    path, link = tmp_path / "x.txt", tmp_path / "link"
    path.write_text("old")
    link.symlink_to(path)
    with atomic_write(link) as file:
        file.write("new")
    assert link.is_symlink() and path.read_text() == "new"


def test_devices_are_written_directly() -> None:
    check_writable(os.devnull)
    with atomic_write(os.devnull) as file:
        file.write("x")
    assert not Path(os.devnull).is_file()


def test_check_writable(tmp_path: Path) -> None:
    check_writable(tmp_path / "x")
    assert list(tmp_path.iterdir()) == []
    with pytest.raises(OSError, match="it is a folder"):
        check_writable(tmp_path)
    with pytest.raises(OSError, match=r"there is no folder '.*none'"):
        check_writable(tmp_path / "none" / "x")
    with pytest.raises(OSError, match="it is a folder"), atomic_write(tmp_path):
        pass
    with pytest.raises(ValueError, match="mode"):
        atomic_write(tmp_path / "x", "a")  # type: ignore[call-overload]
