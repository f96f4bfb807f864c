"""Replicas answer what only reads: never older than asked for, and without them all goes on."""

from __future__ import annotations

import subprocess
import time
import uuid
from collections import Counter
from collections.abc import Iterator
from concurrent.futures import ThreadPoolExecutor
from contextlib import contextmanager
from dataclasses import dataclass, field
from pathlib import Path
from threading import Event
from urllib.parse import urlencode

import pytest

from tests.reliability.client import Answer, Caller
from tests.reliability.conftest import SayFigures
from tests.reliability.pooler import pooler
from tests.reliability.product import MANAGE, Product, web
from tests.reliability.standby import Standby, frozen, kill, replicated, until

pytestmark = pytest.mark.gate

MANY = 60
REPLICA = "replica-1"


@pytest.fixture
def pair(template: Product, folder: Path) -> Iterator[tuple[Product, Standby]]:
    """A database and its replica, which the product's processes read from."""
    with replicated(template, folder, "standby") as (primary, standby):
        assert isinstance(standby, Standby)
        primary.environment["MEMORY_READ_DATABASE_URL"] = standby.url
        yield primary, standby


@dataclass
class Talk:
    """A conversation whose messages are counted, and who answered what was asked of it."""

    caller: Caller
    id: str = field(default_factory=lambda: str(uuid.uuid4()))
    said: int = 0
    stale: int = 0
    sources: Counter[str] = field(default_factory=Counter)

    def say(self) -> None:
        """Add a message."""
        message = {"role": "user", "content": f"I moved to Porto, for the {self.said}th time."}
        body = {"conversation_id": self.id, "message": message}
        assert self.caller.post("add_message", body).status == 201
        self.said += 1

    def read(self, *, key: str = "", needs: bool = True) -> Answer:
        """List the newest message; where it `needs` to be there and is not, that is stale."""
        caller = Caller(self.caller.port, key or self.caller.key)
        path = f"messages?conversation_id={self.id}&after={max(0, self.said - 1)}"
        answer = caller.get(path)
        assert answer.status == 200, answer.content
        self.sources[answer.headers["memory-read-from"]] += 1
        self.stale += needs and not answer.json()["items"]
        return answer

    def ask(self, *, key: str) -> Answer:
        """Ask about the conversation, with the newest message asked for."""
        body = {"conversation_id": self.id, "query": "Porto", "min_seq": self.said}
        answer = Caller(self.caller.port, key).post("retrieve_memory/raw", body)
        assert answer.status == 200, answer.content
        self.sources[answer.headers["memory-read-from"]] += 1
        self.stale += not any(row["seq"] == self.said for row in answer.json()["recent"])
        return answer


@contextmanager
def reading(talk: Talk) -> Iterator[None]:
    """Read all the time, in four threads, until the block ends; no answer may be missing.

    One that takes longer than a request may is a 503: that all are 200 says that all came in time.
    """
    ends = Event()

    def go_on() -> None:
        while not ends.is_set():
            talk.read()

    with ThreadPoolExecutor(4) as pool:
        readers = [pool.submit(go_on) for _ in range(4)]
        try:
            yield
        finally:
            ends.set()
        for reader in readers:
            reader.result()


def more(talk: Talk, source: str) -> None:
    """Wait until many more answers came from there."""
    before = talk.sources[source]
    until(lambda: talk.sources[source] > before + MANY)


@dataclass
class Browser:
    """Somebody in the admin, with the cookies that were set."""

    caller: Caller
    cookies: dict[str, str] = field(default_factory=dict)

    def open(self, path: str) -> Answer:
        """Get a page."""
        return self._keep(self.caller.ask("GET", path, Cookie=self._cookies()))

    def send(self, path: str, **fields: str) -> Answer:
        """Send a form."""
        form = urlencode({"csrfmiddlewaretoken": self.cookies["csrftoken"], **fields})
        kind = "application/x-www-form-urlencoded"
        cookies = self._cookies()
        return self._keep(self.caller.ask("POST", path, form, Cookie=cookies, Content_Type=kind))

    def sign_in(self, name: str, password: str) -> None:
        """Sign in."""
        self.open("/admin/login/")
        assert self.send("/admin/login/", username=name, password=password).status == 302

    def _cookies(self) -> str:
        return "; ".join(f"{name}={value}" for name, value in self.cookies.items())

    def _keep(self, answer: Answer) -> Answer:
        self.cookies |= answer.cookies
        return answer


def check(product: Product) -> str:
    """Return what the system checks of the database say."""
    command = [*MANAGE, "check", "--database", "default"]
    done = subprocess.run(command, env=product.around(), capture_output=True, text=True, check=True)
    return done.stderr


def test_a_key_sees_what_it_wrote_and_who_asks_for_a_message_sees_it(
    pair: tuple[Product, Standby], say_figures: SayFigures
) -> None:
    primary, standby = pair
    other = primary.manage("create_api_key", "--tenant", "ana's")
    stranger = primary.manage("create_api_key", "--tenant", "cleo's")
    with web(primary.around(), workers=2) as port:
        talk = Talk(primary.caller(port))
        for _ in range(MANY):
            talk.say()
            talk.read()
            talk.ask(key=other)
        until(lambda: talk.read().headers["memory-read-from"] == REPLICA)
        until(lambda: talk.ask(key=other).headers["memory-read-from"] == REPLICA)
        assert talk.stale == 0
        say_figures(f"no delay: {dict(talk.sources)}, stale {talk.stale}")
        assert Caller(port, stranger).get(f"messages?conversation_id={talk.id}").json() == {
            "items": [],
            "next": None,
        }
        standby.delay("4s")
        late = Talk(primary.caller(port))
        for _ in range(10):
            late.say()
            late.read()
            late.ask(key=other)
        assert late.stale == 0 and late.sources == {"primary": 20}

        def sees_less_without_having_written() -> bool:
            late.say()
            answer = late.read(key=other, needs=False)
            if answer.headers["memory-read-from"] == "primary":
                return False
            assert 0 <= float(answer.headers["memory-read-age"]) <= 5
            return not answer.json()["items"]

        until(sees_less_without_having_written)
        standby.delay("60s")
        late.say()
        time.sleep(6)
        late.say()
        assert late.read(key=other).headers["memory-read-from"] == "primary", "it is too far behind"
        standby.delay("0")
        until(lambda: late.read(key=other, needs=False).headers["memory-read-from"] == REPLICA)
        say_figures(f"with delays: {dict(late.sources)}, stale {late.stale}")
        assert late.stale == 0


def test_erased_is_erased_and_people_in_the_admin_see_what_they_did(
    pair: tuple[Product, Standby],
) -> None:
    primary, standby = pair
    # What is three seconds late is not too old, however slow the machine is.
    primary.environment["MEMORY_READ_AGE_SECONDS"] = "600"
    other = primary.manage("create_api_key", "--tenant", "ana's")
    password = primary.manage("make_person", "olga", "--role", "superuser")
    with web(primary.around()) as port:
        talk = Talk(primary.caller(port))
        talk.say()
        until(lambda: standby.has_all_of(primary))
        standby.delay("3s")
        assert talk.read(key=other).headers["memory-read-from"] == REPLICA
        whole = {"scope": "conversation", "id": talk.id, "reason": "Asked for."}
        assert talk.caller.post("erasures", whole).json()["state"] == "done"
        answer = talk.read(key=other, needs=False)
        assert answer.headers["memory-read-from"] == "primary" and not answer.json()["items"]
        browser = Browser(talk.caller)
        browser.sign_in("olga", password)
        until(lambda: standby.has_all_of(primary))
        page = "/admin/episodic/conversation/"
        assert browser.open(page).headers["memory-read-from"] == REPLICA
        talk.say()
        assert browser.open(page).headers["memory-read-from"] == REPLICA
        assert browser.send(page, action="").status == 200
        assert browser.open(page).headers["memory-read-from"] == "primary"


@pytest.mark.bench
def test_a_replica_that_is_killed_or_frozen_is_left_out_and_comes_back(
    pair: tuple[Product, Standby], say_figures: SayFigures
) -> None:
    primary, standby = pair
    with web(primary.around(), workers=2) as port:
        talk = Talk(primary.caller(port))
        talk.say()
        talk.read()
        with reading(talk):
            more(talk, REPLICA)
            kill(standby)
            more(talk, "primary")
            talk.say()
            standby.launch()
            more(talk, REPLICA)
        say_figures(f"killed: {dict(talk.sources)}")
        assert talk.stale == 0
        with reading(talk):
            with frozen(standby):
                talk.say()
                more(talk, "primary")
            more(talk, REPLICA)
        say_figures(f"frozen: {dict(talk.sources)}")
        assert talk.stale == 0


@pytest.mark.bench
def test_a_replica_that_would_not_keep_tenants_apart_or_is_none_is_not_read_from(
    pair: tuple[Product, Standby],
) -> None:
    primary, standby = pair
    with primary.connect() as connection:
        connection.execute("CREATE ROLE reader LOGIN")
    until(lambda: standby.has_all_of(primary))
    unsafe = standby.url.replace("memory_app", "reader")
    itself = standby.url.replace(str(standby.data_dir), str(primary.data_dir))
    for url in (unsafe, itself):
        primary.environment["MEMORY_READ_DATABASE_URL"] = url
        with web(primary.around()) as port:
            talk = Talk(primary.caller(port))
            talk.say()
            talk.read()
            assert talk.sources == {"primary": 1} and not talk.stale
        assert "operations.W002" in check(primary)


@pytest.mark.bench
def test_behind_a_pooler_each_key_sees_its_tenant_and_what_it_wrote(
    pair: tuple[Product, Standby], folder: Path
) -> None:
    primary, standby = pair
    with pooler(standby, folder, servers=2) as door:
        url = f"postgresql://memory_app@127.0.0.1:{door}/memory"
        primary.environment["MEMORY_READ_DATABASE_URL"] = url
        stranger = primary.manage("create_api_key", "--tenant", "cleo's")
        with web(primary.around()) as port:
            talk = Talk(primary.caller(port))
            for _ in range(MANY):
                talk.say()
                talk.read()
                hers = Caller(port, stranger).get(f"messages?conversation_id={talk.id}")
                assert hers.json()["items"] == []
            until(lambda: talk.read().headers["memory-read-from"] == REPLICA)
            assert not talk.stale
