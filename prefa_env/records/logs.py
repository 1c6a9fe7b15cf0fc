"""Records of the deals in an event log of the public Greek site."""

from __future__ import annotations

import os
from collections.abc import Iterator

from .. import prefa
from ..prefa.site import Refusal, parse_log
from .files import FilePath, open_lines
from .formats import DealRecord
from .recording import record_deal


def records_of_log(
    path: FilePath, rules: prefa.Rules | None = None
) -> Iterator[DealRecord | Refusal]:
    """The deals of a log (`docs/site_log.md`) as records; one that cannot be read is a refusal.

    The players, whom a log does not name, are `seat 1`, `seat 2` and `seat 3`; `seed` is the file
    and the line of the deal.

    Args:
        path: the log; also `.gz`, and `-` for the standard input.
        rules: the variant; by default `Rules.site()`.

    Raises:
        OSError: the log cannot be read.
    """
    rules = rules or prefa.Rules.site()
    agents = [f"seat {seat + 1}" for seat in range(prefa.NUM_SEATS)]
    name = os.fspath(path).encode(errors="backslashreplace").decode()
    with open_lines(path) as lines:
        # What is no UTF-8 is kept visible, so that it spoils the deal it stands in and no other.
        texts = (line.decode("utf-8-sig", "backslashreplace") for line in lines)
        for found in parse_log(texts, rules, name):
            if isinstance(found, Refusal):
                yield found
            else:
                seed = f"{name}:{found.line}"
                yield record_deal(prefa, rules, found.table, found.actions, agents, seed)
