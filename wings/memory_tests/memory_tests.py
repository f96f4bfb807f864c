"""Memory tests: questions with expected answers, run after each changeset and by command."""

import uuid
from collections import Counter
from collections.abc import Iterable, Sequence
from datetime import datetime

from django.db import transaction

from episodic import queries as episodic_queries
from episodic.models import Conversation
from jobs import claims
from jobs.claims import Claim
from jobs.enqueue import enqueue
from jobs.models import Kind
from memoryproject.ai.errors import ModelUnavailable
from memoryproject.database.clock import read_database_clock
from memoryproject.edge.errors import Conflict, Problem
from memoryproject.tenancy.models import Tenant
from memoryproject.wings import EventType, Notice
from retrieval.models import MemoryTest, Retrieval
from retrieval.recall import Draft, draft_answer
from retrieval.request import RecallRequest
from semantic.models import Change, Changeset
from wings.events.outbox import NewEvent, announce

TEST_FAILED = EventType(
    "test.failed",
    "a memory test that passed fails",
    Notice(
        "A memory test fails",
        "semantic.curate_fact",
        "admin:retrieval_memorytest_change",
        "test_id",
    ),
)
TESTS_AT_MOST = 200
"""Number of tests of a tenant: all of them run while somebody waits."""
TEXTS_AT_MOST = 20
TEXT_AT_MOST = 500


def create_test(test: MemoryTest) -> None:
    """Validate an unsaved test, save it, and run it once.

    Raises:
        Problem: it expects nothing.
        Conflict: the tenant has the maximum number of tests.
    """
    if not (test.must_say or test.must_not_say or test.at_most_tokens):
        raise Problem("Expect something: must_say, must_not_say or at_most_tokens.")
    with transaction.atomic():
        conversation = episodic_queries.lock_conversation(test.tenant, test.conversation_id)
        if MemoryTest.objects.of(test.tenant).count() >= TESTS_AT_MOST:
            raise Conflict(f"A tenant has at most {TESTS_AT_MOST} memory tests: delete one first.")
        if not conversation.has_tests:
            conversation.has_tests = True
            conversation.save(update_fields=["has_tests"])
        test.save(force_insert=True)
    run_tests([test], now=read_database_clock())


def tests_of(tenant: Tenant, **where: object) -> list[MemoryTest]:
    """Return the tests of a tenant with their conversations, oldest first."""
    rows = MemoryTest.objects.of(tenant).filter(**where).select_related("conversation")
    return list(rows.order_by("id"))


def queue_tests(
    changeset: Changeset, conversation: Conversation, changes: Sequence[Change]
) -> None:
    """Queue the tests of a conversation after a changeset, if it has any."""
    if conversation.has_tests:
        work = {"changeset": str(changeset.id)}
        enqueue(tenant=conversation.tenant, kind=Kind.TEST, scope=conversation.id, input=work)


def run_claimed(claim: Claim) -> None:
    """Run the tests of a conversation, after the changeset that the job names.

    Raises:
        ModelUnavailable: the query cannot be embedded now; try again later.
    """
    changeset_id = claim.input.get("changeset")
    tests = tests_of(claim.tenant, conversation=claim.scope)
    now = read_database_clock()
    cause = uuid.UUID(changeset_id) if changeset_id else None
    failing = [test for test in tests if judge(test, now=now, changeset_id=cause)]
    with claims.commit(claim, result=dict(count_verdicts(tests))):
        _store(tests)
        events = [NewEvent(TEST_FAILED, {"test_id": str(test.id)}) for test in failing]
        announce(events, tenant=claim.tenant, scope=claim.tenant.id)


def run_tests(tests: Sequence[MemoryTest], *, now: datetime) -> None:
    """Run tests and store the results.

    Raises:
        ModelUnavailable: the query cannot be embedded now; nothing is stored.
    """
    for test in tests:
        judge(test, now=now)
    _store(tests)


def judge(test: MemoryTest, *, now: datetime, changeset_id: uuid.UUID | None = None) -> bool:
    """Ask a test's question and set the failures on the row, without storing it.

    Returns whether the test passed before and fails now.

    Raises:
        ModelUnavailable: the query cannot be embedded now, so the test would be meaningless.
    """
    request = RecallRequest(
        query=test.query,
        conversation_id=test.conversation.external_id,
        kind=Retrieval.Kind.RETRIEVE,
        max_tokens=test.max_tokens,
    )
    draft = draft_answer(tenant=test.tenant, request=request, now=now)
    if draft.receipt.degraded:
        raise ModelUnavailable("The embedding model is away.")
    passed = bool(test.passes)
    test.ran_at, test.failures = now, list(find_failures(test, draft))
    test.broken_by = (test.broken_by or changeset_id) if test.failures else None
    return passed and bool(test.failures)


def find_failures(test: MemoryTest, draft: Draft) -> Iterable[str]:
    """Yield the unmet expectations of a draft, as field and index in its list: `must_say.0`.

    Case and spacing are ignored. A line with the mark of a correction may contain forbidden text.
    """
    text, unmarked = fold(draft.text), fold("\n".join(draft.unmarked_lines))
    for place, words in enumerate(test.must_say):
        if fold(words) not in text:
            yield f"must_say.{place}"
    for place, words in enumerate(test.must_not_say):
        if fold(words) in unmarked:
            yield f"must_not_say.{place}"
    if test.at_most_tokens is not None and draft.receipt.tokens > test.at_most_tokens:
        yield "at_most_tokens"


def fold(text: str) -> str:
    """Return a text in the form in which it is compared."""
    return " ".join(text.casefold().split())


def count_verdicts(tests: Iterable[MemoryTest]) -> Counter[str]:
    """Return how many of the tests have `passed` and `failed`."""
    return Counter("passed" if test.passes else "failed" for test in tests)


def _store(tests: Sequence[MemoryTest]) -> None:
    if tests:
        rows = MemoryTest.objects.of(tests[0].tenant)
        rows.bulk_update(tests, ["ran_at", "failures", "broken_by"])
