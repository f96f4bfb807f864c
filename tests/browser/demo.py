"""Fills a server of its own with three weeks of two tenants, by the real pipeline, offline.

Run by `make demo`, into a data folder of its own. Each day is told through the API and worked
through at once; then its times, those in its ids too, are moved to the day that it is to have
been. For a demonstration only: nothing else may rewrite what has happened.
"""

from __future__ import annotations

import sys
import uuid
from datetime import timedelta

from django.conf import settings
from django.contrib.auth.hashers import PBKDF2PasswordHasher
from django.contrib.auth.models import Group, User
from django.test import Client
from django.urls import reverse
from django.utils import timezone

from jobs.draining import drain_jobs
from memoryproject import embedded
from memoryproject.embedded import bootstrap
from memoryproject.tenancy import key_usage
from memoryproject.tenancy.models import Tenant
from retrieval.models import Retrieval
from semantic.models import Fact
from tests.browser.story import BANK, tell_story
from tests.conftest import Agent, make_agent
from wings.operations.management.commands import seed_demo

SHOP = "Fjord Outdoor"
DAYS = 20
PASSWORD = "a tour of the memory"
ROLES = ("curator", "auditor", "operator")
CUSTOMERS = ("Ana", "Bo", "Chidi", "Dora", "Emil", "Freya", "Gus", "Hana", "Ivo", "Jun")
TOWNS = ("Bergen", "Oslo", "Lund", "Ghent", "Porto", "Turku", "Graz")
THINGS = ("tent", "kayak", "rucksack", "stove", "bicycle", "sleeping bag", "pair of skis")
WORK = ("nurse", "carpenter", "teacher", "pilot", "baker", "vet", "programmer")


def fill() -> None:
    """Make both tenants, a day after the other, and who looks at them."""
    shop = make_agent(SHOP, "web shop")
    seed_demo.write_private(settings.DATA_DIR / "api_key", shop.secret)
    seed_demo.seed_conversation(shop.tenant)
    readers = _make_logins()
    talks = {name: uuid.uuid4() for name in CUSTOMERS}
    for day in range(DAYS):
        for at in range(1 + day % 3):
            number = day * 2 + at
            _visit(shop, talks, number)
        _read_pages(shop, readers, day)
        _move_back(DAYS - day)
        _say(f"{SHOP}: day {day + 1} of {DAYS}")
    _say(f"{BANK}: a month")
    tell_story()
    _make_people(shop)
    _leave_traces(shop, readers)
    drain_jobs()
    key_usage.write_counts()


def _visit(shop: Agent, talks: dict[str, uuid.UUID], number: int) -> None:
    """Let a customer talk, and the agent look something up."""
    name = CUSTOMERS[number % len(CUSTOMERS)]
    town, thing = TOWNS[number % len(TOWNS)], THINGS[(number * 3) % len(THINGS)]
    lines = (
        ("user", f"My name is {name}, I live in {town}."),
        ("assistant", f"Welcome back, {name}. What are you looking for?"),
        ("user", f"I want to buy a {thing} for the mountains near {town}."),
        ("assistant", f"We have three of them. Which size of {thing}?"),
        ("user", f"I work as a {WORK[number % len(WORK)]} and I am {150 + number} cm tall."),
        ("assistant", "Then the middle one fits."),
        ("user", f"Please send it to {TOWNS[(number + 2) % len(TOWNS)]}, I never pay by card."),
        ("assistant", "It leaves on Monday."),
    )
    messages = [
        {"role": role, "content": text, **({"name": name} if role == "user" else {})}
        for role, text in lines
    ]
    body = {"conversation_id": str(talks[name]), "messages": messages}
    assert shop.post("add_messages", body).status_code == 201
    shop.flush(talks[name])
    for query in (f"Where does {name} live?", f"What does {name} want to buy?"):
        asked = {"conversation_id": str(talks[name]), "query": query, "detail": "high"}
        assert shop.post("retrieve_memory", asked).status_code == 200
    drain_jobs()
    key_usage.write_counts()


def _say(event: str) -> None:
    sys.stdout.write(f"{event} …\n")
    sys.stdout.flush()


def _make_logins() -> dict[str, Client]:
    """Make a login of each role, and return their browsers."""
    readers = {}
    hasher = PBKDF2PasswordHasher()  # the one of tests is quick, and the server refuses it
    password = hasher.encode(PASSWORD, hasher.salt())
    for name in (*ROLES, "boss"):
        login = User(username=name, password=password, is_staff=True, is_superuser=name == "boss")
        login.save()
        login.groups.set(Group.objects.filter(name=name))
        readers[name] = Client(SERVER_NAME="localhost")
        readers[name].force_login(login)
    return readers


def _read_pages(shop: Agent, readers: dict[str, Client], day: int) -> None:
    """Let people open what came on a day: a curator always, others now and then."""
    asked = Retrieval.objects.of(shop.tenant).latest("id")
    of_tenant = {"tenant": SHOP}
    talk = reverse("admin:episodic_conversation_change", args=[asked.conversation_id])
    case, search = reverse("console:case", args=[asked.id]), reverse("console:search")
    pages = [("curator", talk, of_tenant), ("curator", search, {**of_tenant, "q": asked.query})]
    if day % 3 == 0:
        pages += [("auditor", case, of_tenant), ("auditor", talk, of_tenant)]
    if day % 7 == 0:
        facts = reverse("admin:semantic_fact_changelist")
        pages += [("boss", facts, of_tenant), ("boss", talk, of_tenant)]
    for who, address, query in pages:
        assert readers[who].get(address, query).status_code == 200


def _make_people(shop: Agent) -> None:
    """Make a person of each of some customers."""
    desk = make_agent(SHOP, "front desk", ("curate", "read", "ingest"))
    for name in CUSTOMERS[:4]:
        assert desk.post("people", {"name": name, "speakers": [name]}).status_code == 201


def _leave_traces(shop: Agent, readers: dict[str, Client]) -> None:
    """Correct, decline, unmask and call too often, as happens on an ordinary day."""
    curator, auditor = readers["curator"], readers["auditor"]
    facts = Fact.objects.of(shop.tenant).filter(invalid_at=None).order_by("id")
    for fact, because in zip(facts[:6], ("wrong", "superseded") * 3, strict=False):
        form = {
            "invalidate-because": because,
            "invalidate-reason": "The customer told the desk.",
            "invalidate-version": str(fact.version),
        }
        path = f"/admin/facts/{fact.id}/invalidate/"
        assert curator.post(path, form).status_code == 302
    for row in Tenant.objects.filter(name__in=(SHOP, BANK)):
        home = Fact.objects.of(row).order_by("id")[0].conversation_id
        reason = {"reason": "Complaint 4711", "tenant": row.name}
        assert auditor.post(f"/admin/reveal/{home}/", reason).status_code == 302
    asked = {"conversation_id": str(facts[0].conversation.external_id), "query": "Where to?"}
    assert shop.post("memory_tests", {**asked, "must_say": ["a ferry"]}).status_code == 201
    note = shop.post("notes", {"content": "Jun's number is in the safe."}).json()
    erasure = {"scope": "note", "id": note["id"], "reason": "Asked for in ticket 4712."}
    assert shop.post("erasures", erasure).status_code == 200
    runaway = make_agent(SHOP, "runaway script")
    for _ in range(200):
        runaway.post("retrieve_memory", {"query": ""})


def _move_back(days: int) -> None:
    """Move what has happened since the server was started that many days into the past."""
    address = embedded.ensure_started(settings.DATA_DIR)
    with bootstrap.connect_as_superuser(address, database=embedded.DATABASE) as connection:
        connection.execute("SET session_replication_role = replica")  # no trigger, no check
        connection.execute(MOVED_TEXT)
        tables: dict[str, list[str]] = {}
        for table, column, kind in connection.execute(COLUMNS):
            tables.setdefault(table, []).append(MOVES[kind].format(f'"{column}"', kind))
        since = timezone.now() - NOT_LONGER_THAN
        for table, moves in tables.items():
            statement = f'UPDATE "{table}" SET ' + ", ".join(moves)
            connection.execute(statement, {"days": days, "since": since})  # type: ignore[arg-type]


NOT_LONGER_THAN = timedelta(hours=8)
"""The demo is made within it; what is older has been moved already."""
_TIME = "{0} = CASE WHEN {0} >= %(since)s THEN {0} - %(days)s * interval '1 day' ELSE {0} END"
_TEXT = "{0} = pg_temp.moved({0}::text, %(since)s, %(days)s)::{1}"
MOVES = {
    "uuid": _TEXT,
    "uuid[]": _TEXT,
    "jsonb": _TEXT,
    "timestamp with time zone": _TIME,
    "date": "{0} = CASE WHEN {0} >= %(since)s::date THEN {0} - %(days)s ELSE {0} END",
}
"""By the type of a column."""
COLUMNS = """
SELECT class.relname, attribute.attname, format_type(attribute.atttypid, NULL) AS kind
FROM pg_attribute AS attribute
JOIN pg_class AS class ON class.oid = attribute.attrelid
WHERE class.relnamespace = 'public'::regnamespace AND class.relkind = 'r'
    AND attribute.attnum > 0 AND NOT attribute.attisdropped AND attribute.attgenerated = ''
    AND format_type(attribute.atttypid, NULL) IN
        ('uuid', 'uuid[]', 'jsonb', 'date', 'timestamp with time zone')
    AND class.relname NOT LIKE 'django%' AND class.relname NOT LIKE 'auth%'
    AND class.relname NOT LIKE 'axes%' AND class.relname NOT LIKE 'tenancy_apikey'
    AND class.relname NOT LIKE 'tenancy_tenant'
ORDER BY 1, 2
"""
MOVED_TEXT = """
CREATE FUNCTION pg_temp.moved(said text, since timestamptz, days int) RETURNS text
LANGUAGE plpgsql AS $$
DECLARE
    old_id text;
    ms bigint;
BEGIN
    FOR old_id IN SELECT DISTINCT hits.matched[1] FROM regexp_matches(
        said, '[0-9a-f]{8}-[0-9a-f]{4}-7[0-9a-f]{3}-[89ab][0-9a-f]{3}-[0-9a-f]{12}', 'g'
    ) AS hits (matched) LOOP
        ms := ('x' || left(replace(old_id, '-', ''), 12))::bit(48)::bigint;
        IF ms >= extract(epoch FROM since) * 1000 AND NOT EXISTS (
            SELECT FROM tenancy_apikey WHERE tenancy_apikey.id::text = old_id
            UNION ALL SELECT FROM tenancy_tenant WHERE tenancy_tenant.id::text = old_id
        ) THEN
            said := replace(said, old_id, (
                lpad(to_hex(ms - days * 86400000::bigint), 12, '0')
                || substr(replace(old_id, '-', ''), 13)
            )::uuid::text);
        END IF;
    END LOOP;
    RETURN said;
END $$
"""
"""Ids of keys and tenants stay: they are in the hands of who calls."""


def main() -> None:
    """Fill the server, if nobody has, and say who may look."""
    if not Tenant.objects.filter(name=SHOP).exists():
        _say(f"Telling three weeks of {SHOP} and {BANK}, which takes a few minutes")
        fill()
    sys.stdout.write(f"Log in at /admin/ as {', '.join((*ROLES, 'boss'))}, password: {PASSWORD}\n")
