"""The cast: ana owns a tenant, bo shares it, cleo is a stranger and must see nothing."""

from __future__ import annotations

import random
import uuid
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import hypothesis
import pytest
from django.conf import settings
from django.core.cache import cache
from django.db import connections, transaction
from django.test import Client, TransactionTestCase

from jobs.draining import Drained, drain_jobs
from memoryproject.tenancy import guessing
from memoryproject.tenancy import services as tenancy
from memoryproject.tenancy.models import APIKey, Tenant
from memoryproject.tenancy.walls import across_tenants
from tests.emptying import delete_all_rows
from tests.talk import whole_talk

LONGEST_FIRST = ["jobs", "erasure", "browser", "bench", "console", "reliability", "llm"]
"""Folders with tests of a minute and more, which nobody should wait for at the end."""

# No deadline, and the same examples each time: as hypothesis does where CI is set.
hypothesis.settings.load_profile("ci")
# Each test client loads the middleware anew; WhiteNoise would list every static file then.
settings.WHITENOISE_AUTOREFRESH = True
# A password takes a third of a second otherwise, each time that somebody logs in.
settings.PASSWORD_HASHERS = ["django.contrib.auth.hashers.MD5PasswordHasher"]
# What a test expects to be done at once takes a busy machine more than five seconds.
settings.FLUSH_AT_MOST_S = 60
# Django would TRUNCATE all tables after each test that commits.
TransactionTestCase._fixture_teardown = delete_all_rows


def pytest_collection_modifyitems(items: list[pytest.Item]) -> None:
    """Run the gate's tests in the folders of LONGEST_FIRST before all others, in that order."""

    def rank(item: pytest.Item) -> int:
        folder = item.path.relative_to(Path(__file__).parent).parts[0]
        is_long = folder in LONGEST_FIRST and item.get_closest_marker("gate")
        return LONGEST_FIRST.index(folder) if is_long else len(LONGEST_FIRST)

    items.sort(key=rank)


@pytest.fixture(scope="session")
def django_db_setup(django_db_blocker: Any) -> Iterator[None]:
    """The run's database is migrated already: see tests.template."""
    yield
    with django_db_blocker.unblock():
        connections.close_all()


@pytest.fixture(scope="session", autouse=True)
def all_tenants() -> Iterator[None]:
    """Let the tests' own queries see every tenant; a request sees its own, and threads none."""
    with across_tenants():
        yield


@dataclass(frozen=True)
class Agent:
    """Somebody with a key, speaking HTTP."""

    key: APIKey
    secret: str
    client: Client

    @property
    def tenant(self) -> Tenant:
        return self.key.tenant

    def post(self, call: str, body: Any = None, **headers: str) -> Any:
        """Post JSON to a call of the API."""
        return self.client.post(
            f"/api/v0/{call}", body, content_type="application/json", headers=headers
        )

    def get(self, call: str, **query: Any) -> Any:
        """Get a resource of the API."""
        return self.client.get(f"/api/v0/{call}", query)

    def say(self, conversation: uuid.UUID, content: str, **message: Any) -> Any:
        """Post one message and return the answer's body."""
        given = {"role": "user", **message, "content": content}
        body = {"conversation_id": str(conversation), "message": given}
        answer = self.post("add_message", body)
        assert answer.status_code == 201, answer.content
        return answer.json()

    def flush(self, conversation: uuid.UUID) -> Drained:
        """Segment and consolidate everything said so far."""
        assert self.post("flush", {"conversation_id": str(conversation)}).status_code == 202
        return drain_jobs()


def make_agent(tenant: str, name: str, scopes: tuple[str, ...] = ()) -> Agent:
    made = tenancy.create_api_key(
        tenant=tenancy.get_or_create_tenant(name=tenant), name=name, scopes=scopes
    )
    client = Client(headers={"authorization": f"Bearer {made.secret}"}, SERVER_NAME="localhost")
    return Agent(key=made.key, secret=made.secret, client=client)


@pytest.fixture(autouse=True)
def chance_is_the_same_each_time() -> None:
    """A job that failed waits for a random share of some seconds; with this, a tenth at least.

    A share next to nothing, one time in a thousand, would let it run again at once. This seed
    is the first of which sixty numbers in a row are above a tenth.
    """
    random.seed(496)


@pytest.fixture(autouse=True)
def nothing_is_remembered() -> None:
    """Wrong keys and what is cached stay in the memory of the process, which all tests share."""
    guessing._forgiven_at.clear()
    cache.clear()


@pytest.fixture(scope="module")
def shared(django_db_setup: None, django_db_blocker: Any) -> Iterator[None]:
    """Open a transaction around a file's tests, for what they look at and need not make anew.

    Each test has a savepoint in it: what one does, the next does not see. Tests that commit
    cannot be among them; their file takes the cast of tests.fresh.
    """
    with django_db_blocker.unblock(), transaction.atomic():
        yield
        transaction.set_rollback(True)


@pytest.fixture(autouse=True)
def what_is_shared_is_left_alone(request: pytest.FixtureRequest) -> None:
    """Give a savepoint to each test that has something of its file's transaction."""
    if "shared" in request.fixturenames:
        request.getfixturevalue("db")


@pytest.fixture(scope="module")
def ana(shared: None) -> Agent:
    return make_agent("ana's", "ana")


@pytest.fixture(scope="module")
def bo(shared: None) -> Agent:
    return make_agent("ana's", "bo")


@pytest.fixture(scope="module")
def cleo(shared: None) -> Agent:
    return make_agent("cleo's", "cleo")


@pytest.fixture(scope="module")
def conversation() -> uuid.UUID:
    return uuid.uuid4()


@pytest.fixture(scope="module")
def told(ana: Agent, conversation: uuid.UUID) -> uuid.UUID:
    """A conversation on two topics, segmented and consolidated."""
    return tell(ana, conversation)


def tell(agent: Agent, conversation: uuid.UUID) -> uuid.UUID:
    """Let an agent have a conversation on two topics, segmented and consolidated."""
    body = {"conversation_id": str(conversation), "messages": whole_talk()}
    assert agent.post("add_messages", body).status_code == 201
    drained = agent.flush(conversation)
    assert (drained.later, drained.dead) == (0, 0)
    return conversation
