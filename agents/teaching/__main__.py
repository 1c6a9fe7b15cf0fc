"""Makes teacher data: deals played by search, with what it found every action worth."""

from __future__ import annotations

import signal
import sys
from collections.abc import Sequence
from concurrent.futures.process import BrokenProcessPool

from rich.progress import BarColumn, Progress, TextColumn, TimeRemainingColumn

from ..cli import fail, parse_config
from ..report import make_console
from .generation import TeachingConfig, generate

PROGRAM = "teaching"
INTERRUPTED = 130


def main(argv: Sequence[str] | None = None) -> int:
    """Run with the arguments of a command line; the exit code.

    0; 2 for bad input, a full disk or a killed worker; 130 after an interruption.
    """
    config = parse_config(TeachingConfig, __doc__ or "", argv, PROGRAM)
    console = make_console()
    columns = (
        TextColumn("{task.percentage:.0f} %"),
        BarColumn(bar_width=12),
        TextColumn("{task.fields[figures]}"),
        TimeRemainingColumn(compact=True),
        TextColumn("left"),
    )
    try:
        with Progress(*columns, console=console, disable=not console.is_terminal) as progress:
            summary = generate(config, progress)
    except KeyboardInterrupt:
        print("interrupted; the same command goes on", file=sys.stderr)
        return INTERRUPTED
    except MemoryError as error:
        fail(f"not enough memory: {error}; lower shard or workers", PROGRAM)
    except BrokenProcessPool:
        fail(
            "a worker was killed; too little memory for so many workers? The same command goes on",
            PROGRAM,
        )
    except (ValueError, OSError) as error:
        fail(str(error), PROGRAM)
    print(f"{config.out}: {summary}")
    return 0


if __name__ == "__main__":
    signal.signal(signal.SIGTERM, lambda number, frame: sys.exit(128 + number))  # cleans up first
    sys.exit(main())
