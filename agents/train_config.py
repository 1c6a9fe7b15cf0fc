"""The options of a training run."""

from __future__ import annotations

import json
from dataclasses import asdict, dataclass, field
from typing import Any, Literal

from prefa_env.prefa import Rules

from .cli import Names
from .network import NetworkConfig
from .ppo import PPOConfig


@dataclass(frozen=True)
class TrainConfig:
    """A training run."""

    run: str = "runs/quickstart"
    """Folder of the run: checkpoints and tensorboard logs."""
    game: str = "prefa"
    """Name of the game."""
    rules: Rules = field(default_factory=Rules)
    """The rule variant."""
    seed: int = 1
    """Seed of the weights, the deals and all chance; same seed, same result."""
    decisions: int = 1_000_000
    """Train until the policy has made this many decisions (forced moves do not count)."""
    deals: int = 1024
    """Deals in one iteration."""
    opponents: Names = field(default_factory=Names)
    """Fixed agents that sit at some tables (see `opponent_share`)."""
    opponent_share: float = 0.25
    """Share of deals in which one seat learns and an opponent plays the two others."""
    past_share: float = 0.0
    """Share of deals in which one seat learns and a past self plays the two others."""
    snapshot_every: int = 25
    """Iterations between the past selves that are kept."""
    snapshots: int = 24
    """Past selves kept at most, 3 or more; when there are more, every other one is forgotten."""
    explore: float = 0.0
    """How often a call or word is any legal one instead of the policy's."""
    words_share: float = 0.1
    """Share of deals whose discards, contracts and words in the defence are valued (see
    `ppo.hindsight_words`)."""
    settled_share: float = 0.0
    """Share of iterations whose cards are not played but settled by the solver: only bidding is
    learned there, from more deals in the same time."""
    warm_up: int = 0
    """Decisions at the beginning, after imitation, in which only the critic learns."""
    teacher: str | None = None
    """Agent that the policy imitates at first; without one it begins by chance."""
    teaching: float = 0.3
    """Part of the run that is imitation or cloning, if there is a teacher or data."""
    data: str | None = None
    """Folder of teacher data that the policy is cloned from at first, in the place of a teacher."""
    temperature: float = 2.0
    """In cloning, kapikia that make an action e times as likely."""
    choice_weight: float = 0.5
    """In cloning, part of the teacher's choice in what is learned; the rest is what actions are
    worth."""
    start: str | None = None
    """Checkpoint or run whose networks the run begins with; without one they begin by chance."""
    anchor: str | None = None
    """Checkpoint or run whose bidding is cloned all along (see `ppo.anchor`)."""
    network: NetworkConfig = field(default_factory=NetworkConfig)
    """The networks of policy and critic."""
    method: Literal["ppo", "monte-carlo"] = "ppo"
    """How it learns from what deals paid: `monte-carlo` is there to compare with, and takes its
    settings from `ppo` as well."""
    ppo: PPOConfig = field(default_factory=PPOConfig)
    """How it learns."""
    checkpoint_every: int = 20
    """Iterations between checkpoints."""
    threads: int = 2
    """Threads of PyTorch on the CPU."""
    device: str = "cpu"
    """`cpu`, `cuda`, or `auto`: CUDA if there is one."""
    resume: bool = False
    """Go on from the run's newest checkpoint, if it has one."""

    def __post_init__(self) -> None:
        highest = {
            "decisions": 10**15,
            "deals": 10**6,
            "checkpoint_every": 10**9,
            "threads": 1024,
            "snapshot_every": 10**9,
        }
        for name, high in highest.items():
            if not 1 <= getattr(self, name) <= high:
                raise ValueError(f"{name} must be 1 to {high}, not {getattr(self, name)}")
        if not self.run:
            raise ValueError("run must name a folder, not be empty")
        if self.teacher == "":
            raise ValueError("teacher must name an agent; leave it out for none")
        if self.data == "":
            raise ValueError("data must name a folder; leave it out for none")
        if self.data is not None and self.teacher is not None:
            raise ValueError("data are the teacher's deals: give data or a teacher, not both")
        if not 1e-3 <= self.temperature <= 1e6:
            raise ValueError(f"temperature must be 0.001 to 1e6 kapikia, not {self.temperature}")
        if self.anchor == "":
            raise ValueError("anchor must name a checkpoint or run; leave it out for none")
        if self.start == "":
            raise ValueError("start must name a checkpoint or run; leave it out for none")
        if not 0 <= self.warm_up <= 10**15:
            raise ValueError(f"warm_up must be 0 to 10^15, not {self.warm_up}")
        if not 3 <= self.snapshots <= 1000:
            raise ValueError(f"snapshots must be 3 to 1000, not {self.snapshots}")
        if self.anchor is None and max(self.ppo.anchor, self.ppo.final_anchor) > 0:
            raise ValueError("ppo.anchor is the weight of an anchor: name one, or set it to 0")
        if self.method == "monte-carlo":
            self._check_monte_carlo()
        if self.opponents and self.opponent_share + self.past_share > 1:
            raise ValueError("opponent_share and past_share are together more than 1")
        for name in (
            "opponent_share",
            "past_share",
            "explore",
            "words_share",
            "settled_share",
            "teaching",
            "choice_weight",
        ):
            if not 0 <= getattr(self, name) <= 1:
                raise ValueError(f"{name} must be 0 to 1, not {getattr(self, name)}")
        if not 0 <= self.seed < 2**63:
            raise ValueError(f"seed must be 0 to 2^63 - 1, not {self.seed}")

    def _check_monte_carlo(self) -> None:
        ppo = self.ppo
        shares = [
            ppo.hindsight,
            ppo.final_hindsight,
            ppo.hindsight_words,
            ppo.final_hindsight_words,
        ]
        if any(shares) or self.settled_share:
            raise ValueError(
                "method monte-carlo learns from what deals paid: set settled_share and all of "
                "ppo.hindsight to 0"
            )
        if self.warm_up or self.anchor is not None or ppo.magnet:
            raise ValueError("warm_up, anchor and ppo.magnet are for the method ppo alone")

    @property
    def lasting(self) -> dict[str, Any]:
        """Everything that must not change when a run is resumed."""
        free = {"run", "decisions", "checkpoint_every", "threads", "device", "resume"}
        values: dict[str, Any] = json.loads(json.dumps(asdict(self)))  # as a checkpoint has them
        return {name: value for name, value in values.items() if name not in free}
