"""Train a player by self-play; `--help` explains every field."""

from __future__ import annotations

import os
import sys

from agents.cli import fail, parse_config

INTERRUPTED = 130


def main() -> int:
    """Train as the command line says; 0 at the end, 130 after an interruption."""
    # Read by OpenMP when torch is imported: threads that spin while they wait starve each other.
    os.environ.setdefault("OMP_WAIT_POLICY", "PASSIVE")
    try:
        from agents.trainer import TrainConfig, train

        config = parse_config(TrainConfig, "Train a player by self-play.")
        return 0 if train(config) else INTERRUPTED
    except KeyboardInterrupt:  # before the first deal; later ones are caught and the run is saved
        print("interrupted before the training began", file=sys.stderr)
        return INTERRUPTED
    except MemoryError as error:
        fail(f"not enough memory: {error}; lower deals or network.width")
    except (ValueError, OSError) as error:
        fail(str(error))


if __name__ == "__main__":
    sys.exit(main())
