"""What a line of records holds, version 1: a deal, or a finished match; parsed, written, described.

The fields are declared here once; reading, writing and the JSON schema follow from them.
"""

from __future__ import annotations

import re
import reprlib
from typing import Annotated, Any, TypeAlias

import msgspec
from msgspec import Meta

from ..prefa.rules import MOST_SHOWN

VERSION = 1

Option: TypeAlias = bool | int | str
Name = Annotated[str, Meta(description="name of the game, `prefa`")]
Options = Annotated[dict[str, Option], Meta(description="options of the rules, by name")]
Deal = Annotated[str, Meta(description="dealer, colon, hands of seats 0, 1, 2, talon: the deal")]
Actions = Annotated[tuple[str, ...], Meta(description="all actions in order, forced ones too")]
Agents = Annotated[tuple[str, ...], Meta(description="who sat in seats 0, 1, 2")]
Settled = Annotated[
    tuple[float, ...],
    Meta(description="settled kapikia of the deal: thirds, as the nearest floating-point numbers"),
]
Seed = Annotated[str | int, Meta(description="where the cards come from; not needed for a replay")]
Kassa = Annotated[int, Meta(ge=0, le=MOST_SHOWN)]
Kapikia = Annotated[int, Meta(ge=-MOST_SHOWN, le=MOST_SHOWN)]
MaxDeals = Annotated[int, Meta(ge=1, le=MOST_SHOWN)]


class RecordError(ValueError):
    """A record that cannot be read, or that its replay contradicts."""


class MalformedError(RecordError):
    """A line that is no JSON."""


class _Object(msgspec.Struct, frozen=True, kw_only=True, forbid_unknown_fields=True):
    """An object of a record; a field that version 1 does not know could change what others mean."""


class _Line(_Object, frozen=True, kw_only=True, tag_field="v", tag=VERSION):
    """A record, which is a line of its own."""

    def to_json(self) -> str:
        """The record in one line, without its end. Raises RecordError for text that is none."""
        try:
            return msgspec.json.encode(self).decode()
        except UnicodeEncodeError as error:
            raise RecordError(f"text that is no Unicode: {error.object!r}") from None


class DealRecord(_Line, frozen=True, kw_only=True, tag=VERSION):
    """One deal as it was played; numbers a seat."""

    game: Name
    rules: Options
    deal: Deal
    actions: Actions
    agents: Agents
    kapikia: Annotated[tuple[int, ...], Meta(description="changes of the deal")]
    kassa: Annotated[tuple[int, ...], Meta(description="changes of the deal, without the floor")]
    settled: Settled
    seed: Seed


class MatchDeal(_Object, frozen=True, kw_only=True):
    """One deal of a match; numbers a seat."""

    deal: Deal
    actions: Actions
    kapikia: Annotated[tuple[int, ...], Meta(description="changes as booked, after the floor")]
    kassa: Annotated[tuple[int, ...], Meta(description="changes as booked, after the floor")]
    settled: Settled


class Start(_Object, frozen=True, kw_only=True):
    """Standings that a match begins from, a number a seat."""

    kassa: Annotated[tuple[Kassa, ...], Meta(description="points, not all of them 0")]
    kapikia: Annotated[tuple[Kapikia, ...], Meta(description="their sum is 0")]


class MatchRecord(_Line, frozen=True, kw_only=True, omit_defaults=True, tag=VERSION):
    """A finished match; numbers a seat."""

    game: Name
    rules: Options
    agents: Agents
    max_deals: Annotated[MaxDeals | None, Meta(description="deals agreed on; null: until S6")]
    deals: Annotated[tuple[MatchDeal, ...], Meta(description="the deals in order")]
    kapikia: Annotated[tuple[int, ...], Meta(description="at the end")]
    kassa: Annotated[tuple[int, ...], Meta(description="at the end")]
    score: Annotated[tuple[float, ...], Meta(description="kapikia - 10 (kassa - mean) at the end")]
    seed: Seed
    start: Annotated[
        Start | None,
        Meta(description="where the match began, if not at `kassa` of the rules and 0"),
    ] = None
    given: Annotated[
        bool, Meta(description="the first deal was given, not drawn: no option `first_bid`")
    ] = False


Record: TypeAlias = DealRecord | MatchRecord


class _Head(msgspec.Struct):
    """What tells how a line is to be read."""

    v: Any = None
    deals: msgspec.Raw = msgspec.Raw()


_HEAD = msgspec.json.Decoder(_Head)
_DEAL = msgspec.json.Decoder(DealRecord)
_MATCH = msgspec.json.Decoder(MatchRecord)


def parse_record(line: str | bytes) -> Record:
    """The record of a line: a match if it has `deals`, else a deal.

    Raises:
        MalformedError: the line is no JSON.
        RecordError: names the field.
    """
    if not line.strip():
        raise MalformedError("is no JSON: the line is empty")
    try:
        head = _HEAD.decode(line)
        if type(head.v) is not int or head.v != VERSION:
            if head.v is None:
                raise RecordError("field 'v' is missing")
            version = reprlib.repr(head.v)
            raise RecordError(f"field 'v': version {version} cannot be read, only {VERSION}")
        return _MATCH.decode(line) if bytes(head.deals) else _DEAL.decode(line)
    except msgspec.ValidationError as error:
        raise RecordError(_explain(str(error))) from None
    except (msgspec.DecodeError, UnicodeError) as error:
        reason = str(error).removeprefix("JSON is malformed: ")
        raise MalformedError(f"is no JSON: {reason}") from None
    except RecursionError:
        raise RecordError("is nested too deeply for a record") from None


_MESSAGE = re.compile(
    r"(?:Object (?P<how>missing required|contains unknown) field `(?P<field>.*?)`|(?P<what>.*?))"
    r"(?: - at `\$\.?(?:deals\[(?P<deal>\d+)\]\.?)?(?P<place>.*)`)?",
    re.DOTALL,
)


def _explain(message: str) -> str:
    """A message of the decoder in our words: the deal, the field, what is wrong with it."""
    found = _MESSAGE.fullmatch(message)
    assert found is not None  # the last alternative takes anything
    deal = f"deal {int(found['deal']) + 1}: " if found["deal"] else ""
    if found["how"]:
        how = "is missing" if found["how"].startswith("missing") else "is unknown"
        place = ".".join(filter(None, [found["place"], found["field"]]))
        return f"{deal}field {place!r} {how}"
    what = found["what"][:1].lower() + found["what"][1:]
    if not deal and not found["place"]:
        return f"must be a JSON object: {what}"
    return deal + (f"field {found['place']!r}: {what}" if found["place"] else what)


def json_schema() -> dict[str, Any]:
    """The JSON schema of a line."""
    refs, definitions = msgspec.json.schema_components(
        [DealRecord, MatchRecord], ref_template="#/$defs/{name}"
    )
    return {
        "$schema": "https://json-schema.org/draft/2020-12/schema",
        "title": f"A line of records of deals and matches, version {VERSION}",
        "anyOf": list(refs),
        "$defs": definitions,
    }
