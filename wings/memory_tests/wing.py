"""Questions with known answers, asked again after each changeset."""

from django.urls import path

from jobs.flows import Flow
from jobs.models import Kind
from memoryproject.wings import Wing
from wings.memory_tests import api, memory_tests

WING = Wing(
    routes=(
        path("memory_tests", api.MemoryTests.as_view()),
        path("memory_tests/run", api.RunMemoryTests.as_view()),
        path("memory_tests/<id:test_id>", api.OneMemoryTest.as_view()),
    ),
    events=(memory_tests.TEST_FAILED,),
    flows={Kind.TEST: Flow(run=memory_tests.run_claimed, asks_model=False)},
    on_changeset=memory_tests.queue_tests,
    shows_content=("retrieval.memorytest",),
)
