"""A bot for Prefa, run as `exec:python examples/bot.py`: it answers each line with a line."""

import json
import sys
from typing import Any

HONOURS = {"A": 1.0, "K": 0.6, "Q": 0.2}


def rank(card: str) -> int:
    """From 0, the seven."""
    return "789TJQKA".index(card[1])


def missing(hand: list[str], bid: str) -> float:
    """Tricks that a bid promises beyond those of a hand: honours, and trumps from the fourth on."""
    length = sum(card[0] == bid[-1] for card in hand)
    tricks = sum(HONOURS.get(card[1], 0) for card in hand) + max(0, length - 3)
    return int(bid.rstrip("SCDHNT")) - tricks


def beats(card: str, other: str, trump: str) -> bool:
    """Whether a card takes the trick from another."""
    return rank(card) > rank(other) if card[0] == other[0] else card[0] == trump


def play(seen: dict[str, Any], legal: list[str]) -> str:
    """Lead what no unseen card of the suit beats; win cheaply, but never against the partner."""
    if not seen["trick"]:
        safe = [card for card in legal if not any(beats(x, card, "") for x in seen["unseen"])]
        return safe[0] if safe else min(legal, key=rank)
    winner, trump = seen["winning"], (seen["contract"] or "NT")[-1]
    is_friend = "me" != seen["owner"] != winner
    wins = [card for card in legal if beats(card, dict(seen["trick"])[winner], trump)]
    return min(legal if is_friend or not wins else wins, key=rank)


def choose(seen: dict[str, Any], legal: list[str]) -> str:
    """One of the legal actions."""
    phase, hand = seen["phase"], seen["hand"]
    bids = [text for text in legal if text[0].isdigit()]
    if phase == "auction":  # the next rung, if some contract of its level is in sight
        level = bids[0].rstrip("SCDHNT") if bids else "11"
        return bids[0] if min(missing(hand, level + suit) for suit in "SCDH") <= 2 else "pass"
    if phase == "discard":
        return min(legal, key=lambda card: ((seen["bid"] or "6S")[-1] == card[0], rank(card)))
    if phase == "contract":
        return min(bids, key=lambda bid: missing(hand, bid))
    if phase == "defence":
        return "play" if missing(hand, seen["contract"]) <= 5 else "pass"
    return "alone" if phase == "invite" else play(seen, legal)


for line in sys.stdin:
    request = json.loads(line)
    if request["type"] == "hello":
        answer = {"v": 1, "name": "example"}
    else:
        answer = {"id": request["id"], "action": choose(request["observation"], request["legal"])}
    print(json.dumps(answer), flush=True)
