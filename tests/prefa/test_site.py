"""The event log of the public site: random games there and back, and damage of every kind."""

from __future__ import annotations

import random
from pathlib import Path

import pytest

from prefa_env import prefa
from prefa_env._jit import IS_COMPILED
from prefa_env.prefa import Rules
from prefa_env.prefa.site import LoggedDeal, Refusal, log_lines, parse_log, read_log
from tests.helpers import Game, Replay, bytes_of, random_game, random_rules

DEAL = "2:AKQJ.98.T7.A9 T98.AKQ.AK.KQ 7.JT7.QJ98.J8 ...T7"
CARDS = "deal\t3\tSASKSQSJC9C8DTD7HAH9STS9S8CACKCQDADKHKHQS7CJCTC7DQDJD9D8HJH8HTH7"
AUCTION = """\
call\t1\tDS6
call\t2\tDPS
call\t3\tDC6
call\t1\t=C6
call\t3\tDPS
"""
LOG = f"""\
{CARDS}
{AUCTION}contract\t1\tDC8HTH7
participation\t2\tΠΑΣΟ
participation\t3\tΠΑΣΟ
"""
"""Seat 1 holds 6C and plays 8C; nobody defends."""

PASSED_OUT = f"{CARDS}\ncall\t1\tDPS\ncall\t2\tDPS\ncall\t3\tDPS\n"
INVITED = LOG.replace("2\tΠΑΣΟ", "2\tΠΑΙΖΩ") + "participation\t2\tΜΑΖΙ\n"


def read(text: str, rules: Rules | None = None) -> list[LoggedDeal | Refusal]:
    return list(parse_log(text.splitlines(keepends=True), rules))


def only(text: str, rules: Rules | None = None) -> LoggedDeal:
    (deal,) = read(text, rules)
    assert isinstance(deal, LoggedDeal), deal
    return deal


def refused(text: str, rules: Rules | None = None) -> str:
    """The refusal of a log; the deal that follows is read all the same."""
    refusal, after = read(f"{text}{PASSED_OUT}", rules)
    assert isinstance(refusal, Refusal) and isinstance(after, LoggedDeal)
    return str(refusal)


def lines_of(game: Game) -> list[str]:
    deal = prefa.deal_text(game.dealer, game.deck.tolist())
    return log_lines(deal, game.actions.tolist(), game.rules)


# -- there and back -------------------------------------------------------------------------------


def test_a_deal_of_the_log() -> None:
    deal = only(LOG)
    assert (deal.line, deal.deal) == (1, DEAL)
    texts = "6S pass 6C 6C pass HT H7 8C pass pass"
    assert [*deal.actions] == [prefa.parse_action(text) for text in texts.split()]
    assert (deal.table.dealer, deal.table.owner, deal.table.seat) == (2, 0, -1)
    assert "\n".join(log_lines(deal.deal, deal.actions)) + "\n" == LOG


def test_words_of_the_log() -> None:
    """What the log above does not say: a *write*, ten, no trump, alone, invite."""
    log = f"{CARDS}\ncall\t1\tDTG\ncall\t2\tDPS\ncall\t3\tDPS\n"
    declined = only(f"{log}contract\t1\tDTGHTH7\n")
    assert declined.table.kapikia_change.tolist() == [-4, 2, 2]
    played = f"{log}contract\t1\tDNTHTH7\nparticipation\t2\tΠΑΙΖΩ\nparticipation\t3\tΠΑΣΟ\n"
    for word in ("ΜΟΝΟΣ", "ΜΑΖΙ"):
        message = refused(f"{played}participation\t2\t{word}\n")
        assert message == "log:8: the deal is not over: card of seat 1 is due"
    assert "play is illegal; legal: alone invite" in refused(f"{played}participation\t2\tΠΑΙΖΩ\n")


def test_random_games_there_and_back() -> None:
    rng = random.Random("site")
    kernel = Replay()
    games = [random_game(rng, Rules.site()) for _ in range(3000 if IS_COMPILED else 50)]
    found = list(parse_log(line for game in games for line in lines_of(game)))
    assert len(found) == len(games)
    for game, deal in zip(games, found, strict=True):
        assert isinstance(deal, LoggedDeal), deal
        assert deal.deal == prefa.deal_text(game.dealer, game.deck.tolist())
        assert [*deal.actions] == game.actions.tolist()
        assert bytes_of(deal.table) == bytes_of(kernel.play(game))


def test_random_games_of_other_rules() -> None:
    rng = random.Random("variants")
    for _ in range(300 if IS_COMPILED else 20):
        game = random_game(rng, random_rules(rng))
        (deal,) = parse_log(lines_of(game), game.rules)
        assert isinstance(deal, LoggedDeal)
        assert [*deal.actions] == game.actions.tolist()


def test_form_that_does_not_matter(tmp_path: Path) -> None:
    path = tmp_path / "log.tsv"
    text = f"# Ελληνικά\n\n{LOG}  \n".replace("call", "Call").replace("card", "CARD")
    path.write_bytes(b"\xef\xbb\xbf# \xff\n" + text.replace("\n", "\r\n").encode())
    (deal,) = read_log(path)
    assert isinstance(deal, LoggedDeal) and (deal.line, deal.deal) == (4, DEAL)
    path.write_text("", "utf-8")
    assert [*read_log(path)] == []
    with pytest.raises(FileNotFoundError):
        next(read_log(tmp_path / "none"))


# -- what is refused ------------------------------------------------------------------------------

ACES = LOG.replace("C9", "CA", 1).replace("CACK", "C9CK").replace("DT", "DA", 1)
ACES = ACES.replace("DADK", "DTDK")
"""Seat 1 holds the four aces."""


@pytest.mark.parametrize(
    ("old", "new", "line", "reason"),
    [
        # events
        ("call\t2\tDPS", "concession\t2\t", 3, "there is no event 'concession' in these rules"),
        ("call\t2\tDPS", "Take-over\t2\tx", 3, "there is no event 'take-over' in these rules"),
        ("call\t2\tDPS", "claim", 3, "there is no event 'claim' in these rules"),
        ("call\t2\tDPS", "call 2 DPS", 3, "a line is event, seat and data with one tab between"),
        ("call\t2\tDPS", "call\t2", 3, "a line is event, seat and data"),
        ("call\t2\tDPS", "call\t2\tDPS\t", 3, "a line is event, seat and data"),
        ("call\t2\tDPS", " call\t2\tDPS", 3, "a line is event, seat and data"),
        ("call\t2\tDPS", "call\t0\tDPS", 3, "a seat is one of 1, 2, 3, not '0'"),
        ("call\t2\tDPS", "call\t२\tDPS", 3, "a seat is one of 1, 2, 3, not '२'"),
        # whose turn, and what is due
        ("call\t2\tDPS", "call\t3\tDPS", 3, "call of seat 3, but call of seat 2 is due"),
        ("call\t2\tDPS", "card\t2\tST", 3, "card of seat 2, but call of seat 2 is due"),
        ("contract\t1", "contract\t2", 7, "contract of seat 2, but contract of seat 1 is due"),
        ("participation\t3\tΠΑΣΟ\n", "", 8, "not over: participation of seat 3 is due"),
        ("contract\t1\tDC8HTH7\n", "", 7, "but contract of seat 1 is due"),
        # the deal
        ("SASK", "SASA", 1, "card SA stands twice in the deal"),
        ("SASK", "SAS6", 1, "no such card: 'S6'"),
        ("HTH7\ncall", "HT\ncall", 1, "a deal has 32 cards of two characters, not 62 in all"),
        ("deal\t3", "deal\t4", 1, "a seat is one of 1, 2, 3, not '4'"),
        # calls
        ("DS6", "DS5", 2, "no such call: 'DS5' (DPS, DTG, or one of D="),
        ("DS6", "S6", 2, "no such call: 'S6'"),
        ("DS6", "DPSS", 2, "no such call: 'DPSS'"),
        ("DS6", "", 2, "no such call: ''"),
        ("DS6", "AS6", 2, "no such call: 'AS6'"),
        ("DS6", "DC6", 2, "6C is illegal; legal: pass write 6S"),
        ("=C6", "DC6", 5, "DC6 must be =C6: '=' marks a hold"),
        ("DC6", "=C6", 4, "=C6 must be DC6: '=' marks a hold"),
        # contract
        ("DC8HTH7", "DC8HT", 7, "a contract is three characters and two discards"),
        ("DC8HTH7", "DC8HTHT", 7, "HT is illegal; legal: "),
        ("DC8HTH7", "DC8HTS7", 7, "S7 is illegal; legal: "),
        ("DC8HTH7", "DS6HTH7", 7, "6S is illegal; legal: 6C 6D"),
        ("DC8HTH7", "DTGHTH7", 7, "write is illegal; legal: 6C 6D"),
        ("DC8HTH7", "DPSHTH7", 7, "pass is illegal; legal: 6C 6D"),
        ("DC8HTH7", "=C8HTH7", 7, "no such call: '=C8'"),
        ("DC8HTH7", "AC8HTH7", 7, "AC8: seat 1 does not have four aces that count"),
        # participation
        ("2\tΠΑΣΟ", "2\tΜΑΖΙ", 8, "invite is illegal; legal: pass play"),
        ("2\tΠΑΣΟ", "2\tπάσο", 8, "a participation is one of ΠΑΙΖΩ, ΠΑΣΟ, ΜΑΖΙ, ΜΟΝΟΣ, not"),
        ("2\tΠΑΣΟ", "2\tPASO", 8, "a participation is one of"),
    ],
)
def test_damage(old: str, new: str, line: int, reason: str) -> None:
    text = LOG.replace(old, new, 1)
    assert text != LOG
    message = refused(text)
    assert message.startswith(f"log:{line}: ") and reason in message


def test_events_after_the_end() -> None:
    assert "log:10: card after the end of the deal" in refused(f"{LOG}card\t1\tSA\n")
    assert "no event 'chat'" in refused(f"{LOG}chat\t1\thello\n")


def test_events_before_the_first_deal() -> None:
    assert refused("card\t1\tSA\ncall\t1\tDPS\n") == "log:1: card before the first deal"


def test_four_aces() -> None:
    assert "log:7: DC8: seat 1 has four aces that count" in refused(ACES)
    announced = ACES.replace("DC8HT", "AC8HT")
    assert only(announced).table.kapikia_change.tolist() == [100, -50, -50]
    assert "does not have four aces that count" in refused(announced, Rules(hold=Rules.site().hold))


@pytest.mark.parametrize(
    ("cards", "line", "reason"),
    [
        ("card\t1\tSA\ncard\t2\tCA", 12, "CA is illegal; legal: S8 S9 ST"),  # follows no suit
        ("card\t1\tST", 11, "ST is illegal; legal: S"),  # not held
        ("card\t1\tXX", 11, "no such card: 'XX'"),
        ("card\t1\tSA ", 11, "no such card: 'SA '"),
        ("card\t2\tST", 11, "card of seat 2, but card of seat 1 is due"),
        ("call\t1\tDPS", 11, "call of seat 1, but card of seat 1 is due"),
    ],
)
def test_cards(cards: str, line: int, reason: str) -> None:
    message = refused(f"{INVITED}{cards}\n")
    assert message.startswith(f"log:{line}: ") and reason in message


def test_a_log_that_is_not_utf_8(tmp_path: Path) -> None:
    path = tmp_path / "log.tsv"
    path.write_bytes(LOG.encode("iso-8859-7") + PASSED_OUT.encode())
    refusal, deal = read_log(path)
    assert str(refusal).startswith(f"{path}:8: a participation is one of") and r"\xd0" in str(
        refusal
    )
    assert isinstance(deal, LoggedDeal) and deal.line == 10


def test_every_event_is_needed() -> None:
    """No event of a log can be left out, doubled or put off; nor can its seat be another one."""
    rng = random.Random("damage")
    for _ in range(60 if IS_COMPILED else 5):
        game = random_game(rng, Rules.site())
        lines = lines_of(game)
        at = rng.randrange(1, len(lines))
        event, seat, data = lines[at].split("\t")
        other = f"{event}\t{int(seat) % 3 + 1}\t{data}"
        for damaged in (
            lines[:at] + lines[at + 1 :],
            [*lines[: at + 1], *lines[at:]],
            [*lines[:at], other, *lines[at + 1 :]],
            [*lines[:at], f"{event}\t{seat}\t{data[:-1]}", *lines[at + 1 :]],
            lines[:-1],
        ):
            (refusal,) = parse_log(damaged)
            assert isinstance(refusal, Refusal), "\n".join(damaged)


def test_what_cannot_be_written() -> None:
    with pytest.raises(ValueError, match="the deal is not over: call of seat 2 is due"):
        log_lines(DEAL, [34])
    with pytest.raises(ValueError, match="6C is illegal; legal: pass write 6S"):
        log_lines(DEAL, [35])
    with pytest.raises(ValueError, match="no such action: 99"):
        log_lines(DEAL, [99])
    with pytest.raises(ValueError, match="no such action: -1"):
        log_lines(DEAL, [-1])
    with pytest.raises(ValueError, match="a deal has 4 parts"):
        log_lines("2:", [])
    with pytest.raises(ValueError, match="pass is illegal; legal: none, the deal is over"):
        log_lines(DEAL, [32] * 4)
