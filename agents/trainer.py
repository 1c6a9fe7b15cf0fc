"""Training by self-play: the loop of a run and its checkpoints."""

from __future__ import annotations

import copy
import signal
import time
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from dataclasses import asdict
from pathlib import Path
from types import FrameType
from typing import Any

import numpy as np
import numpy.typing as npt
import torch
from rich.progress import BarColumn, Progress, TextColumn, TimeRemainingColumn
from torch import Tensor
from torch.utils.tensorboard import SummaryWriter

from prefa_env import VectorEnv
from prefa_env.doors import find_game
from prefa_env.prefa import NAME as PREFA
from prefa_env.streams import derive_keys

from . import behaviour, checkpoint
from .agent import OpenAgent
from .alarms import Alarms
from .league import League, Sampler
from .lessons import Lessons
from .machine import check_memory, find_device
from .monte_carlo import MonteCarlo
from .network import Critic, Policy, network_of
from .policy import load_agent
from .ppo import Learner
from .registry import make_agent
from .rollout import LEARNER, Judge, Rollout, play
from .seating import draw_seating
from .train_config import TrainConfig


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
        self.device = find_device(config.device)
        check_memory(config.deals, self.game, self.device)
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
            self._start(config.start)

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
        seating = draw_seating(
            rng,
            (self.config.deals, self.game.NUM_SEATS),
            len(self.agents),
            self.config.opponent_share,
            0.0 if is_taught else self.config.past_share,
        )
        teacher = self.teacher if is_taught else None
        lessons = self.lessons if is_taught else None
        if lessons is not None:
            rollout = lessons.draw(self.config.seed, self.iteration, self.config.deals)
        else:
            if teacher is None and self.config.past_share:
                every = self.config.snapshot_every
                if not len(self.league) or self.iteration % every == 0:
                    self.league.add(
                        self.iteration // every, self.learner.policy, self.decisions, self.seconds
                    )
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
            "past": {str(time): list(taken) for time, taken in self.league.taken.items()},
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
        different = _difference(meta["config"], self.config.lasting)
        if different:
            name, there, here = different
            raise checkpoint.CheckpointError(
                f"cannot resume {folder}: {name} was {there!r} and is now {here!r}"
            )
        tensors = checkpoint.load_tensors(folder, meta, checkpoint.MODEL_FILE)
        state = checkpoint.load_tensors(folder, meta, checkpoint.OPTIMIZER_FILE)
        league = checkpoint.load_tensors(folder, meta, checkpoint.LEAGUE_FILE)
        try:
            self.league.load(league, checkpoint.past(meta))
            self.learner.load_state_dict(tensors)
            optimizer = self.learner.optimizer
            optimizer.load_state_dict(optimizer.state_dict() | {"state": _unflatten(state)})
            self.iteration, self.decisions = meta["iteration"], meta["decisions"]
            self.seconds = float(meta.get("seconds", 0))  # not in the oldest checkpoints
        except (RuntimeError, KeyError, ValueError, TypeError) as error:
            raise checkpoint.CheckpointError(f"broken checkpoint: {folder}: {error}") from None

    def _start(self, spec: str) -> None:
        """Take over the networks of a checkpoint, its average if it has one, not its optimiser."""
        folder = checkpoint.resolve(spec)
        meta = checkpoint.load_meta(folder)
        checkpoint.check_fits(meta, self.game, self.config.rules, folder)
        ppo = meta["config"].get("ppo")
        scale = ppo.get("reward_scale") if isinstance(ppo, dict) else None  # the critic's unit
        different = _difference(
            {"network": network_of(meta), "ppo": {"reward_scale": scale}},
            {
                "network": asdict(self.config.network),
                "ppo": {"reward_scale": self.config.ppo.reward_scale},
            },
        )
        if different:
            name, there, here = different
            raise checkpoint.CheckpointError(
                f"cannot start from {folder}: {name} is {there!r}, here {here!r}"
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


def _difference(
    there: Mapping[str, Any], here: Mapping[str, Any], prefix: str = ""
) -> tuple[str, Any, Any] | None:
    """The first key in which values here are others than there, and both; with dots if nested.

    Of the outermost keys there, those that are not here do not matter.
    """
    for name in {**here, **there} if prefix else here:
        value, other = here.get(name), there.get(name)
        if isinstance(value, dict) and isinstance(other, dict):
            found = _difference(other, value, f"{prefix}{name}.")
            if found:
                return found
        elif value != other:
            return prefix + name, other, value
    return None


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
    writer = SummaryWriter(config.run, purge_step=trainer.decisions + 1)
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
