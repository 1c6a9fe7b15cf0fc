"""What chooses actions, learns and compares: agents, training and evaluation."""

from .agent import Agent
from .registry import AGENT_NAMES, make_agent

__all__ = ["AGENT_NAMES", "Agent", "make_agent"]
