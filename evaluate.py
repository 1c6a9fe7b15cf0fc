"""Plays agents against each other on duplicate deals and prints what a deal was worth to them."""

from __future__ import annotations

import signal
import sys
from collections.abc import Mapping, Sequence
from concurrent.futures.process import BrokenProcessPool
from contextlib import ExitStack
from pathlib import Path

from rich.console import Console
from rich.progress import BarColumn, Progress, TaskProgressColumn, TextColumn, TimeRemainingColumn

from agents.atomic import atomic_write, check_writable
from agents.cli import fail, parse_config
from agents.evaluation import EvaluateConfig, Evaluation
from agents.journal import Journal
from agents.records import RecordError, open_records, show
from agents.report import make_console, print_results, write_json
from agents.results import results

PROGRAM = Path(__file__).name
INTERRUPTED = 130


def main(argv: Sequence[str] | None = None) -> int:
    """Run with the arguments of a command line; the exit code.

    0; 1 if a move was illegal, a deal's payments did not sum to zero, or an agent is out; 130 after
    an interruption.
    """
    out = None
    try:
        config = parse_config(EvaluateConfig, __doc__ or "", argv, PROGRAM)
        if config.replay:
            print(show(config.replay))
            return 0
        out = config.out
        return _evaluate(config)
    except KeyboardInterrupt:
        rest = "the same command goes on" if out else "unfinished results were not written"
        print(f"interrupted; {rest}", file=sys.stderr)
        return INTERRUPTED
    except MemoryError as error:
        fail(f"not enough memory: {error}; lower batch_size", PROGRAM)
    except BrokenProcessPool:
        fail("a worker process was killed; too little memory for so many workers?", PROGRAM)
    except (OSError, RecordError) as error:  # a full disk, a closed pipe
        fail(str(error), PROGRAM)


def _evaluate(config: EvaluateConfig) -> int:
    console = make_console()
    paths = _paths(config)
    try:
        evaluation = Evaluation(config)
        if "html" in paths:  # before anything is played: it may not be installed
            from agents.html import check_installed

            check_installed()
        _play(evaluation, paths, console)
    except (ValueError, ModuleNotFoundError) as error:
        fail(str(error), PROGRAM)
    found = results(evaluation)
    print_results(console, found)
    console.print(
        f"deals {config.seeds!r} ({found['seeds']['hash']}): {evaluation.games} games, "
        f"{evaluation.seconds:.1f} s",
        highlight=False,
        markup=False,
    )
    if "json" in paths:
        write_json(paths["json"], found)
    if "html" in paths:
        from agents.html import render

        with atomic_write(paths["html"]) as file:
            file.write(render(found))
    return 0 if evaluation.is_clean else 1


def _paths(config: EvaluateConfig) -> dict[str, Path]:
    """Where results go: as the config says, else into its folder."""
    paths = {name: getattr(config, name) for name in ("json", "html", "records")}
    for path in filter(None, paths.values()):
        check_writable(path)
    if config.out:
        folder = Path(config.out)
        paths["json"] = paths["json"] or folder / "results.json"
        paths["html"] = paths["html"] or folder / "report.html"
    return {name: Path(path) for name, path in paths.items() if path}


def _play(evaluation: Evaluation, paths: Mapping[str, Path], console: Console) -> None:
    config = evaluation.config
    with ExitStack() as stack:
        journal = None
        if config.out:
            journal = stack.enter_context(Journal(config.out, evaluation.setup()))
            evaluation.restore(journal.entries)
        writer = None
        if "records" in paths:
            kept = evaluation.records_size if journal else None
            writer = stack.enter_context(
                open_records(paths["records"], evaluation.game, config.rules, kept)
            )
        progress = stack.enter_context(_make_progress(console))
        try:
            evaluation.run(progress, journal, writer)
        except KeyboardInterrupt:
            progress.stop()
            if journal is not None:
                print_results(console, results(evaluation))
            raise


def _make_progress(console: Console) -> Progress:
    """A bar with the time left; silent where the output is no terminal."""
    return Progress(
        TextColumn("{task.description}", markup=False),
        BarColumn(),
        TaskProgressColumn(),
        TimeRemainingColumn(),
        console=console,
        transient=True,
        disable=not console.is_terminal,
    )


if __name__ == "__main__":
    signal.signal(signal.SIGTERM, lambda number, frame: sys.exit(128 + number))  # cleans up first
    sys.exit(main())
