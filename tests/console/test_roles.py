"""Three groups come with the migrations, with these rights and no others."""

from __future__ import annotations

import pytest
from django.core.management import call_command
from django.db import connections

from tests.migrating import migrated_database

Rights = dict[str, set[str]]

MEMORY = (
    "episodic.conversation episodic.episode episodic.message notes.link notes.note "
    "notes.noteversion people.alias people.merge people.person semantic.evidence semantic.fact"
)
AUDIT = (
    "console.exportrun console.importrun episodic.reveal episodic.review episodic.withholding "
    "erasure.erasure erasure.hold erasure.retentionpolicy instructions.instructionversion "
    "retrieval.context retrieval.contextsection retrieval.retrieval retrieval.retrievalhit "
    "retrieval.memorytest semantic.change semantic.changeset semantic.correctionmark "
    "semantic.suggestion semantic.triage"
)
WORK = "ai.breaker jobs.job jobs.llmcall tenancy.apikey tenancy.keyusage tenancy.tenant"
INDEX = (
    "indexing.memory indexing.searchunit indexing.searchvector indexing.shelfsize "
    "indexing.vectorindex indexing.wordcount"
)
SEES = {
    "curator": f"{MEMORY} {AUDIT} {WORK} {INDEX}",
    "auditor": f"{MEMORY} {AUDIT} {WORK}",
    "operator": f"{WORK} events.event events.webhook",
}
MAY = {
    "curator": (
        "semantic.curate_fact notes.curate_note episodic.read_content retrieval.run_playground"
    ),
    "auditor": "episodic.reveal_content",
    "operator": (
        "events.redeliver_event jobs.operate_job tenancy.manage_apikey tenancy.set_budget"
    ),
}
SEES["auditor"] += " console.pageread"
EXPECTED: Rights = {
    role: {table.replace(".", ".view_") for table in SEES[role].split()} | set(MAY[role].split())
    for role in SEES
}
RIGHTS = """
SELECT auth_group.name, django_content_type.app_label, auth_permission.codename
FROM auth_group_permissions
JOIN auth_group ON auth_group.id = group_id
JOIN auth_permission ON auth_permission.id = permission_id
JOIN django_content_type ON django_content_type.id = content_type_id
"""

pytestmark = [
    pytest.mark.django_db(databases=["default", "owner"], transaction=True),
    pytest.mark.gate,
]


def read_rights() -> Rights:
    """Return the permissions of each group."""
    found: Rights = {}
    with connections["owner"].cursor() as cursor:
        cursor.execute(RIGHTS)
        for role, app, codename in cursor.fetchall():
            found.setdefault(role, set()).add(f"{app}.{codename}")
    return found


def test_a_fresh_database_has_the_roles_also_after_going_back_and_forth() -> None:
    with migrated_database("memory_roles_fresh"):
        assert read_rights() == EXPECTED
        call_command("migrate", "console", "zero", verbosity=0)
        assert read_rights() == {}
        call_command("migrate", keep_no_copy=True, verbosity=0)
        assert read_rights() == EXPECTED
