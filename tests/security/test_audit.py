"""What people and jobs did stays on record: who serves can add to it, and change nothing."""

from __future__ import annotations

import uuid
from collections.abc import Iterator
from datetime import timedelta

import pytest
from django.conf import settings
from django.contrib.admin.models import CHANGE, LogEntry
from django.contrib.auth.models import User
from django.core.checks import Tags, run_checks
from django.db import IntegrityError, connection, transaction
from django.db.models import Model
from django.test import Client
from django.urls import reverse
from django.utils import timezone

from episodic.models import Conversation, Reveal
from memoryproject import embedded
from memoryproject.embedded.bootstrap import connect_as_superuser
from semantic.models import Change, Changeset
from tests.conftest import Agent
from tests.fresh import ana as ana
from tests.fresh import conversation as conversation
from tests.fresh import told as told


@pytest.fixture
def acted(ana: Agent, told: uuid.UUID) -> LogEntry:
    """A past with changesets, a reveal and an operator's act."""
    conversation = Conversation.objects.of(ana.tenant).get(external_id=told)
    Reveal.objects.create(
        tenant=ana.tenant,
        conversation=conversation,
        person="dora",
        reason="A complaint.",
        until=timezone.now() + timedelta(hours=1),
    )
    dora = User.objects.create_user("dora", password="a good long password", is_staff=True)
    return LogEntry.objects.log_actions(
        user_id=dora.pk,
        queryset=[ana.tenant],
        action_flag=CHANGE,
        change_message="Set a budget.",
        single_object=True,
    )


@pytest.mark.django_db
@pytest.mark.parametrize("model", [Changeset, Change, Reveal], ids=lambda one: one.__name__)
def test_who_serves_can_neither_change_nor_delete_a_row(
    model: type[Model], ana: Agent, acted: LogEntry
) -> None:
    with connection.cursor() as cursor:
        cursor.execute("SELECT current_user")
        assert cursor.fetchone() == (embedded.APP_ROLE,)
    rows = model.objects.of(ana.tenant)  # type: ignore[attr-defined]
    assert rows.exists()
    for change in (rows.delete, lambda: rows.update(id=uuid.uuid4())):
        with pytest.raises(IntegrityError, match="append-only"), transaction.atomic():
            change()


@pytest.mark.django_db
@pytest.mark.parametrize(
    "change",
    [
        {"change_message": "Nothing."},
        {"action_flag": 3},
        {"object_id": "7"},
        {"action_time": timezone.now() + timedelta(days=1)},
    ],
    ids=lambda change: next(iter(change)),
)
def test_an_operators_act_stays_as_it_was_recorded(
    change: dict[str, object], acted: LogEntry
) -> None:
    entry = LogEntry.objects.filter(pk=acted.pk)
    with pytest.raises(IntegrityError, match="append-only"), transaction.atomic():
        entry.update(**change)
    with pytest.raises(IntegrityError, match="append-only"), transaction.atomic():
        entry.delete()


@pytest.mark.django_db
def test_an_act_does_not_go_with_the_person(acted: LogEntry) -> None:
    boss = Client(SERVER_NAME="localhost")
    boss.force_login(User.objects.create_superuser("boss", password="a good long password"))
    dora = acted.user
    assert boss.post(reverse("admin:auth_user_delete", args=[dora.pk])).status_code == 403
    with pytest.raises(IntegrityError), transaction.atomic():
        dora.delete()
    assert LogEntry.objects.get().user.username == "dora"


@pytest.fixture
def talkative(transactional_db: None) -> Iterator[None]:
    """The test's database, as one is that nobody has told to keep its log clean."""
    name = connection.settings_dict["NAME"]
    with connect_as_superuser(embedded.locate(settings.DATA_DIR).address, database=name) as boss:
        boss.execute(f"ALTER DATABASE {name} SET log_error_verbosity = verbose")
        boss.execute(f"ALTER DATABASE {name} SET log_min_messages = warning")
        connection.close()
        yield
        boss.execute(f"ALTER DATABASE {name} RESET ALL")
        connection.close()


def told_of_logs() -> list[str]:
    found = run_checks(tags=[Tags.database], databases=["default"])
    return [str(one.hint) for one in found if one.id == "operations.W001"]


@pytest.mark.django_db(transaction=True)
def test_the_embedded_server_logs_nothing_that_was_said() -> None:
    assert told_of_logs() == []


def test_a_server_that_logs_rows_is_named_with_what_to_do(talkative: None) -> None:
    (hint,) = told_of_logs()
    assert "SET log_error_verbosity = terse" in hint and "SET log_min_messages = log" in hint
    assert "log_statement" not in hint
