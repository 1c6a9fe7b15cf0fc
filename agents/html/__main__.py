"""Makes an HTML page of the results that evaluate.py wrote with --json."""

from __future__ import annotations

import argparse
import json
import sys
from collections.abc import Sequence
from pathlib import Path

from prefa_env.atomic import atomic_write

from . import render


def main(argv: Sequence[str] | None = None) -> int:
    """Run with the arguments of a command line; the exit code, 2 after an error."""
    parser = argparse.ArgumentParser(prog=f"python -m {__package__}", description=__doc__)
    parser.add_argument("results", type=Path, help="JSON file to read")
    parser.add_argument("report", type=Path, help="HTML file to write")
    arguments = parser.parse_args(argv)
    try:
        try:
            page = render(json.loads(arguments.results.read_text("utf-8")))
        except ValueError as error:
            raise ValueError(f"{arguments.results} holds no results: {error}") from error
        with atomic_write(arguments.report) as file:
            file.write(page)
    except (OSError, ValueError, ModuleNotFoundError) as error:
        print(f"{parser.prog}: error: {error}", file=sys.stderr)
        return 2
    return 0


if __name__ == "__main__":
    sys.exit(main())
