"""The evaluator's records: finished deals of all seatings written, single lines shown.

What a record is, and how it is read and replayed: `prefa_env.records`.
"""

from __future__ import annotations

import os
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from pathlib import Path
from typing import IO

import numpy as np

from prefa_env.atomic import atomic_write
from prefa_env.doors import Episode
from prefa_env.game import Game, GameRules
from prefa_env.prefa import NAME as PREFA
from prefa_env.records import (
    DealRecord,
    MatchRecord,
    Record,
    RecordError,
    record_deal,
    record_match,
    record_match_deal,
    replay_deals,
    scan_records,
)
from prefa_env.render import table_text
from prefa_env.sheet import ScoreSheet, one_line

from .benchmarks import SeedSet
from .played import Deals, Played


class RecordWriter:
    """Writes finished deals as records to an open text file."""

    def __init__(
        self,
        file: IO[str],
        game: Game,
        rules: GameRules,
        episode: Episode = "deal",
        max_deals: int | None = None,
    ) -> None:
        self._file = file
        self._game = game
        self._rules = rules
        self._episode = episode
        self._max_deals = max_deals

    def write(self, played: Played, seeds: SeedSet, agents: Sequence[str]) -> None:
        """Write all games, deal by deal or match by match, each in all its seatings.

        Args:
            played: the finished deals or matches.
            seeds: the set they are of.
            agents: names of the players, as the seatings number them.
        """
        ends = np.searchsorted(played.deals.games, np.arange(1, played.lengths.size + 1))
        begins = [0, *ends[:-1].tolist()]
        for game, (begin, end) in enumerate(zip(begins, ends.tolist(), strict=True)):
            d, r = divmod(game, len(played.seatings))
            seated = [agents[index] for index in played.seatings[r]]
            seed = f"{seeds.name}:{played.numbers[d]}"
            record = self._record(played.deals, range(begin, end), seated, seed)
            with _named(self._file):
                self._file.write(record.to_json() + "\n")

    def _record(
        self, deals: Deals, rows: range, agents: Sequence[str], seed: str
    ) -> DealRecord | MatchRecord:
        """The record of one game: a deal, or the deals of a match."""
        game = self._game
        actions = [[a for a in deals.actions[row].tolist() if a >= 0] for row in rows]
        tables = [deals.tables[row] for row in rows]
        if self._episode == "deal":
            return record_deal(game, self._rules, tables[0], actions[0], agents, seed)
        return record_match(
            game,
            self._rules,
            tables[-1],
            [record_match_deal(game, *deal) for deal in zip(tables, actions, strict=True)],
            agents,
            seed,
            max_deals=self._max_deals,
        )

    def position(self) -> int:
        """Bytes written so far; they are in the file."""
        with _named(self._file):
            self._file.flush()
        return self._file.tell()


@contextmanager
def _named(file: IO[str]) -> Iterator[None]:
    """Let an error of writing to a file name it."""
    try:
        yield
    except OSError as error:
        raise OSError(error.errno, error.strerror, file.name) from error


@contextmanager
def open_records(
    path: str | os.PathLike[str],
    game: Game,
    rules: GameRules,
    kept: int | None = None,
    episode: Episode = "deal",
    max_deals: int | None = None,
    is_begun: bool = False,
) -> Iterator[RecordWriter]:
    """A writer of records.

    Args:
        path: the file.
        game: the game module.
        rules: the variant.
        kept: go on after so many bytes of the file. If None the file is written anew and takes its
            name when the block ends without error (`atomic_write`).
        episode, max_deals: what is played, as `Arena` has them.
        is_begun: the file is known to have been begun for these records, though nothing of it is
            to be kept.

    Raises:
        RecordError: the file is shorter than `kept`, or nothing of it is to be kept.
        OSError: the file cannot be written.
    """
    if kept is None:
        with atomic_write(path) as file:
            yield RecordWriter(file, game, rules, episode, max_deals)
        return
    name = os.fspath(path)
    if Path(path).exists() and not Path(path).is_file():
        raise RecordError(f"{name} is no regular file: records could not go on there")
    with Path(path).open("a", encoding="utf-8") as file:
        size = file.tell()
        if size < kept:
            raise RecordError(
                f"{name} has lost records: {size} bytes, there were {kept}; bring the file back, "
                "or choose another folder"
            )
        if size > kept == 0 and not is_begun:
            raise RecordError(f"{name} is there already: name another file, or remove it")
        file.truncate(kept)
        yield RecordWriter(file, game, rules, episode, max_deals)


_MOST_DIGITS = 19
"""Of the number of a line; what is longer belongs to the name of the file."""


def show(place: str) -> str:
    """A record played again, as text.

    Args:
        place: a file of records, and after a colon the number of a line, from 1; without it the
            first one.

    Raises:
        RecordError: no such line, or the record is broken or contradicts its replay.
        OSError: the file cannot be read.
    """
    path, colon, number = place.rpartition(":")
    if not (colon and number.isdecimal() and len(number) < _MOST_DIGITS):
        path, number = place, "1"
    for line, result in scan_records(path):
        if line == int(number):
            if isinstance(result, RecordError):
                raise result
            try:
                return _describe(result)
            except RecordError as error:
                raise RecordError(f"{place}: {error}") from None
    raise RecordError(f"{path} has no line {number}")


def _describe(record: Record) -> str:
    """A record in readable form; RecordError if its replay contradicts it."""
    tables = replay_deals(record)
    players = [f"player_{seat}" for seat in range(len(record.agents))]
    agents = map(one_line, record.agents)
    if isinstance(record, MatchRecord):
        lines = [f"{record.game}, match {record.seed}: {len(record.deals)} deals"]
        seen = ScoreSheet.of_tables(players, tables).text(annotated=True)
        last = "score     " + ", ".join(f"{value:+.2f}" for value in record.score)
    else:
        lines = [f"{record.game}, deal {record.seed}: {record.deal}"]
        seen = table_text(tables[0])
        last = "settled   " + ", ".join(f"{value:+.2f}" for value in record.settled)
    lines += [f"{name:9} {agent}" for name, agent in zip(players, agents, strict=True)]
    if record.game == PREFA:
        lines += ["", seen]
    return "\n".join([*lines, last, "the replay agrees with the record"])
