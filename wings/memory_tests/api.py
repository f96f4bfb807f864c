"""The calls `memory_tests`: questions with expected answers."""

import uuid

from rest_framework import serializers
from rest_framework.request import Request
from rest_framework.response import Response

from episodic import queries as episodic_queries
from memoryproject.database.clock import read_database_clock
from memoryproject.edge import fields
from memoryproject.edge.errors import get_row
from memoryproject.edge.pages import PageQuery, describe_page
from memoryproject.edge.schema import Error, describe
from memoryproject.tenancy.models import Scope
from memoryproject.tenancy.views import KeyedView
from retrieval.api.answers import BudgetField
from retrieval.models import MemoryTest
from wings.memory_tests import memory_tests
from wings.memory_tests.memory_tests import TEXT_AT_MOST, TEXTS_AT_MOST


def _texts(help_text: str) -> serializers.ListField:
    child = fields.ContentField(max_length=TEXT_AT_MOST)
    return serializers.ListField(
        child=child, required=False, max_length=TEXTS_AT_MOST, help_text=help_text
    )


class MemoryTestInput(fields.Strict):
    """The body of `POST memory_tests`. At least one expectation is needed."""

    conversation_id = fields.IdField("Which conversation is asked.")
    query = fields.ContentField("What is asked, as `retrieve_memory` takes it.")
    max_tokens = BudgetField("Of the call; absent: none.", required=False)
    must_say = _texts("The answer holds all of these; case and spacing do not count.")
    must_not_say = _texts(
        "The answer holds none of these, but in lines that carry the mark of a correction."
    )
    at_most_tokens = BudgetField("Of the answer.", required=False)
    case_id = fields.IdField("The receipt that it is made from.", required=False)


class MemoryTestOutput(fields.Output):
    """A memory test with the result of its last run."""

    table = MemoryTest
    id = fields.Column("The id of the memory test.")
    conversation_id = fields.Column("Which conversation is asked.", "conversation.external_id")
    query = fields.Column("What is asked.")
    max_tokens = fields.Column("The budget of the call; null: none.")
    must_say = fields.Column("Texts that the answer must hold.")
    must_not_say = fields.Column(
        "Texts that no line of the answer may hold, but lines marked as corrected."
    )
    at_most_tokens = fields.Column("How long the answer may be; null: any length.")
    case_id = fields.Column("The receipt that the test was made from; null: none.")
    made_by = fields.Column("Who made it: a person or a key.")
    created_at = fields.Column("When it was made.")
    passes = fields.Column("null: it has not run yet.")
    failures = serializers.ListField(
        child=serializers.CharField(),
        help_text="What the last answer missed: at_most_tokens, or must_say.0 for the first text.",
    )
    ran_at = fields.Column("null: it has not run yet.")
    broken_by = fields.Column("The changeset after which it first failed; null: none is known.")


class VerdictsOutput(fields.Output):
    """Number of tests that pass and that fail."""

    passed = serializers.IntegerField(help_text="How many pass.")
    failed = serializers.IntegerField(help_text="How many fail.")


class MemoryTests(KeyedView):
    scope = Scope.READ
    writing_scope = Scope.CURATE

    @describe_page("list_memory_tests", PageQuery, MemoryTestOutput, "MemoryTestPage")
    def get(self, request: Request) -> Response:
        """List memory tests with what came of their last run.

        Memory tests with what came of their last run, newest first. They run after each changeset
        of their conversation, and on demand.
        200: A page of memory tests.
        """
        rows = MemoryTest.objects.of(self.tenant()).select_related("conversation")
        return self.list_page(rows, MemoryTestOutput, self.read_query(PageQuery))

    @describe("add_memory_test", MemoryTestInput, {201: MemoryTestOutput, 404: Error, 409: Error})
    def post(self, request: Request) -> Response:
        """Add a memory test.

        201: The test, with what came of its first run.
        409: The tenant has as many memory tests as it may have.
        """
        body = self.read(MemoryTestInput)
        conversation = episodic_queries.get_by_external_id(
            tenant=self.tenant(), external_id=body.pop("conversation_id")
        )
        test = MemoryTest(
            tenant=self.tenant(), conversation=conversation, made_by=self.actor(), **body
        )
        memory_tests.create_test(test)
        return Response(MemoryTestOutput(test).data, status=201)


class OneMemoryTest(KeyedView):
    scope = Scope.CURATE

    @describe("delete_memory_test", None, {204: None})
    def delete(self, request: Request, test_id: uuid.UUID) -> Response:
        """Delete a memory test.

        204: The test is gone.
        """
        get_row(MemoryTest.objects.of(self.tenant()), "memory test", id=test_id).delete()
        return Response(status=204)


class RunMemoryTests(KeyedView):
    scope = Scope.CURATE

    @describe("run_memory_tests", None, VerdictsOutput)
    def post(self, request: Request) -> Response:
        """Run all memory tests now.

        200: How many pass and fail.
        """
        tests = memory_tests.tests_of(self.tenant())
        memory_tests.run_tests(tests, now=read_database_clock())
        return Response(VerdictsOutput(memory_tests.count_verdicts(tests)).data)
