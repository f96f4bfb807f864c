"""Whose rows a statement shows: it says so itself, whatever became of the last ones."""

from __future__ import annotations

import random
import threading
import uuid
from collections.abc import Callable, Iterator
from typing import Any

import pytest
from django.db import DatabaseError, NotSupportedError, connection, connections, transaction
from django.db.transaction import TransactionManagementError
from psycopg.pq import TransactionStatus

from memoryproject.tenancy.models import Tenant
from memoryproject.tenancy.walls import NOBODY, across_tenants, acting_for, seeing

ANA, CLEO = uuid.UUID(int=1), uuid.UUID(int=2)


class Oops(Exception):
    pass


@pytest.fixture(autouse=True)
def own_connection(django_db_setup: None, django_db_blocker: Any) -> Iterator[None]:
    """Give each test a connection of its own: its transactions are not inside another's."""
    with django_db_blocker.unblock():
        usual = connections["default"]
        connections["default"] = connections.create_connection("default")
        try:
            yield
            assert told() == "*", "tests' own queries see all tenants"
        finally:
            connection.close()
            connections["default"] = usual


def told() -> str:
    """Return what a statement of Django's sees."""
    with connection.cursor() as cursor:
        cursor.execute("SELECT current_setting('memory.tenant', true)")
        return str(cursor.fetchone()[0])


def held() -> tuple[str, ...]:
    """Return what the session holds by itself: who would have the connection next finds that."""
    raw = connection.connection
    assert raw is not None
    names = ("memory.tenant", "role", "hnsw.ef_search", "hnsw.iterative_scan")
    values = [raw.execute("SELECT current_setting(%s, true)", [name]).fetchone() for name in names]
    return tuple(value or "" for (value,) in values)


def test_a_statement_takes_along_whose_rows_it_shows_and_leaves_nothing() -> None:
    connection.ensure_connection()
    before = held()
    assert before[:2] == ("", "none")
    with acting_for(ANA):
        assert told() == str(ANA)
        assert held() == before
        with acting_for(CLEO):
            assert told() == str(CLEO)
        assert told() == str(ANA)
        with transaction.atomic():
            assert told() == str(ANA)
            assert held()[0] == str(ANA)
            with acting_for(CLEO):
                assert told() == str(CLEO)
            assert told() == str(ANA)
        assert held() == before
        with pytest.raises(DatabaseError, match="division by zero"), connection.cursor() as cursor:
            cursor.execute("SELECT 1 / 0")
        assert held() == before
    with seeing(NOBODY):
        assert told() == ""


def test_a_block_opens_its_transaction_with_its_first_statement() -> None:
    """Or else nothing of it could be undone; and it saves a round trip."""
    raw = connection.cursor().connection
    with pytest.raises(Oops), transaction.atomic():
        assert raw.info.transaction_status == TransactionStatus.IDLE
        told()
        assert raw.info.transaction_status == TransactionStatus.INTRANS
        with connection.cursor() as cursor:
            cursor.execute("INSERT INTO tenancy_tenant (id, name, settings, created_at) "
                           "VALUES (%s, 'undone', '{}', now())", [ANA])  # fmt: skip
        raise Oops
    assert raw.info.transaction_status == TransactionStatus.IDLE
    assert not Tenant.objects.filter(id=ANA).exists()


def test_what_cannot_take_it_along_is_refused() -> None:
    """These would run under the role of the login, which may see more."""
    with connection.cursor() as cursor:
        for refused in (
            lambda: cursor.executemany("SELECT %s", [[1], [2]]),
            lambda: cursor.copy("COPY semantic_fact TO STDOUT"),
            lambda: cursor.stream("SELECT 1"),
            lambda: connection.chunked_cursor(),
        ):
            with pytest.raises(NotSupportedError):
                refused()


def test_after_a_rollback_the_next_transaction_is_told_again() -> None:
    """Both look alike: in a transaction, with no savepoint."""
    with acting_for(CLEO):
        told()
    with acting_for(ANA):
        with pytest.raises(Oops), transaction.atomic():
            told()
            raise Oops
        with transaction.atomic():
            assert told() == str(ANA)


def test_after_a_rollback_to_a_savepoint_it_is_told_again() -> None:
    with acting_for(ANA), transaction.atomic():
        told()
        with pytest.raises(Oops), transaction.atomic(), acting_for(CLEO):
            assert told() == str(CLEO)
            raise Oops
        assert told() == str(ANA)
        with pytest.raises(Oops), acting_for(CLEO), transaction.atomic():
            told()
            raise Oops
        with acting_for(CLEO):
            assert told() == str(CLEO)


def test_after_a_transaction_without_savepoint_that_fails_it_is_told_again() -> None:
    with acting_for(CLEO):
        told()
    with acting_for(ANA):
        with transaction.atomic():
            with pytest.raises(Oops), transaction.atomic(savepoint=False):
                told()
                raise Oops
            with pytest.raises(TransactionManagementError):
                told()
            transaction.set_rollback(True)
        assert told() == str(ANA)


def test_a_statement_that_fails_fails_by_itself_and_not_by_telling() -> None:
    with acting_for(CLEO):
        told()
    with acting_for(ANA):
        with pytest.raises(DatabaseError, match="division by zero"), transaction.atomic():
            with acting_for(CLEO):
                told()
            with connection.cursor() as cursor:
                cursor.execute("SELECT 1 / 0")
        assert told() == str(ANA)
        with transaction.atomic():
            with (
                pytest.raises(DatabaseError, match="division by zero"),
                transaction.atomic(),
                acting_for(CLEO),
                connection.cursor() as cursor,
            ):
                cursor.execute("SELECT 1 / 0")
            assert told() == str(ANA)


def test_a_connection_that_was_lost_is_told_when_it_is_back() -> None:
    with acting_for(ANA):
        told()
        connection.close()
        assert told() == str(ANA)
    with seeing(NOBODY):
        connection.close()
        assert told() == ""


def test_a_thread_sees_nobodys_rows_until_it_says_whose() -> None:
    seen: list[str] = []

    def look() -> None:
        try:
            seen.append(told())
            with acting_for(CLEO):
                seen.append(told())
        finally:
            connection.close()

    with acting_for(ANA):
        told()
        thread = threading.Thread(target=look)
        thread.start()
        thread.join()
        assert told() == str(ANA)
    assert seen == ["", str(CLEO)]


def test_a_callback_at_commit_is_told_too() -> None:
    seen: list[str] = []
    with acting_for(CLEO):
        told()
    with acting_for(ANA):
        with transaction.atomic():
            transaction.on_commit(lambda: seen.append(told()))
            told()
        assert seen == [told()] == [str(ANA)]


@transaction.atomic
def in_a_transaction(step: Callable[[], None]) -> None:
    step()


@pytest.mark.parametrize("seed", range(20))
def test_whatever_happens_before_a_statement_sees_what_it_should(seed: int) -> None:
    """Random programs of blocks that commit and fail, and of changes of whose rows are seen."""
    chance = random.Random(seed)
    blocks = {
        str(ANA): lambda: acting_for(ANA),
        str(CLEO): lambda: acting_for(CLEO),
        "*": across_tenants,
        "": lambda: seeing(NOBODY),
    }

    def run(whose: str, depth: int) -> None:
        for _ in range(chance.randrange(1, 5)):
            step = chance.random()
            if step < 0.4 or depth > 5:
                assert told() == whose
            elif step < 0.6:
                other = chance.choice(list(blocks))
                with blocks[other]():
                    run(other, depth + 1)
            elif step < 0.9:
                fails, savepoint = chance.random() < 0.5, chance.random() < 0.9
                if connection.in_atomic_block and not savepoint and fails:
                    continue  # it would doom what is around it
                try:
                    with transaction.atomic(savepoint=savepoint):
                        run(whose, depth + 1)
                        if fails:
                            raise Oops
                except Oops:
                    pass
            else:
                in_a_transaction(lambda: run(whose, depth + 1))

    with across_tenants():
        for _ in range(10):
            run("*", 0)
