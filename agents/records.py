"""The evaluator's records: finished deals of all seatings written, single lines shown.

What a record is, and how it is read and replayed: `prefa_env.records`.
"""

from __future__ import annotations

import os
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from pathlib import Path
from typing import IO, Any

import numpy as np
import numpy.typing as npt

from prefa_env.atomic import atomic_write
from prefa_env.game import Game, GameRules
from prefa_env.prefa import NAME as PREFA
from prefa_env.records import (
    DealRecord,
    MatchRecord,
    Record,
    RecordError,
    replay,
    scan_records,
)
from prefa_env.render import table_text

from .arena import Played
from .benchmarks import SeedSet


class RecordWriter:
    """Writes finished deals as records to an open text file."""

    def __init__(self, file: IO[str], game: Game, rules: GameRules) -> None:
        self._file = file
        self._game = game
        self._rules = rules.to_dict()
        self._texts = [game.action_text(action) for action in range(game.NUM_ACTIONS)]

    def write(self, played: Played, seeds: SeedSet, agents: Sequence[str]) -> None:
        """Write all seatings of all deals, deal by deal.

        Args:
            played: the finished deals.
            seeds: the set they are of.
            agents: names of the players, as the seatings number them.
        """
        for d, (dealer, deck) in enumerate(zip(played.dealers, played.decks, strict=True)):
            deal = self._game.deal_text(int(dealer), deck.tolist())
            for r, seating in enumerate(played.seatings):
                record = DealRecord(
                    game=self._game.NAME,
                    rules=self._rules,
                    deal=deal,
                    actions=self._actions(played.actions[d, r]),
                    agents=tuple(agents[index] for index in seating),
                    kapikia=tuple(played.kapikia[d, r].tolist()),
                    kassa=tuple(played.kassa[d, r].tolist()),
                    settled=tuple((played.settled_thirds[d, r] / 3).tolist()),
                    seed=f"{seeds.name}:{played.numbers[d]}",
                )
                self._file.write(record.to_json() + "\n")

    def position(self) -> int:
        """Bytes written so far; they are in the file."""
        try:
            self._file.flush()
        except OSError as error:
            raise OSError(error.errno, error.strerror, self._file.name) from error
        return self._file.tell()

    def _actions(self, actions: npt.NDArray[np.int8]) -> tuple[str, ...]:
        return tuple(self._texts[action] for action in actions.tolist() if action >= 0)


@contextmanager
def open_records(
    path: str | os.PathLike[str], game: Game, rules: GameRules, kept: int | None = None
) -> Iterator[RecordWriter]:
    """A writer of records.

    Args:
        path: the file.
        game: the game module.
        rules: the variant.
        kept: go on after so many bytes of the file. If None the file is written anew and takes its
            name when the block ends without error (`atomic_write`).

    Raises:
        RecordError: the file is shorter than `kept`, or nothing of it is to be kept.
        OSError: the file cannot be written.
    """
    if kept is None:
        with atomic_write(path) as file:
            yield RecordWriter(file, game, rules)
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
        if size > kept == 0:
            raise RecordError(f"{name} is there already: name another file, or remove it")
        file.truncate(kept)
        yield RecordWriter(file, game, rules)


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
    if not (colon and number.isdecimal()):
        path, number = place, "1"
    for line, result in scan_records(path):
        if line == int(number):
            if isinstance(result, RecordError):
                raise result
            try:
                table = replay(result)
            except RecordError as error:
                raise RecordError(f"{place}: {error}") from None
            return _describe(result, table)
    raise RecordError(f"{path} has no line {number}")


def _describe(record: Record, table: Any) -> str:
    if isinstance(record, MatchRecord):
        what = f"match {record.seed}: {len(record.deals)} deals; the last one: "
        deal = record.deals[-1].deal
    else:
        what, deal = f"deal {record.seed}: ", record.deal
    lines = [f"{record.game}, {what}{deal}"]
    lines += [f"player_{seat:<2} {agent}" for seat, agent in enumerate(record.agents)]
    if record.game == PREFA:
        lines += ["", table_text(table)]
    if isinstance(record, MatchRecord):
        lines += [f"match     kapikia {list(record.kapikia)}, kassa {list(record.kassa)}"]
        lines += ["score     " + ", ".join(f"{value:+.2f}" for value in record.score)]
    else:
        lines += ["settled   " + ", ".join(f"{value:+.2f}" for value in record.settled)]
    return "\n".join([*lines, "the replay agrees with the record"])
