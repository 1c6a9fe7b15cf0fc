"""Training by self-play: the configuration of a run, its loop, its checkpoints."""

from __future__ import annotations

import copy
import json
import os
import signal
import time
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import asdict, dataclass, field
from pathlib import Path
from types import FrameType
from typing import Any, Literal

import numpy as np
import numpy.typing as npt
import torch
from rich.progress import BarColumn, Progress, TextColumn, TimeRemainingColumn
from torch import Tensor
from torch.utils.tensorboard import SummaryWriter

from prefa_env import VectorEnv
from prefa_env.doors import find_game
from prefa_env.game import Game
from prefa_env.prefa import NAME as PREFA
from prefa_env.prefa import Rules
from prefa_env.streams import derive_keys

from . import behaviour, checkpoint
from .agent import OpenAgent
from .alarms import Alarms
from .cli import Names
from .league import League, Sampler
from .lessons import Lessons
from .monte_carlo import MonteCarlo
from .network import Critic, NetworkConfig, Policy, network_of
from .policy import load_agent
from .ppo import Learner, PPOConfig
from .registry import make_agent
from .rollout import LEARNER, Judge, Rollout, play


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
    """Past selves kept at most; when there are more, every other one is forgotten."""
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
        if not 2 <= self.snapshots <= 1000:
            raise ValueError(f"snapshots must be 2 to 1000, not {self.snapshots}")
        if self.opponents and self.opponent_share + self.past_share > 1:
            raise ValueError("opponent_share and past_share are together more than 1")
        for name in (
            "opponent_share",
            "past_share",
            "explore",
            "words_share",
            "teaching",
            "choice_weight",
        ):
            if not 0 <= getattr(self, name) <= 1:
                raise ValueError(f"{name} must be 0 to 1, not {getattr(self, name)}")
        if not 0 <= self.seed < 2**63:
            raise ValueError(f"seed must be 0 to 2^63 - 1, not {self.seed}")

    @property
    def lasting(self) -> dict[str, Any]:
        """Everything that must not change when a run is resumed."""
        free = {"run", "decisions", "checkpoint_every", "threads", "device", "resume"}
        values: dict[str, Any] = json.loads(json.dumps(asdict(self)))  # as a checkpoint has them
        return {name: value for name, value in values.items() if name not in free}


class Trainer:
    """A run: networks, optimiser, and where it stands."""

    def __init__(self, config: TrainConfig) -> None:
        """Make the run, or resume it.

        Raises:
            ValueError: unknown game, opponent or device; teacher data that are not there or do not
                fit; a run folder that already has checkpoints although it is not to be resumed.
            checkpoint.CheckpointError: a checkpoint that is broken or of another configuration, or
                one to start with that does not fit.
        """
        self.config = config
        self.run = Path(config.run)
        if self.run.exists() and not self.run.is_dir():
            raise ValueError(f"run: {self.run} is a file, not a folder")
        self.game = find_game(config.game)
        _check_memory(config, self.game)
        self.agents = [make_agent(s, config.game, config.rules) for s in config.opponents]
        teacher = config.teacher
        self.teacher = make_agent(teacher, config.game, config.rules) if teacher else None
        for agent in (*self.agents, self.teacher):
            if isinstance(agent, OpenAgent):
                raise ValueError(f"{agent.name!r} sees all cards: it can be no opponent or teacher")
        self.lessons = None
        if config.data is not None:
            self.lessons = Lessons(
                config.data,
                self.game,
                config.rules,
                config.temperature,
                config.choice_weight,
                config.network,
            )
        self.device = _device(config.device)
        torch.set_num_threads(config.threads)
        with torch.random.fork_rng(devices=[]):  # layers draw their weights from the global stream
            torch.manual_seed(config.seed)
            game = self.game
            policy = Policy(game, config.network)
            critic = Critic(game, config.network)
        anchor = self._anchor() if config.anchor is not None else None
        learner = MonteCarlo if config.method == "monte-carlo" else Learner
        self.learner = learner(policy, critic, config.ppo, game.OBSERVATION["phase"], anchor)
        self.learner.to(self.device)
        self.past = copy.deepcopy(policy).requires_grad_(False)
        self.league = League(config.snapshots)
        self.judge = _judge(config)
        self._end_of_warm_up = config.warm_up + (
            config.teaching * config.decisions if self.teacher or self.lessons else 0
        )
        self.env = VectorEnv(
            config.game, config.deals, config.rules, auto_reset=False, seed=config.seed
        )
        self.iteration = 0
        self.decisions = 0
        self.seconds = 0.0
        if checkpoint.checkpoints(self.run):
            if not config.resume:
                raise ValueError(
                    f"run folder {self.run} already holds checkpoints: go on with --resume true, "
                    "or choose another folder"
                )
            self._load()
        elif config.start is not None:
            self._start(Path(config.start))

    def _anchor(self) -> Policy:
        anchor = load_agent(str(self.config.anchor), self.game, self.config.rules).policy
        if anchor.config.relabel != self.config.network.relabel:
            raise ValueError(f"anchor {self.config.anchor}: its network.relabel is another one")
        return anchor.requires_grad_(False).to(self.device)

    # -- one iteration ----------------------------------------------------------------------------

    def iterate(self) -> dict[str, float]:
        """Play one batch of deals and learn from it; figures named as in Stable-Baselines3."""
        start = time.perf_counter()
        seed = int(derive_keys(self.config.seed, np.array([self.iteration]), 0)[0] >> 1)
        rng = np.random.default_rng(seed)
        progress = min(1.0, self.decisions / self.config.decisions)
        has_lessons = self.teacher is not None or self.lessons is not None
        is_taught = has_lessons and progress < self.config.teaching
        seating = self._seating(rng, 0.0 if is_taught else self.config.past_share)
        teacher = self.teacher if is_taught else None
        lessons = self.lessons if is_taught else None
        if lessons is not None:
            rollout = lessons.draw(self.config.seed, self.iteration, self.config.deals)
        else:
            if teacher is None and self.config.past_share:
                every = self.config.snapshot_every
                if not len(self.league) or self.iteration % every == 0:
                    self.league.add(self.iteration // every, self.learner.policy)
                self.league.draw(rng, self.past)
            rollout = play(
                self.env,
                self.learner.policy,
                [*self.agents, Sampler(self.past, self.game)],
                seating,
                seed,
                teacher,
                explore=self.config.explore,
                judge=None if teacher is not None else self.judge,
                is_settled=teacher is None and self._is_settled(),
                is_greedy=min(self.config.ppo.hindsight, self.config.ppo.final_hindsight) == 1,
            )
        played = time.perf_counter()
        generator = torch.Generator().manual_seed(seed)
        figures = self.learner.update(
            rollout,
            self.game.OBSERVATION.size,
            progress,
            generator,
            is_imitating=teacher is not None or lessons is not None,
            is_warming_up=not is_taught and self.decisions < self._end_of_warm_up,
        )
        count = len(rollout.actions)
        self.iteration += 1
        self.decisions += count
        seconds = time.perf_counter() - start
        self.seconds += seconds
        if lessons is None:
            figures |= self._deal_figures(rollout, seating)
        return figures | {
            "time/fps": count / seconds,
            "time/rollout_fps": count / (played - start),
            "time/update_fps": count / (start + seconds - played),
            "time/env_share": rollout.env_seconds / seconds,
            "time/iterations": self.iteration,
            "time/total_timesteps": self.decisions,
        }  # fmt: skip

    def _is_settled(self) -> bool:
        share = self.config.settled_share
        return self.judge is not None and int((self.iteration + 1) * share) > int(
            self.iteration * share
        )

    def _seating(self, rng: np.random.Generator, past_share: float) -> npt.NDArray[np.int64]:
        """Who sits where: int64 [B, S], an index of the opponents, or LEARNER."""
        config = self.config
        seating = np.full((config.deals, self.game.NUM_SEATS), LEARNER)
        is_alone = np.ones(config.deals, np.bool_)
        if self.agents:
            is_alone = rng.random(config.deals) >= config.opponent_share
            self._seat(seating, ~is_alone, len(self.agents), 0, rng)
        if past_share:
            share = past_share / (1 - config.opponent_share) if self.agents else past_share
            is_past = is_alone & (rng.random(config.deals) < share)
            self._seat(seating, is_past, 1, len(self.agents), rng)
        return seating

    def _seat(
        self,
        seating: npt.NDArray[np.int64],
        is_mixed: npt.NDArray[np.bool_],
        kinds: int,
        first: int,
        rng: np.random.Generator,
    ) -> None:
        """Seat two of one of `kinds` opponents, numbered from `first`, at some tables."""
        count = int(is_mixed.sum())
        seating[is_mixed] = first + rng.integers(kinds, size=(count, 1))
        seating[is_mixed, rng.integers(seating.shape[1], size=count)] = LEARNER

    def _deal_figures(self, rollout: Rollout, seating: npt.NDArray[np.int64]) -> dict[str, float]:
        """What the learning seats were paid, at tables with opponents, and what they did."""
        is_learner = seating == LEARNER
        is_mixed = ((seating != LEARNER) & (seating < len(self.agents))).any(axis=1)
        assert rollout.paid is not None and rollout.ends is not None
        mine = rollout.paid[is_learner & is_mixed[:, None]]
        figures = {"rollout/ep_rew_mean": float(mine.mean())} if mine.size else {}
        counts = behaviour.count(
            self.game.NAME, rollout.ends, rollout.history, rollout.seats, is_learner
        )
        shares = behaviour.shares(self.game.NAME, counts)
        return figures | {f"rollout/{k}": v for k, v in shares.items() if v is not None}

    # -- checkpoints ------------------------------------------------------------------------------

    def save(self) -> Path:
        """Write a checkpoint; returns its folder."""
        config = self.config
        optimizer = self.learner.optimizer.state_dict()["state"]
        model = {k: v.cpu().contiguous() for k, v in self.learner.state_dict().items()}
        meta = checkpoint.describe(self.game, config.rules) | {
            "network": asdict(config.network),
            "config": asdict(config),
            "iteration": self.iteration,
            "decisions": self.decisions,
            "seconds": self.seconds,
            "torch": torch.__version__,
        }
        tensors = {
            checkpoint.MODEL_FILE: model,
            checkpoint.OPTIMIZER_FILE: _flatten(optimizer),
            checkpoint.LEAGUE_FILE: self.league.tensors(),
        }
        return checkpoint.save(self.run, self.decisions, tensors, meta)

    def _load(self) -> None:
        folder = checkpoint.resolve(self.run)
        meta = checkpoint.load_meta(folder)
        checkpoint.check_fits(meta, self.game, self.config.rules, folder)
        saved = meta["config"]
        for name, value in self.config.lasting.items():
            if saved.get(name) != value:
                raise checkpoint.CheckpointError(
                    f"cannot resume {folder}: {name} was {saved.get(name)!r} and is now {value!r}"
                )
        tensors = checkpoint.load_tensors(folder, meta, checkpoint.MODEL_FILE)
        state = checkpoint.load_tensors(folder, meta, checkpoint.OPTIMIZER_FILE)
        league = checkpoint.load_tensors(folder, meta, checkpoint.LEAGUE_FILE)
        try:
            self.league.load(league)
            self.learner.load_state_dict(tensors)
            optimizer = self.learner.optimizer
            optimizer.load_state_dict(optimizer.state_dict() | {"state": _unflatten(state)})
            self.iteration, self.decisions = meta["iteration"], meta["decisions"]
            self.seconds = float(meta.get("seconds", 0))  # not in the oldest checkpoints
        except (RuntimeError, KeyError, ValueError, TypeError) as error:
            raise checkpoint.CheckpointError(f"broken checkpoint: {folder}: {error}") from None

    def _start(self, path: Path) -> None:
        """Take over the networks of a checkpoint, its average if it has one, not its optimiser."""
        folder = checkpoint.resolve(path)
        meta = checkpoint.load_meta(folder)
        checkpoint.check_fits(meta, self.game, self.config.rules, folder)
        scale = meta["config"].get("ppo", {}).get("reward_scale")  # the critic's unit
        for name, there, here in (
            ("network", network_of(meta), asdict(self.config.network)),
            ("ppo.reward_scale", scale, self.config.ppo.reward_scale),
        ):
            if there != here:
                raise checkpoint.CheckpointError(
                    f"cannot start from {folder}: {name} is {there}, here {here}"
                )
        tensors = checkpoint.load_tensors(folder, meta, checkpoint.MODEL_FILE)
        average, policy = "average.", "policy."
        for name in [name for name in tensors if name.startswith(policy)]:
            mean = average + name.removeprefix(policy)
            tensors[name] = tensors.setdefault(mean, tensors[name])
        tensors["updates"] = torch.zeros((), dtype=torch.int64)
        try:
            self.learner.load_state_dict(tensors)
        except RuntimeError as error:
            raise checkpoint.CheckpointError(f"broken checkpoint: {folder}: {error}") from None


def _flatten(state: dict[int, dict[str, Tensor]]) -> dict[str, Tensor]:
    return {
        f"{index}.{name}": tensor.cpu().contiguous()
        for index, tensors in state.items()
        for name, tensor in tensors.items()
    }


def _unflatten(tensors: dict[str, Tensor]) -> dict[int, dict[str, Tensor]]:
    state: dict[int, dict[str, Tensor]] = {}
    for key, tensor in tensors.items():
        index, name = key.split(".")
        state.setdefault(int(index), {})[name] = tensor
    return state


_DECISIONS_A_DEAL = 30
"""More than a batch of deals has on average, forced moves left out."""


def _check_memory(config: TrainConfig, game: Game) -> None:
    """Raise ValueError if one batch of deals would hardly fit into this machine's memory."""
    sample = 3 * game.STATE.size + 4 * 4 * game.NUM_ACTIONS + game.DTYPE.itemsize
    table = game.DTYPE.itemsize + 8 * game.STATE.size
    needed = config.deals * (_DECISIONS_A_DEAL * sample + table)
    there = os.sysconf("SC_PAGE_SIZE") * os.sysconf("SC_PHYS_PAGES")
    if needed > 0.8 * there:
        raise ValueError(
            f"too little memory: deals {config.deals:,} need about {needed / 1e9:,.0f} GB, and "
            f"this machine has {there / 1e9:,.0f} GB; lower deals"
        )


def _judge(config: TrainConfig) -> Judge | None:
    ppo = config.ppo
    has_words = max(ppo.hindsight_words, ppo.final_hindsight_words) > 0
    has_cards = max(ppo.hindsight, ppo.final_hindsight) > 0
    if not has_words and not has_cards and config.settled_share == 0:
        return None
    if config.game != PREFA:
        raise ValueError(f"ppo: hindsight needs a solver, which {config.game!r} has not")
    from .search.hindsight import Hindsight  # it compiles the solver

    share = config.words_share if has_words else 0.0
    return Hindsight(config.rules, words_share=share, threads=config.threads)


def _device(name: str) -> torch.device:
    has_cuda = torch.cuda.is_available()
    if name == "auto":
        return torch.device("cuda" if has_cuda else "cpu")
    if name == "cuda" and not has_cuda:
        raise ValueError("device cuda: PyTorch finds no CUDA device here; use cpu or auto")
    if name not in {"cpu", "cuda"}:
        raise ValueError(f"device must be cpu, cuda or auto, not {name!r}")
    return torch.device(name)


# -- the loop -------------------------------------------------------------------------------------


@contextmanager
def _stop_on_signals() -> Iterator[list[int]]:
    """Collect SIGINT and SIGTERM instead of dying of them; a second one does kill."""
    caught: list[int] = []

    def catch(number: int, frame: FrameType | None) -> None:
        caught.append(number)
        signal.signal(number, before[signal.Signals(number)])

    before = {number: signal.signal(number, catch) for number in (signal.SIGINT, signal.SIGTERM)}
    try:
        yield caught
    finally:
        for number, handler in before.items():
            signal.signal(number, handler)


_PRINT_EVERY = 30.0
"""Seconds between lines where the output is no terminal."""


def train(config: TrainConfig) -> bool:
    """Run the training to its end, or until a signal; True if it came to its end.

    Raises what `Trainer` raises.
    """
    trainer = Trainer(config)
    if trainer.decisions >= config.decisions:
        print(f"{config.run} is finished: it has made {trainer.decisions:,} decisions")
        return True
    if trainer.decisions:
        print(f"resuming {config.run} after {trainer.decisions:,} decisions")
    columns = (  # at most 80 characters wide
        TextColumn("{task.percentage:.0f} %"),
        BarColumn(bar_width=12),
        TextColumn("{task.fields[figures]}"),
        TimeRemainingColumn(compact=True),
        TextColumn("left"),
    )
    printed = time.monotonic()
    alarms = Alarms()
    writer = SummaryWriter(config.run, purge_step=trainer.decisions)
    with writer, _stop_on_signals() as caught, Progress(*columns) as bar:
        task = bar.add_task(
            "", total=config.decisions, completed=trainer.decisions, figures="starting"
        )
        while trainer.decisions < config.decisions and not caught:
            figures = trainer.iterate()
            for name, figure in figures.items():
                writer.add_scalar(name, figure, trainer.decisions)
            for alarm in alarms.check(figures):
                bar.console.print(f"alarm at {trainer.decisions:,} decisions: {alarm}")
            bar.update(task, completed=trainer.decisions, figures=_line(figures))
            if not bar.console.is_terminal and time.monotonic() - printed > _PRINT_EVERY:
                printed = time.monotonic()
                print(f"{trainer.decisions:,} decisions: {_line(figures)}", flush=True)
            is_last = trainer.decisions >= config.decisions or bool(caught)
            if is_last or trainer.iteration % config.checkpoint_every == 0:
                trainer.save()
    print(f"checkpoint: {checkpoint.resolve(trainer.run)}")
    if caught:
        print("stopped early; go on with the same command and --resume true")
    return not caught


def _line(figures: dict[str, float]) -> str:
    reward = figures.get("rollout/ep_rew_mean")
    against = f"{reward:+.1f} kapikia a deal, " if reward is not None else ""
    entropy = -figures["train/entropy_loss"]
    return f"{against}entropy {entropy:.2f}, {figures['time/fps']:,.0f}/s"
