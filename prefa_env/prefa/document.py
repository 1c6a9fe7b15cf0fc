"""Observation, state and actions of Prefa as a page of Markdown, from their declarations.

`python -m prefa_env.prefa.document > docs/observation.md` writes the page anew.
"""

from __future__ import annotations

import sys
from collections.abc import Iterable, Sequence

from ..cards import SUITS
from .rules import NUM_ACTIONS, NUM_CARDS, PACK, STRAINS, Action, Phase
from .state import MAX_CALLS, OBSERVATION, STATE
from .text import ACTION_TEXTS

_WORDS = {
    Action.PASS: ("auction, defence", "pass"),
    Action.WRITE: (
        "auction, contract",
        "*write*; at the contract, where only a writer may say it: decline to play",
    ),
    Action.BID: ("auction, contract", "bid, hold or name a contract: the table below"),
    Action.PLAY: ("defence", "play against the contract"),
    Action.ALONE: ("invite", "play alone"),
    Action.INVITE: ("invite", "invite the hand that passed"),
}
"""By action: the phases in which it may be legal, and what it means."""

_INTRODUCTION = """\
# Observations, states and actions

*This page is printed by `python -m prefa_env.prefa.document`; do not edit it by hand.*

A seat sees the table as one row of bytes, the **observation**. A critic, or whoever else may look
at all cards, sees the **state**: the same bytes, then what is hidden. Both are `int8`, fixed in
length and declared once, in `prefa_env/prefa/state.py`; sizes, offsets and this page follow from
there. In code a field is found by its name, never by its number:

```python
from prefa_env import VectorEnv
from prefa_env.prefa import OBSERVATION

env = VectorEnv("prefa", num_envs=2)
hands = env.observations[:, OBSERVATION["hand"]]
assert hands.shape == (2, 32) and (hands.sum(axis=1) == 10).all()
```

Seats are relative to the one that looks: *me*, *next* (at my right, who acts after me) and *after*
(at my left). Turning the seats of a table therefore changes nothing in what is seen. A field of 32
holds one byte a card, in the order of the [card numbers](#cards). A field of several choices
(phase, level, strain, seats) is one-hot; all zeros mean *none*.

What was hidden from a seat is nowhere in its observation, and nothing that it was shown is missing:
the auction in order (`calls`), who said what (`said_…`), every card with the moment it was played
(`order`, `played_…`), and for the declarer his talon and his discards. An observation is a full
memory; nobody has to remember earlier ones.

Suits have their own names throughout, though once a contract is named only trumps differ from the
rest. `rows, masks, meant = prefa.relabel(env.observations, env.action_masks)` names them anew where
that is so: trumps last, before them the suits by their length in the hand that the seat began with.
`meant[i, a]` is the action that action `a` of the new row `i` stands for.
"""

_OBSERVATION = """\
## Observation

{size} bytes, version 0, fingerprint `{fingerprint}`. A fingerprint changes with the name, size or
range of any field.

{table}

- **`calls`** holds up to {calls} calls from the first one on, each as its action less {first}: 1 is
  a pass, 2 a *write*, 3 and more a bid or hold. First hand made the first call.
- **`said_…`** are sets: column 0 a pass in the auction, 1 *write*, 2–26 the bids and holds,
  27 play, 28 alone, 29 invite, 30 a pass in the defence.
- **`owed`** and **`owed_together`** are filled while a contract is played (D4 of
  [the rules](rules.md#defence)).
- **Numbers of the match** have two bytes: high · 128 + low; what is beyond −16384 or 16383 is shown
  as these. They and `shown_card` are there for matches; where a single deal is played, they and
  `is_match` are zero.
- When the deal is over, `turn` is empty and the observation still holds all that the seat saw.
"""

_STATE = """\
## State

{size} bytes, fingerprint `{fingerprint}`: the observation of the seat to act (of seat 0 when the
deal is over), then

{table}
"""

_ACTIONS = """\
## Actions

`Discrete({size})`, the same in every phase; an action mask, `int8`, has a 1 for each legal one and
is all 0 for a seat that is not to act. Phases come in this order: {phases}.
The discard is two actions of one card each.

{table}

Texts can be parsed back: `prefa.action_text` and `prefa.parse_action`.
"""


def _table(head: Sequence[str], rows: Iterable[Sequence[object]]) -> str:
    """A Markdown table."""
    lines = [head, ["---"] * len(head), *rows]
    return "\n".join(f"| {' | '.join(map(str, line))} |" for line in lines)


def _fields_after(start: int) -> str:
    """Rows of the state's table that begin at byte `start` or later."""
    head, rule, *rows = STATE.table().splitlines()
    skipped = sum(1 for field in STATE if STATE[field.name].start < start)
    return "\n".join([head, rule, *rows[skipped:]])


def _actions() -> str:
    """All actions; cards and contracts as spans."""
    last = NUM_CARDS - 1
    cards = f"`{ACTION_TEXTS[0]}` … `{ACTION_TEXTS[last]}`"
    rows = [(f"0–{last}", cards, "discard, play", "discard or play a card: the table below")]
    for action, (phases, meaning) in _WORDS.items():
        last = Action.PLAY - 1 if action == Action.BID else action
        span = f"{action}–{last}" if last > action else f"{action}"
        text = " … ".join(f"`{ACTION_TEXTS[a]}`" for a in dict.fromkeys((int(action), int(last))))
        rows.append((span, text, phases, meaning))
    return _table(("action", "text", "phase", "meaning"), rows)


def _cards() -> str:
    """Card numbers: suits by ranks."""
    width = len(PACK.ranks)
    rows = [
        (f"**{suit}**", *range(width * number, width * (number + 1)))
        for number, suit in enumerate(SUITS)
    ]
    return _table(("", *PACK.ranks), rows)


def _contracts() -> str:
    """Action numbers of the contracts: levels by strains."""
    width = len(STRAINS)
    starts = range(int(Action.BID), int(Action.PLAY), width)
    rows = [(f"**{level}**", *range(start, start + width)) for level, start in enumerate(starts, 6)]
    return _table(("", *STRAINS), rows)


def page() -> str:
    """The whole page."""
    phases = ", ".join(phase.name.lower() for phase in Phase if phase != Phase.OVER)
    parts = [
        _INTRODUCTION,
        _OBSERVATION.format(
            size=OBSERVATION.size,
            fingerprint=OBSERVATION.fingerprint,
            table=OBSERVATION.table(),
            calls=MAX_CALLS,
            first=Action.PASS - 1,
        ),
        _STATE.format(
            size=STATE.size,
            fingerprint=STATE.fingerprint,
            table=_fields_after(OBSERVATION.size),
        ),
        _ACTIONS.format(size=NUM_ACTIONS, phases=phases, table=_actions()),
        f"### Cards\n\nSuit · 8 + rank; texts are the suit, then the rank: `SA`.\n\n{_cards()}\n",
        f"### Contracts\n\n{int(Action.BID)} + (level − 6) · 5 + strain; texts are the level, then "
        f"the strain: `6S`, `10NT`. A hold has the number of the bid that it repeats.\n\n"
        f"{_contracts()}\n",
    ]
    return "\n".join(parts)


if __name__ == "__main__":
    sys.stdout.reconfigure(encoding="utf-8")  # type: ignore[union-attr]
    sys.stdout.write(page())
