"""Teacher data: deals played by a searching agent, with what it found every action worth."""

from .shards import Decisions, concatenate, load_shards

__all__ = ["Decisions", "concatenate", "load_shards"]
