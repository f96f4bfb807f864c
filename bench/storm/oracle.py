"""Says what is wrong with what is left, by SQL of its own: it knows nothing of the product's code.

I1 nothing accepted is lost, I2 order is dense and episodes are whole, I3 each effect
happened once, I4 no work is stuck, I5 the clients were told the truth, I6 no more was
asked of the model than the kills explain.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path

from psycopg.rows import dict_row

from bench.storm.database import Connection
from bench.storm.ledger import Accepted, Posting

SQL = Path(__file__).parent / "sql"
SAMPLES = 3
WAITS_AT_MOST_S = 10.0
LEASE_S = 30.0
LOST = "i5_accepted_but_not_there"
NOWHERE = "i1_nowhere"
TWICE = ("i2_content_twice", "i5_stored_more_than_sent")
GAPS = ("i2_seq_gaps", "i2_episode_not_its_messages", "i2_window_behind_an_episode")
POSTING = frozenset({"add_message", "add_messages"})
STUCK = ("i4_overdue", "i4_open", "i4_window_left")


@dataclass(frozen=True, slots=True)
class Violation:
    """One rule that does not hold: how often, and a few places."""

    rule: str
    count: int
    samples: tuple[str, ...]

    @property
    def invariant(self) -> str:
        """Which of I1 to I6 it belongs to."""
        return self.rule[:2].upper()


def read_standing(connection: Connection) -> dict[str, int]:
    """Return where all messages stand and how the jobs ended, counted."""
    with connection.cursor(row_factory=dict_row) as cursor:
        return cursor.execute(_read("standing")).fetchone() or {}


@dataclass(frozen=True, slots=True)
class Wait:
    """What a flush took; more than one run: a kill hit its own worker."""

    seconds: float
    runs: int


def read_waits(connection: Connection, *, tenant: str) -> tuple[Wait, ...]:
    """Return what the flushes of a tenant took, the shortest first."""
    return tuple(Wait(*row) for row in connection.execute(_read("flush_waits"), [tenant]))


def check_waits(waits: Sequence[Wait]) -> list[Violation]:
    """Return a violation of I4 for the flushes beside a burden that took too long.

    A run may wait for a lease: for that of its own worker that was killed, or for that of those
    that were to take it.
    """
    late = [
        f"{wait.seconds:.1f} s in {wait.runs} runs"
        for wait in waits
        if wait.seconds > WAITS_AT_MOST_S + LEASE_S * wait.runs
    ]
    return [Violation("i4_flush_waited", len(late), tuple(late[-SAMPLES:]))] if late else []


def find_violations(
    connection: Connection, *, accepted: Sequence[Accepted], sent: Iterable[Posting]
) -> list[Violation]:
    """Return every rule about the stored rows that does not hold; none if all do."""
    found = []
    for path in sorted(SQL.glob("i[1-6]_*.sql")):
        rows = [str(row[0]) for row in connection.execute(_read(path.stem))]
        found.append((path.stem, rows))
    found += _compare_with_clients(connection, accepted, sent)
    return [Violation(rule, len(rows), tuple(rows[:SAMPLES])) for rule, rows in found if rows]


def _read(name: str) -> str:
    return (SQL / f"{name}.sql").read_text(encoding="utf-8")


Rules = list[tuple[str, list[str]]]


def _compare_with_clients(
    connection: Connection, accepted: Sequence[Accepted], sent: Iterable[Posting]
) -> Rules:
    """Compare what the clients were told with what is there, message by message."""
    stored = {
        str(row[0]): (str(row[1]), row[2], row[3], row[4], row[5])
        for row in connection.execute(_read("messages"))
    }
    missing, elsewhere = [], []
    for posting, places in accepted:
        for index, (place, content) in enumerate(zip(places, posting.contents, strict=True)):
            told = (str(posting.conversation), posting.key, index, place.seq, content)
            there = stored.get(place.message_id)
            if there is None:
                missing.append(f"{posting.key} [{index}]")
            elif there != told:
                elsewhere.append(f"{posting.key} [{index}]: told {told[:4]}, there {there[:4]}")
    wanted = {posting.key: len(posting.contents) for posting in sent}
    kept = Counter(key for _, key, *_ in stored.values())
    # A request without an answer may have been stored, whole and once, or not at all.
    wrong = [
        f"{key}: {count} messages of {wanted.get(key, 0)}"
        for key, count in kept.items()
        if count != wanted.get(key, 0)
    ]
    return [
        (LOST, missing),
        ("i5_told_otherwise", elsewhere),
        ("i5_stored_more_than_sent", wrong),
    ]


@dataclass(frozen=True, slots=True)
class Paid:
    """Answers of the asked-for form that the model gave, beside what was needed."""

    good: int
    needed: int
    allowed: int

    @property
    def extra_share(self) -> float:
        """How much more was paid than needed; 0.25 is a quarter more."""
        return max(0, self.good - self.needed) / self.needed if self.needed else 0.0


def count_needed(connection: Connection) -> int:
    """Return how many answers the finished work is made of, at most."""
    row = connection.execute(_read("needed_answers")).fetchone()
    assert row is not None
    return sum(row)


def check_paid(paid: Paid) -> list[Violation]:
    """Return a violation of I6 where more was paid than work and kills explain."""
    too_many = paid.good - paid.needed - paid.allowed
    if too_many <= 0:
        return []
    sample = f"{paid.good} answers, {paid.needed} needed, {paid.allowed} explained by kills"
    return [Violation("i6_paid_twice", too_many, (sample,))]


def check_statuses(statuses: Mapping[str, int]) -> list[Violation]:
    """Return a violation of I5 for each answer that no client deserves.

    Whatever is away, the answer is 503 or none; what the writers post is never refused.
    """
    undue = [
        (call, int(status), count)
        for (call, status), count in ((name.rsplit(" ", 1), n) for name, n in statuses.items())
        if status.isdecimal()
    ]
    return [
        Violation("i5_undue_answer", count, (f"{call} answered {status}",))
        for call, status, count in undue
        if status == 500 or (call in POSTING and 400 <= status < 500 and status != 429)
    ]


def count_rules(violations: Iterable[Violation], *rules: str) -> int:
    """Return how often any of these rules was broken."""
    return sum(violation.count for violation in violations if violation.rule in rules)
