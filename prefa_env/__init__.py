"""Prefa (πρέφα), Greece's coffee-house card game, as fast environments for learning.

`prefa_env.prefa_v0` is the PettingZoo environment, `VectorEnv` steps many tables at once.
"""

from .doors import IllegalActionError
from .vector import VectorEnv

__all__ = ["IllegalActionError", "VectorEnv"]
