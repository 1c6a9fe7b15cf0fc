"""Open-card solver: the exact result of trick play when all cards are seen.

`declarer_tricks("0:AQ87.AQT.9.A7 JT.J9.AKQT7.9 K.K7.J8.KQJT8 9.8..", "S", 0, 1)` is 7.

Any position of 2 to 4 seats: `solve`, `at_least`, `card_values`, `principal_line`, `solve_many`.
Hands are int64 bit sets of cards `suit * width + rank`; a side is a set of seats as bits (`0b101`:
seats 0 and 2). A deal of Prefa: `declarer_tricks`, `deal_table`, `settled` (in money), and
`python -m prefa_env.solver`.
"""

from .calls import Memory, at_least, card_values, solve, solve_many
from .deals import deal_hands, deal_table, declarer_tricks, settled, table_text
from .lines import Trick, line_text, principal_line
from .positions import STRAINS

__all__ = [
    "STRAINS",
    "Memory",
    "Trick",
    "at_least",
    "card_values",
    "deal_hands",
    "deal_table",
    "declarer_tricks",
    "line_text",
    "principal_line",
    "settled",
    "solve",
    "solve_many",
    "table_text",
]
