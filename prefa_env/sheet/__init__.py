"""The score sheet of a match of Prefa: who paid whom, and how kassas and kapikia stood."""

from .payments import Payment, payments_of
from .rows import Row, ScoreSheet

__all__ = ["Payment", "Row", "ScoreSheet", "payments_of"]
