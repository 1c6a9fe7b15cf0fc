"""The event log of the public Greek site: its deals, and a played deal as such a log.

`docs/site_log.md` describes the lines.
"""

from __future__ import annotations

import os
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass, field
from pathlib import Path

import numpy as np

from . import kernel
from .rules import NUM_CARDS, NUM_SEATS, PACK, Action, Phase, Rules
from .state import DTYPE, State
from .text import RUNG_TEXTS, action_text, deal_text, legal_text, parse_deal

_EVENT_OF = {
    Phase.AUCTION: "call",
    Phase.DISCARD: "contract",
    Phase.DEFENCE: "participation",
    Phase.INVITE: "participation",
    Phase.PLAY: "card",
}
"""The event that is due in a phase; discards and contract are one event."""

_EVENTS = ("deal", *dict.fromkeys(_EVENT_OF.values()))

_WORDS = {"ΠΑΙΖΩ": Action.PLAY, "ΠΑΣΟ": Action.PASS, "ΜΑΖΙ": Action.INVITE, "ΜΟΝΟΣ": Action.ALONE}
_WORD_OF = {int(action): word for word, action in _WORDS.items()}

_SIMPLE_CALLS = {int(Action.PASS): "DPS", int(Action.WRITE): "DTG"}
_CODES = [text.replace("10", "T") for text in RUNG_TEXTS]  # `6S` .. `TNT`
_BID_OF = {code[1] + code[0]: Action.BID + rung for rung, code in enumerate(_CODES)}
_CODE_OF = {int(action): code for code, action in _BID_OF.items()}  # `S6` .. `NT`


@dataclass(frozen=True)
class LoggedDeal:
    """A deal of a log, played again by the rules."""

    line: int  # of its deal event, from 1
    deal: str  # as `prefa.deal_text` has it
    actions: tuple[int, ...]
    table: State = field(compare=False, repr=False)  # at the end


@dataclass(frozen=True)
class Refusal:
    """A deal of a log that was not read, and why."""

    source: str
    line: int  # where reading it stopped, from 1
    reason: str

    def __str__(self) -> str:
        return f"{self.source}:{self.line}: {self.reason}"


def read_log(
    path: str | os.PathLike[str], rules: Rules | None = None
) -> Iterator[LoggedDeal | Refusal]:
    """The deals of a file, UTF-8, as `parse_log`; OSError if it cannot be read."""
    # What is no UTF-8 is kept visible, so that it spoils the deal it stands in and no other.
    with Path(path).open(encoding="utf-8-sig", errors="backslashreplace") as file:
        yield from parse_log(file, rules, os.fspath(path))


def parse_log(
    lines: Iterable[str], rules: Rules | None = None, source: str = "log"
) -> Iterator[LoggedDeal | Refusal]:
    """The deals of a log, each played again; one that cannot be is a refusal, the rest is read.

    Args:
        lines: of the log; empty ones and those that begin with `#` are skipped.
        rules: the variant; by default `Rules.site()`.
        source: name of the log, for refusals.
    """
    flags = (rules or Rules.site()).flags
    for events in _split(lines):
        event = events[0]
        replay = _Replay(flags)
        try:
            for event in events:
                replay.do(event[1])
            replay.check_end()
        except ValueError as error:
            yield Refusal(source, event[0], str(error))
        else:
            yield LoggedDeal(events[0][0], replay.deal, tuple(replay.actions), replay.table)


def log_lines(deal: str, actions: Sequence[int], rules: Rules | None = None) -> list[str]:
    """A played deal as lines of the log, without line ends; `rules` as in `parse_log`.

    Raises ValueError if the deal is no deal, an action is illegal or the end is missing.
    """
    dealer, deck = parse_deal(deal)
    cards = deck.tolist()
    replay = _Replay((rules or Rules.site()).flags)
    table = replay.table
    replay.start(dealer, cards)
    lines = [f"deal\t{dealer + 1}\t{''.join(map(PACK.card_text, cards))}"]
    discards = ""
    for action in actions:
        seat, phase, has_aces = int(table.seat), Phase(int(table.phase)), table.has_aces
        replay.step(action)
        if phase == Phase.DISCARD:
            discards += PACK.card_text(action)
            continue
        if phase == Phase.AUCTION:
            data = _SIMPLE_CALLS.get(action) or "D="[table.is_held] + _CODE_OF[action]
        elif phase == Phase.CONTRACT:
            declared = _SIMPLE_CALLS.get(action) or "DA"[has_aces] + _CODE_OF[action]
            phase, data = Phase.DISCARD, declared + discards
        elif phase == Phase.PLAY:
            data = PACK.card_text(action)
        else:
            data = _WORD_OF[action]
        lines.append(f"{_EVENT_OF[phase]}\t{seat + 1}\t{data}")
    replay.check_end()
    return lines


def _split(lines: Iterable[str]) -> Iterator[list[tuple[int, str]]]:
    """The numbered lines of each deal; what stands before the first one comes by itself."""
    events: list[tuple[int, str]] = []
    for number, line in enumerate(lines, 1):
        text = line.rstrip("\r\n")
        if not text.strip() or text.startswith("#"):
            continue
        if events and _name(text) == "deal":
            yield events
            events = []
        events.append((number, text))
    if events:
        yield events


def _name(text: str) -> str:
    """The event of a line, whatever follows it."""
    return text.split(maxsplit=1)[0].casefold()


class _Replay:
    """A table, and what its log does at it; everything the rules or the form forbid raises."""

    def __init__(self, flags: int) -> None:
        self.table: State = np.zeros(1, DTYPE)[0]
        self.deal = ""
        self.actions: list[int] = []
        self._flags = flags

    def start(self, dealer: int, deck: Sequence[int]) -> None:
        self.deal = deal_text(dealer, deck)
        kernel.deal(self.table, self._flags, np.array(deck, np.int8), dealer)

    def step(self, action: int) -> None:
        legal = int(kernel.legal_actions(self.table))
        if action < 0 or not legal >> action & 1:
            raise ValueError(f"{action_text(action)} is illegal; legal: {legal_text(legal)}")
        kernel.step(self.table, action)
        self.actions.append(action)

    def check_end(self) -> None:
        if self.table.seat >= 0:
            raise ValueError(f"the deal is not over: {self._due()}")

    def do(self, text: str) -> None:
        """Do what a line of the log says."""
        name = _name(text)
        if name not in _EVENTS:
            raise ValueError(
                f"there is no event {name!r} in these rules (there are {', '.join(_EVENTS)})"
            )
        fields = text.split("\t")
        if len(fields) != 3 or fields[0].casefold() != name:
            raise ValueError(f"a line is event, seat and data with one tab between, not {text!r}")
        seats = [str(seat + 1) for seat in range(NUM_SEATS)]
        if fields[1] not in seats:
            raise ValueError(f"a seat is one of {', '.join(seats)}, not {fields[1]!r}")
        seat, data = seats.index(fields[1]), fields[2]
        if name == "deal":
            self.start(seat, _parse_deck(data))
            return
        if not self.deal:
            raise ValueError(f"{name} before the first deal")
        if self.table.seat < 0:
            raise ValueError(f"{name} after the end of the deal")
        if (name, seat) != (_EVENT_OF[Phase(int(self.table.phase))], self.table.seat):
            raise ValueError(f"{name} of seat {seat + 1}, but {self._due()}")
        read = {
            "call": self._call,
            "contract": self._contract,
            "participation": self._participation,
            "card": self._card,
        }
        read[name](data)

    def _due(self) -> str:
        phase = Phase(int(self.table.phase))
        event = _EVENT_OF.get(phase, "contract")
        return f"{event} of seat {self.table.seat + 1} is due"

    def _call(self, data: str) -> None:
        action = _parse_call(data, "D=")
        self.step(action)
        if action >= Action.BID and (data[0] == "=") != bool(self.table.is_held):
            mark = "D="[self.table.is_held]
            raise ValueError(f"{data} must be {mark}{data[1:]}: '=' marks a hold, 'D' a new bid")

    def _contract(self, data: str) -> None:
        action = _parse_call(data[:3], "DA")
        if len(data) != 7:
            raise ValueError(f"a contract is three characters and two discards, not {data!r}")
        for start in (3, 5):
            self.step(PACK.parse_card(data[start : start + 2]))
        has_aces = bool(self.table.has_aces)
        self.step(action)
        if action >= Action.BID and (data[0] == "A") != has_aces:
            held = "has" if has_aces else "does not have"
            raise ValueError(f"{data[:3]}: seat {self.table.owner + 1} {held} four aces that count")

    def _participation(self, data: str) -> None:
        if data not in _WORDS:
            raise ValueError(f"a participation is one of {', '.join(_WORDS)}, not {data!r}")
        self.step(int(_WORDS[data]))

    def _card(self, data: str) -> None:
        self.step(PACK.parse_card(data))


def _parse_call(text: str, marks: str) -> int:
    """The action of three characters, the first one of `marks`."""
    for action, call in _SIMPLE_CALLS.items():
        if text == call:
            return action
    if text[:1] not in tuple(marks) or text[1:] not in _BID_OF:
        raise ValueError(
            f"no such call: {text!r} (DPS, DTG, or one of {marks}, a strain of SCDHN and a level "
            "of 6789T)"
        )
    return int(_BID_OF[text[1:]])


def _parse_deck(data: str) -> list[int]:
    """The cards of a deal event, int [32]."""
    if len(data) != 2 * NUM_CARDS:
        raise ValueError(f"a deal has {NUM_CARDS} cards of two characters, not {len(data)} in all")
    deck: list[int] = []
    for start in range(0, len(data), 2):
        card = PACK.parse_card(data[start : start + 2])
        if card in deck:
            raise ValueError(f"card {PACK.card_text(card)} stands twice in the deal")
        deck.append(card)
    return deck
