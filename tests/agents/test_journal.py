"""The journal of an evaluation: goes on after any end, refuses what is not its own."""

from __future__ import annotations

import io
import json
from pathlib import Path

import pytest

from agents.folder import FolderError
from agents.journal import JOURNAL, SETUP, Journal

SETTINGS = {"game": "prefa", "candidates": ("a", "b"), "until": None}


def write(folder: Path, *entries: int) -> None:
    with Journal(folder, SETTINGS) as journal:
        for entry in entries:
            journal.append({"n": entry})


def read(folder: Path) -> list[int]:
    with Journal(folder, SETTINGS) as journal:
        return [entry["n"] for entry in journal.entries]


def test_goes_on(tmp_path: Path) -> None:
    folder = tmp_path / "a" / "b"
    write(folder, 1, 2)
    assert read(folder) == [1, 2]
    write(folder, 3)
    assert read(folder) == [1, 2, 3]
    assert json.loads((folder / SETUP).read_text("utf-8"))["candidates"] == ["a", "b"]


@pytest.mark.parametrize("cut", [1, 3, 7])
def test_a_line_cut_off_is_dropped(tmp_path: Path, cut: int) -> None:
    write(tmp_path, 1, 2)
    path = tmp_path / JOURNAL
    path.write_bytes(path.read_bytes()[:-cut])
    assert read(tmp_path) == [1]
    write(tmp_path, 3)
    assert read(tmp_path) == [1, 3]


def test_entries_are_in_the_file_at_once(tmp_path: Path) -> None:
    with Journal(tmp_path, SETTINGS) as journal:
        journal.append({"n": 5})
        assert (tmp_path / JOURNAL).read_text("utf-8") == '{"n":5}\n'


def test_another_evaluation(tmp_path: Path) -> None:
    write(tmp_path, 1)
    with pytest.raises(FolderError, match=r"until was None and is now 0\.3; choose another"):
        Journal(tmp_path, {**SETTINGS, "until": 0.3})
    with pytest.raises(FolderError, match="sample was None and is now 4"):
        Journal(tmp_path, {**SETTINGS, "sample": 4})
    assert read(tmp_path) == [1]


def test_broken_files(tmp_path: Path) -> None:
    write(tmp_path, 1, 2)
    with (tmp_path / JOURNAL).open("ab") as file:
        file.write(b'{"n": 3\n{"n": 4}\n')
    before = (tmp_path / JOURNAL).read_bytes()
    with pytest.raises(FolderError, match=rf"{JOURNAL}:3 is broken.*cut the file off"):
        read(tmp_path)
    assert (tmp_path / JOURNAL).read_bytes() == before
    (tmp_path / SETUP).write_text("[", "utf-8")
    with pytest.raises(FolderError, match=rf"{SETUP} is broken"):
        read(tmp_path)
    (tmp_path / SETUP).write_text("3", "utf-8")
    with pytest.raises(FolderError, match=rf"{SETUP} is broken"):
        read(tmp_path)


def test_a_full_disk_is_named(tmp_path: Path) -> None:
    class Full(io.BytesIO):
        def flush(self) -> None:
            raise OSError(28, "No space left on device")

    write(tmp_path, 1)
    with Journal(tmp_path, SETTINGS) as journal:
        before, journal.file = journal.file, Full()
        with pytest.raises(OSError, match=rf"before is kept|played so far is kept.*{JOURNAL}"):
            journal.append({"n": 2})
        journal.file = before
    assert read(tmp_path) == [1]


def test_a_folder_of_something_else(tmp_path: Path) -> None:
    (tmp_path / "thesis.tex").write_text("x", "utf-8")
    with pytest.raises(FolderError, match=r"is not empty and holds no setup\.json"):
        Journal(tmp_path, SETTINGS)
    assert [path.name for path in tmp_path.iterdir()] == ["thesis.tex"]
    with pytest.raises(FolderError, match="is a file, not the folder"):
        Journal(tmp_path / "thesis.tex", SETTINGS)


def test_one_writer_at_a_time(tmp_path: Path) -> None:
    with (
        Journal(tmp_path, SETTINGS),
        pytest.raises(FolderError, match="another process is writing"),
    ):
        Journal(tmp_path, SETTINGS)
    assert read(tmp_path) == []
