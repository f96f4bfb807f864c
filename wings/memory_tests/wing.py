"""Questions with known answers, asked again after each changeset."""

from django.urls import path

from jobs.flows import Flow
from jobs.models import Kind
from memoryproject.adminkit.site import Entry
from memoryproject.wings import Wing
from wings.memory_tests import api, memory_tests

MENU = {
    "Answers": (
        Entry("Memory tests", "fact_check", "retrieval.memorytest", "Questions whose answers "
            "must, or must not, say something; run again when facts change.",
            make=Entry("Make a memory test", page="console:test_new",
                permission="semantic.curate_fact")),
    ),
}  # fmt: skip

WING = Wing(
    routes=(
        path("memory_tests", api.MemoryTests.as_view()),
        path("memory_tests/run", api.RunMemoryTests.as_view()),
        path("memory_tests/<id:test_id>", api.OneMemoryTest.as_view()),
    ),
    flows={Kind.TEST: Flow(run=memory_tests.run_claimed, asks_model=False)},
    on_changeset=memory_tests.queue_tests,
    menu=MENU,
    shows_content=("retrieval.memorytest",),
)
