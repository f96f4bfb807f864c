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


def _texts() -> serializers.ListField:
    child = fields.ContentField(max_length=TEXT_AT_MOST)
    return serializers.ListField(child=child, required=False, max_length=TEXTS_AT_MOST)


class MemoryTestInput(fields.Strict):
    """The body of `POST memory_tests`. At least one expectation is needed."""

    conversation_id = fields.IdField()
    query = fields.ContentField()
    max_tokens = BudgetField(required=False)
    must_say = _texts()
    must_not_say = _texts()
    at_most_tokens = BudgetField(required=False)
    case_id = fields.IdField(required=False)


class MemoryTestOutput(fields.Output):
    """A memory test with the result of its last run."""

    table = MemoryTest
    columns = (
        "id conversation_id=conversation.external_id query max_tokens must_say must_not_say "
        "at_most_tokens case_id made_by created_at passes failures ran_at broken_by"
    )
    failures = serializers.ListField(child=serializers.CharField())


class VerdictsOutput(fields.Output):
    """Number of tests that pass and that fail."""

    passed = serializers.IntegerField()
    failed = serializers.IntegerField()


class MemoryTests(KeyedView):
    scope = Scope.READ
    writing_scope = Scope.CURATE

    @describe_page("list_memory_tests", PageQuery, MemoryTestOutput, "MemoryTestPage")
    def get(self, request: Request) -> Response:
        rows = MemoryTest.objects.of(self.tenant()).select_related("conversation")
        return self.list_page(rows, MemoryTestOutput, self.read_query(PageQuery))

    @describe("add_memory_test", MemoryTestInput, {201: MemoryTestOutput, 404: Error, 409: Error})
    def post(self, request: Request) -> Response:
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
    """Deletes a memory test."""

    scope = Scope.CURATE

    @describe("delete_memory_test", None, {204: None})
    def delete(self, request: Request, test_id: uuid.UUID) -> Response:
        get_row(MemoryTest.objects.of(self.tenant()), "memory test", id=test_id).delete()
        return Response(status=204)


class RunMemoryTests(KeyedView):
    scope = Scope.CURATE

    @describe("run_memory_tests", None, VerdictsOutput)
    def post(self, request: Request) -> Response:
        tests = memory_tests.tests_of(self.tenant())
        memory_tests.run_tests(tests, now=read_database_clock())
        return Response(VerdictsOutput(memory_tests.count_verdicts(tests)).data)
