"""A key opens the calls of its scopes, and no others."""

from __future__ import annotations

import re
import uuid

import pytest

from memoryproject import urls
from memoryproject.tenancy.models import Scope
from memoryproject.tenancy.views import KeyedView
from tests.api.problems import assert_problem
from tests.conftest import make_agent

pytestmark = pytest.mark.django_db

SCOPES: dict[str, tuple[str, Scope]] = {
    "add_message": ("POST", Scope.INGEST),
    "add_messages": ("POST", Scope.INGEST),
    "flush": ("POST", Scope.INGEST),
    "forget": ("POST", Scope.INGEST),
    "conversations/<id:conversation_id>/close": ("POST", Scope.INGEST),
    "messages": ("GET", Scope.READ),
    "episodes": ("GET", Scope.READ),
    "facts": ("GET", Scope.READ),
    "notes": ("GET", Scope.READ),
    "notes/<id:note_id>": ("GET", Scope.READ),
    "notes/<id:note_id>/restore": ("POST", Scope.INGEST),
    "notes/<id:note_id>/versions": ("GET", Scope.READ),
    "links": ("POST", Scope.INGEST),
    "links/<id:link_id>": ("DELETE", Scope.INGEST),
    "memories/<id:memory_id>": ("GET", Scope.READ),
    "memories/<id:memory_id>/chunk": ("POST", Scope.READ),
    "memories/<id:memory_id>/links": ("GET", Scope.READ),
    "memories/<id:memory_id>/walk": ("GET", Scope.READ),
    "contexts": ("POST", Scope.READ),
    "contexts/<id:context_id>": ("GET", Scope.READ),
    "contexts/<id:context_id>/add": ("POST", Scope.READ),
    "contexts/<id:context_id>/text": ("GET", Scope.READ),
    "retrievals": ("GET", Scope.READ),
    "messages/<id:message_id>": ("GET", Scope.READ),
    "episodes/<id:episode_id>": ("GET", Scope.READ),
    "facts/<id:fact_id>": ("GET", Scope.READ),
    "retrievals/<id:retrieval_id>": ("GET", Scope.READ),
    "retrievals/<id:retrieval_id>/replay": ("GET", Scope.READ),
    "diff": ("GET", Scope.READ),
    "notes/batch": ("POST", Scope.INGEST),
    "changesets": ("GET", Scope.READ),
    "changesets/<id:changeset_id>": ("GET", Scope.READ),
    "changesets/<id:changeset_id>/revert": ("GET POST", Scope.CURATE),
    "facts/<id:fact_id>/invalidate": ("POST", Scope.CURATE),
    "facts/<id:fact_id>/restore": ("POST", Scope.CURATE),
    "facts/<id:fact_id>/correct": ("POST", Scope.CURATE),
    "facts/<id:fact_id>/marks": ("GET", Scope.READ),
    "memory_tests": ("GET", Scope.READ),
    "memory_tests/run": ("POST", Scope.CURATE),
    "memory_tests/<id:test_id>": ("DELETE", Scope.CURATE),
    "facts/<id:fact_id>/approve": ("POST", Scope.CURATE),
    "facts/<id:fact_id>/reject": ("POST", Scope.CURATE),
    "suggestions": ("GET", Scope.READ),
    "suggestions/<id:suggestion_id>/accept": ("POST", Scope.CURATE),
    "suggestions/<id:suggestion_id>/decline": ("POST", Scope.CURATE),
    "rollbacks": ("GET POST", Scope.CURATE),
    "rollbacks/<id:rollback_id>": ("GET", Scope.CURATE),
    "rollbacks/<id:rollback_id>/lift": ("POST", Scope.CURATE),
    "conversations": ("GET", Scope.READ),
    "conversations/<id:conversation_id>": ("GET", Scope.READ),
    "conversations/<id:conversation_id>/user": ("POST", Scope.ADMIN),
    "conversations/<id:conversation_id>/retry": ("POST", Scope.ADMIN),
    "users/<path:user_id>/profile": ("GET", Scope.READ),
    "agents/<path:agent_id>/profile": ("GET", Scope.READ),
    "conversations/<id:conversation_id>/profile": ("GET", Scope.READ),
    "people": ("GET", Scope.READ),
    "people/<id:person_id>": ("GET", Scope.READ),
    "people/<id:person_id>/merge": ("POST", Scope.CURATE),
    "people/<id:person_id>/unmerge": ("POST", Scope.CURATE),
    "people/<id:person_id>/export": ("GET", Scope.ADMIN),
    "jobs/<id:job_id>": ("GET", Scope.READ),
    "jobs/<id:job_id>/retry": ("POST", Scope.ADMIN),
    "usage": ("GET", Scope.ADMIN),
    "webhooks": ("GET POST", Scope.ADMIN),
    "webhooks/<id:webhook_id>": ("GET DELETE", Scope.ADMIN),
    "webhooks/<id:webhook_id>/rotate": ("POST", Scope.ADMIN),
    "webhooks/<id:webhook_id>/events": ("GET", Scope.ADMIN),
    "events/<id:event_id>/redeliver": ("POST", Scope.ADMIN),
    "erasures": ("GET POST", Scope.ADMIN),
    "erasures/<id:erasure_id>": ("GET", Scope.ADMIN),
    "instructions": ("GET PUT", Scope.ADMIN),
    "instructions/versions": ("GET", Scope.ADMIN),
    "instructions/undo": ("POST", Scope.ADMIN),
    "instructions/preview": ("POST", Scope.ADMIN),
    "ask": ("POST", Scope.READ),
    "retrieve_memory": ("POST", Scope.READ),
    "retrieve_memory/raw": ("POST", Scope.READ),
    "context_pre_retrieve": ("POST", Scope.READ),
    "reconstruct_context": ("POST", Scope.READ),
    "search": ("POST", Scope.READ),
    "recent_memory": ("POST", Scope.READ),
    "recent_memory/raw": ("POST", Scope.READ),
}
"""The methods of each route, and the scope it needs; a new route is added here."""
NEED_NO_SCOPE = {"whoami"}
WRITING: dict[str, tuple[str, Scope]] = {
    "facts/<id:fact_id>/marks": ("POST", Scope.CURATE),
    "memory_tests": ("POST", Scope.CURATE),
    "notes": ("POST", Scope.INGEST),
    "people": ("POST", Scope.CURATE),
    "notes/<id:note_id>": ("PATCH DELETE", Scope.INGEST),
}
"""The methods of a route that need another scope than reading it does."""
CALLS = [
    (route, method, needed)
    for table in (SCOPES, WRITING)
    for route, (methods, needed) in table.items()
    for method in methods.split()
]


def test_every_route_is_listed() -> None:
    keyed = [
        str(route.pattern)
        for route in urls.api
        if issubclass(getattr(route.callback, "cls", object), KeyedView)
    ]
    assert sorted(keyed) == sorted({*SCOPES, *NEED_NO_SCOPE})


@pytest.mark.parametrize("route, method, needed", CALLS)
def test_a_call_needs_its_scope_and_no_other(
    db: None, route: str, method: str, needed: Scope
) -> None:
    address = re.sub(r"<id:\w+>", lambda name: str(uuid.uuid4()), f"/api/v0/{route}")
    for scope in Scope:
        agent = make_agent("ana's", f"only {scope}", (scope,))
        answer = agent.client.generic(method, address, content_type="application/json")
        if scope is needed:
            assert answer.status_code in {200, 400, 404}
        else:
            problem = assert_problem(answer, 403)
            assert problem["code"] == "permission_denied"
            assert f"scope {needed}" in problem["message"]


def test_a_key_with_all_scopes_but_one_lacks_that_one(db: None) -> None:
    agent = make_agent("ana's", "reader", (Scope.READ, Scope.CURATE, Scope.ADMIN))
    assert_problem(agent.post("add_message", {}), 403)
    assert agent.get("facts").status_code == 200
