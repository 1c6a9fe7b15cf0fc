"""The score sheet of a match of Prefa: who paid whom, and how kassas and kapikia stood."""

from .payments import Payment, payments_of
from .rows import Row, ScoreSheet, column_names, one_line

__all__ = ["Payment", "Row", "ScoreSheet", "column_names", "one_line", "payments_of"]
