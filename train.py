"""Train a player by self-play; `--help` explains every field."""

from __future__ import annotations

import os
import sys
from concurrent.futures.process import BrokenProcessPool

from agents.cli import fail, parse_config

INTERRUPTED = 130
DESCRIPTION = """Train a player by self-play.

With --stages a.yaml,b.yaml several config files are run in turn, and on from where they were
stopped; a file with a key `out` makes teacher data."""


def main() -> int:
    """Train as the command line says; 0 at the end, 130 after an interruption."""
    # Read by OpenMP when torch is imported: threads that spin while they wait starve each other.
    os.environ.setdefault("OMP_WAIT_POLICY", "PASSIVE")
    has_stages = any(argument.partition("=")[0] == "--stages" for argument in sys.argv[1:])
    try:
        from agents.stages import StagesConfig, run_stages
        from agents.train_config import TrainConfig
        from agents.trainer import train

        if has_stages:
            stages = parse_config(StagesConfig, "Run the stages of a training in turn.").stages
            return 0 if run_stages(stages) else INTERRUPTED
        config = parse_config(TrainConfig, DESCRIPTION)
        return 0 if train(config) else INTERRUPTED
    except KeyboardInterrupt:  # before the first deal; later ones are caught and the run is saved
        rest = "; the same command goes on" if has_stages else " before the training began"
        print(f"interrupted{rest}", file=sys.stderr)
        return INTERRUPTED
    except BrokenProcessPool:
        fail("a worker was killed; too little memory for so many? The same command goes on")
    except MemoryError as error:
        fail(f"not enough memory: {error}; lower deals or network.width")
    except RuntimeError as error:  # PyTorch's, on the CPU and on CUDA
        if "memory" not in str(error):
            raise
        fail(f"not enough memory: {str(error).splitlines()[0]}; lower deals or network.width")
    except (ValueError, OSError) as error:
        fail(str(error))


if __name__ == "__main__":
    sys.exit(main())
