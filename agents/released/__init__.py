"""Trained players that come with the project: a checkpoint each, in a folder of its name."""

from pathlib import Path

NAMES = ("prefa-v1",)
FOLDER = Path(__file__).parent
