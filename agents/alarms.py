"""Ways in which training goes wrong, told from its figures."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass


@dataclass(frozen=True)
class _Alarm:
    """A figure that left its range for some iterations in a row."""

    figure: str
    limit: float
    is_above: bool  # which side of the limit is bad
    iterations: int
    message: str

    def is_bad(self, value: float) -> bool:
        return value > self.limit if self.is_above else value <= self.limit


_ALARMS = (
    _Alarm("rollout/passed_out", 0.6, True, 5,
           "most deals are passed out: the policy has stopped bidding; imitate or clone first"),
    _Alarm("rollout/two_short", 0.25, True, 5,
           "a quarter of the contracts are two short or more: the policy overbids"),
    _Alarm("train/approx_kl", 0.1, True, 2,
           "the policy moves too far in an iteration: lower ppo.lr or ppo.epochs"),
    _Alarm("train/entropy_loss", -0.01, True, 5,
           "the policy has no doubts left: raise ppo.entropy"),
    _Alarm("train/explained_variance", -0.5, False, 5,
           "the critic is worse than a constant: lower ppo.lr"),
    _Alarm("rollout/held", 0.0, False, 20, "nobody holds a bid any more: raise explore"),
    _Alarm("rollout/wrote", 0.0, False, 20, "nobody writes any more: raise explore"),
    _Alarm("rollout/alone", 0.0, False, 20, "nobody plays alone any more: raise explore"),
    _Alarm("rollout/invite", 0.0, False, 20, "nobody invites any more: raise explore"),
)  # fmt: skip
"""A heuristic player passes out 6 % of deals and is two short in 3 % of its contracts."""


class Alarms:
    """Remembers since when figures are bad."""

    def __init__(self) -> None:
        self._counts = dict.fromkeys(_ALARMS, 0)

    def check(self, figures: Mapping[str, float]) -> list[str]:
        """What has gone wrong with an iteration's figures and was not said before.

        A figure that is not there leaves its alarm as it is. Once a figure is good again its alarm
        can be raised anew.
        """
        raised = []
        for alarm, count in self._counts.items():
            value = figures.get(alarm.figure)
            if value is None:
                continue
            self._counts[alarm] = count + 1 if alarm.is_bad(value) else 0
            if self._counts[alarm] == alarm.iterations:
                raised.append(f"{alarm.message} ({alarm.figure} is {value:.3g})")
        return raised
