"""Open cards of a Prefa deal: a table of all tricks, or one line of best play.

A deal in quotes: dealer, colon, three hands and the two cards out of play, suits S.C.D.H each.
"""

from __future__ import annotations

import argparse
import sys
from collections.abc import Sequence
from typing import NoReturn

from .._jit import announce_compilation
from ..prefa.rules import PACK
from .deals import deal_hands, table_text
from .lines import line_text, principal_line


class _Parser(argparse.ArgumentParser):
    """Says in one line what is wrong."""

    def error(self, message: str) -> NoReturn:
        self.exit(2, f"{self.prog}: error: {message}\n")


def _line(deal: str, strain: str, seats: Sequence[str], fewest: bool) -> str:
    """Result and line of play for a strain, a declarer and a leader. Raises ValueError."""
    for name, seat in zip(("declarer", "leader"), seats, strict=True):
        if seat not in map(str, range(PACK.seats)):
            raise ValueError(f"{name} must be a seat, 0 to {PACK.seats - 1}, not {seat!r}")
    declarer, leader = map(int, seats)
    line = principal_line(deal_hands(deal), strain, 1 << declarer, leader, fewest=fewest)
    tricks = sum(trick.winner == declarer for trick in line)
    return f"seat {declarer} takes {tricks} of {len(line)} tricks\n{line_text(line)}"


def main(argv: Sequence[str] | None = None) -> None:
    """Print the table of a deal, or a line of play; a bad command line exits with 2."""
    parser = _Parser(prog="python -m prefa_env.solver", description=__doc__)
    parser.add_argument("deal", metavar="DEAL", help="such as '0:AQ87.AQT.9.A7 ... ... 9.8..'")
    parser.add_argument(
        "--line",
        nargs=3,
        metavar=("STRAIN", "DECLARER", "LEADER"),
        help="a line of best play instead; strain S, C, D, H or NT, seats 0 to 2",
    )
    parser.add_argument(
        "--fewest", action="store_true", help="the declarer of --line avoids tricks"
    )
    arguments = parser.parse_args(argv)
    if arguments.fewest and not arguments.line:
        parser.error("--fewest goes with --line; the table has a column misère")
    announce_compilation()
    try:
        if arguments.line:
            strain, *seats = arguments.line
            text = _line(arguments.deal, strain, seats, arguments.fewest)
        else:
            text = table_text(arguments.deal)
    except ValueError as error:
        parser.error(str(error))
    print(text)


if __name__ == "__main__":
    sys.stdout.reconfigure(encoding="utf-8")  # type: ignore[union-attr]
    main()
