"""Check files of records, print the score sheet of a match, import a log, print the schema."""

from __future__ import annotations

import argparse
import json
import os
import sys
import time
from collections.abc import Sequence
from dataclasses import dataclass
from typing import NoReturn

from ..prefa.site import Refusal
from ..sheet import ScoreSheet, column_names
from .files import TruncatedError, scan_records
from .formats import MatchRecord, Record, RecordError, json_schema
from .logs import records_of_log
from .replay import check_records, replay_deals

MAX_NAMED = 20
BROKEN, UNREADABLE, INTERRUPTED = 1, 2, 130
_PROGRESS_LINES = 5000


class _Parser(argparse.ArgumentParser):
    """Says in one line what is wrong."""

    def error(self, message: str) -> NoReturn:
        self.exit(UNREADABLE, f"{self.prog}: error: {message}\n")


@dataclass
class _Check:
    """What the lines checked so far were."""

    names_all: bool
    deals: int = 0
    matches: int = 0
    errors: int = 0
    lines: int = 0

    def add(self, result: Record | RecordError) -> None:
        self.lines += 1
        if isinstance(result, TruncatedError):
            print(f"{result} (a warning)")
        elif isinstance(result, RecordError):
            self.errors += 1
            if self.names_all or self.errors <= MAX_NAMED:
                print(result)
        elif isinstance(result, MatchRecord):
            self.matches += 1
        else:
            self.deals += 1
        if self.lines % _PROGRESS_LINES == 0 and sys.stderr.isatty():
            print(f"{self.lines:,} lines\r", end="", file=sys.stderr, flush=True)

    def summary(self, seconds: float) -> str:
        left_out = 0 if self.names_all else max(0, self.errors - MAX_NAMED)
        more = f"{left_out:,} more errors; --all names them\n" if left_out else ""
        return (
            f"{more}{self.deals:,} deals, {self.matches:,} matches, {self.errors:,} errors, "
            f"{self.lines / seconds:,.0f} lines/s"
        )


def check(paths: Sequence[str], names_all: bool) -> int:
    """Replay every line of the files and print the bad ones; the exit code.

    0; 1 if a line is bad; 2 if a file cannot be read.
    """
    check, code, start = _Check(names_all), 0, time.perf_counter()
    for path in paths:
        try:
            for _, result in check_records(path):
                check.add(result)
        except BrokenPipeError:
            raise
        except OSError as error:
            reason = error.strerror or error
            print(f"{path}: cannot be read: {reason}", file=sys.stderr)
            code = UNREADABLE
    print(check.summary(time.perf_counter() - start))
    return code or (BROKEN if check.errors else 0)


def sheet_of(path: str, line: int, form: str, is_plain: bool) -> str:
    """The score sheet of the match in a line, with the names of its players.

    Raises:
        RecordError: there is no match in that line, or it contradicts its replay.
        OSError: the file cannot be read.
    """
    result: Record | RecordError | None = None
    for number, result in scan_records(path):
        if number != line:
            continue
        if isinstance(result, RecordError):
            raise result
        if not isinstance(result, MatchRecord):
            raise RecordError(f"{path}:{line}: is a deal, not a match: it has no score sheet")
        try:
            sheet = ScoreSheet.of_tables(column_names(result.agents), replay_deals(result))
        except ValueError as error:
            raise RecordError(f"{path}:{line}: {error}") from None
        text: str = getattr(sheet, form)(annotated=not is_plain)
        return text
    more = f" ({result})" if isinstance(result, RecordError) else ""
    raise RecordError(f"{path} has no line {line}{more}")


def import_log(path: str) -> int:
    """Print a record for each deal of a log; refusals go to the standard error. The exit code."""
    deals = refused = 0
    for found in records_of_log(path):
        if isinstance(found, Refusal):
            refused += 1
            print(found, file=sys.stderr)
        else:
            deals += 1
            print(found.to_json())
    print(f"{deals:,} deals, {refused:,} refused", file=sys.stderr)
    return BROKEN if refused else 0


def main(argv: Sequence[str] | None = None) -> int:
    """Run with the arguments of a command line; the exit code."""
    parser = _Parser(prog="python -m prefa_env.records", description=__doc__)
    commands = parser.add_subparsers(dest="command", required=True, metavar="COMMAND")
    checking = commands.add_parser("check", help="replay every line; 0, 1 bad lines, 2 unreadable")
    checking.add_argument("files", nargs="+", metavar="FILE", help="also .gz; - for stdin")
    checking.add_argument(
        "--all", action="store_true", help=f"name more than {MAX_NAMED} bad lines"
    )
    sheet = commands.add_parser("sheet", help="print the score sheet of a match")
    sheet.add_argument("file", metavar="FILE", help="a file of records, also .gz; - for stdin")
    sheet.add_argument("--line", type=int, default=1, help="line of the match, from 1")
    sheet.add_argument("--format", choices=("text", "markdown", "html"), default="text")
    sheet.add_argument(
        "--plain", action="store_true", help="as it is written on paper, without notes"
    )
    importing = commands.add_parser(
        "import", help="print records of a log of the public Greek site; 1 if a deal was refused"
    )
    importing.add_argument("file", metavar="LOG")
    commands.add_parser("schema", help="print the JSON schema of a line")
    arguments = parser.parse_args(argv)
    try:
        if arguments.command == "schema":
            print(json.dumps(json_schema(), indent=2))
            return 0
        if arguments.command == "sheet":
            print(sheet_of(arguments.file, arguments.line, arguments.format, arguments.plain))
            return 0
        if arguments.command == "import":
            return import_log(arguments.file)
        return check(arguments.files, arguments.all)
    except (ModuleNotFoundError, OSError, RecordError) as error:
        if isinstance(error, BrokenPipeError):  # whoever read the output has enough
            os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())
            return BROKEN
        parser.error(str(error))
    except KeyboardInterrupt:
        print("interrupted; the lines after this were not read", file=sys.stderr)
        return INTERRUPTED


if __name__ == "__main__":
    sys.stdout.reconfigure(encoding="utf-8")  # type: ignore[union-attr]
    sys.exit(main())
