"""The primary dies in the middle of a storm of writes, and its replica takes over."""

from __future__ import annotations

import time
import uuid
from collections import Counter
from collections.abc import Iterator
from concurrent.futures import ThreadPoolExecutor
from contextlib import contextmanager
from dataclasses import dataclass, field
from pathlib import Path
from threading import Event

import pytest

from memoryproject import embedded
from tests.reliability.client import Caller, assert_unavailable
from tests.reliability.conftest import SayFigures
from tests.reliability.product import Product, web, workers
from tests.reliability.standby import Standby, frozen, kill, replicated, until

pytestmark = pytest.mark.bench

WRITERS = 6
AWAY_S = 4.0


@dataclass
class Storm:
    """Writers that repeat what is refused, and what they were told is stored."""

    caller: Caller
    accepted: set[str] = field(default_factory=set)
    statuses: Counter[int] = field(default_factory=Counter)
    away_at: float = 0.0
    back_at: float = 0.0

    def write(self, ends: Event) -> None:
        """Add messages to a conversation of one's own until the end."""
        talk, number = str(uuid.uuid4()), 0
        while not ends.is_set():
            content = f"{talk} {number}"
            body = {"conversation_id": talk, "message": {"role": "user", "content": content}}
            answer = self.caller.post("add_message", body, Idempotency_Key=content)
            self.statuses[answer.status] += 1
            if answer.status in (200, 201):
                self.accepted.add(content)
                number += 1
                if self.away_at:
                    self.back_at = self.back_at or time.monotonic()
            else:
                assert_unavailable(answer)
                time.sleep(0.2)

    def find_lost(self, database: Product) -> set[str]:
        """Return what was accepted and is not there."""
        kept = [content for (content,) in database.query("SELECT content FROM episodic_message")]
        assert len(kept) == len(set(kept)), "what is sent again is stored once"
        return self.accepted - set(kept)


@pytest.fixture
def pair(template: Product, folder: Path) -> Iterator[tuple[Product, Standby]]:
    """A database and its replica, either of which may be the primary."""
    with replicated(template, folder, "standby") as (primary, standby):
        assert isinstance(standby, Standby)
        primary.environment["MEMORY_READ_DATABASE_URL"] = standby.url
        primary.environment |= share(primary, standby)
        yield primary, standby


def share(primary: Product, standby: Product) -> dict[str, str]:
    """Return the environment of processes that work with whichever of the two takes writes."""
    hosts = [embedded.locate(one.data_dir).address.host for one in (primary, standby)]
    url = f"host={','.join(hosts)} dbname=memory user={embedded.OWNER_ROLE}"
    secrets = {
        f"MEMORY_{name.upper()}": (primary.data_dir / name).read_text()
        for name in ("secret_key", "key_pepper")
    }
    return primary.around() | {"DATABASE_URL": url} | secrets


def set_synchronous(primary: Product) -> None:
    """Let commits wait until the replica has them on disk."""
    with primary.connect() as connection:
        connection.execute("ALTER SYSTEM SET synchronous_standby_names = 'standby'")
        connection.execute("SELECT pg_reload_conf()")
    is_synchronous = "SELECT 1 FROM pg_stat_replication WHERE sync_state = 'sync'"
    until(lambda: primary.query(is_synchronous) == [(1,)])


@contextmanager
def storming(storm: Storm) -> Iterator[None]:
    """Write until the block ends; no writer may have met anything but a 503."""
    ends = Event()
    with ThreadPoolExecutor(WRITERS) as pool:
        writers = [pool.submit(storm.write, ends) for _ in range(WRITERS)]
        try:
            yield
        finally:
            ends.set()
        for writer in writers:
            writer.result()


def fail_over(storm: Storm, primary: Product, standby: Standby) -> None:
    """Kill the primary amid the storm, promote the replica, and go on for a while."""
    kill(primary)
    storm.away_at = time.monotonic()
    time.sleep(AWAY_S)
    standby.promote()
    until(lambda: bool(storm.back_at))
    time.sleep(AWAY_S)


def describe(storm: Storm, lost: set[str]) -> str:
    """Return the figures of a storm."""
    back_s = storm.back_at - storm.away_at - AWAY_S
    return (
        f"accepted {len(storm.accepted)}, lost {len(lost)}, answers {dict(storm.statuses)}, "
        f"writes again {back_s:.1f} s after the promotion began"
    )


def test_with_a_synchronous_replica_a_failover_loses_nothing_that_was_accepted(
    pair: tuple[Product, Standby], say_figures: SayFigures
) -> None:
    primary, standby = pair
    set_synchronous(primary)
    with web(primary.around(), workers=2) as port, workers(primary.around()):
        storm = Storm(primary.caller(port))
        with storming(storm):
            until(lambda: len(storm.accepted) > 200)
            fail_over(storm, primary, standby)
        lost = storm.find_lost(standby)
        say_figures(f"synchronous: {describe(storm, lost)}")
        assert not lost and storm.statuses[503]
        reader = primary.caller(port)
        answer = reader.get("conversations")
        assert answer.status == 200 and answer.headers["memory-read-from"] == "primary"
        open_jobs = "SELECT 1 FROM jobs_job WHERE state NOT IN ('done', 'dead')"
        until(lambda: not standby.query(open_jobs), within_s=300)
        assert reader.get("health/ready").status == 200


def test_without_one_what_the_replica_had_not_received_is_lost_and_counted(
    pair: tuple[Product, Standby], say_figures: SayFigures
) -> None:
    primary, standby = pair
    with web(primary.around(), workers=2) as port:
        storm = Storm(primary.caller(port))
        with storming(storm):
            until(lambda: len(storm.accepted) > 100)
            with standby.connect() as connection:
                connection.execute("ALTER SYSTEM SET primary_conninfo = ''")
                connection.execute("SELECT pg_reload_conf()")
            until(lambda: not primary.query("SELECT 1 FROM pg_stat_replication"))
            before = len(storm.accepted)
            until(lambda: len(storm.accepted) > before + 20)
            kill(primary)
            storm.away_at = time.monotonic()
            standby.promote()
            until(lambda: bool(storm.back_at))
        lost = storm.find_lost(standby)
        say_figures(f"asynchronous: accepted {len(storm.accepted)}, lost {len(lost)}")
        assert lost, "else a loss would not be seen by these tests"


def test_nothing_is_accepted_that_only_the_primary_has(pair: tuple[Product, Standby]) -> None:
    primary, standby = pair
    set_synchronous(primary)
    talk = str(uuid.uuid4())
    body = {"conversation_id": talk, "message": {"role": "user", "content": "I moved to Porto."}}
    environment = primary.around() | {"MEMORY_REQUEST_SECONDS": "2"}
    with web(environment) as port:
        caller = primary.caller(port)
        until(lambda: caller.get("whoami").status == 200)  # at first that takes its time
        with frozen(standby):
            for _ in range(2):
                assert_unavailable(caller.post("add_message", body, Idempotency_Key="1"))
        until(lambda: caller.post("add_message", body, Idempotency_Key="1").status in (200, 201))
        assert primary.query("SELECT count(*) FROM episodic_message") == [(1,)]


def test_a_replica_of_the_dead_primary_is_not_read_from_until_it_follows_the_new_one(
    template: Product, folder: Path
) -> None:
    with replicated(template, folder, "standby", "other") as (primary, standby, other):
        assert isinstance(standby, Standby) and isinstance(other, Standby)
        environment = share(primary, standby) | {"MEMORY_READ_DATABASE_URL": other.url}
        with web(environment) as port:
            caller = primary.caller(port)

            def find_reader() -> str:
                return caller.get("conversations").headers.get("memory-read-from", "")

            until(lambda: find_reader() == "replica-1")
            kill(primary)
            standby.promote()
            until(lambda: caller.get("conversations").status == 200)
            assert {find_reader() for _ in range(20)} == {"primary"}
            place = embedded.locate(standby.data_dir).address
            with other.connect() as connection:
                source = f"host={place.host} port={place.port} user=postgres"
                connection.execute(f"ALTER SYSTEM SET primary_conninfo = '{source}'".encode())
                connection.execute("SELECT pg_reload_conf()")
            with standby.connect() as connection:
                connection.execute("CHECKPOINT")
            until(lambda: other.has_all_of(standby))
            with other.connect() as connection:
                connection.execute("CHECKPOINT")
            until(lambda: find_reader() == "replica-1")
