"""Each column that could hold what somebody said is known to an erasure, or told why it cannot.

Read from the catalogue of the database: a new column of text stands in no list, and fails
here until it is put into one.
"""

from __future__ import annotations

import pytest
from django.db import connection

pytestmark = pytest.mark.django_db

ROW = "goes with its row"
WORD = "a word of ours: a kind, a state, a role, a language, an engine"
MODEL = "the name of a model, a package or a version"
HASH = "a keyed hash"
SIZES = f"numbers by the name of a counter; {ROW}"
NUMBERS = "ids, flags and numbers"
WHO = "who did it, by the name of a key or of a person; the audit keeps it"
LOGIN = "of logins to the admin, not of tenants"
DJANGO = "of Django itself: names of tables, of permissions, of migrations"
UNUSED = "stays empty: results and schedules of the queue are off"

COLUMNS: dict[str, dict[str, str]] = {
    "ai_breaker": {"provider": MODEL, "model": MODEL, "fault": "a sentence of ours"},
    "account_emailaddress": dict.fromkeys(["email"], LOGIN),
    "account_emailconfirmation": dict.fromkeys(["key"], LOGIN),
    "auth_group": {"name": DJANGO},
    "auth_permission": {"name": DJANGO, "codename": DJANGO},
    "auth_user": dict.fromkeys(
        ("password", "username", "first_name", "last_name", "email"), LOGIN
    ),
    "axes_accessattempt": dict.fromkeys(
        ("user_agent", "username", "http_accept", "path_info", "get_data", "post_data"), LOGIN
    ),
    "axes_accessfailurelog": dict.fromkeys(
        ("user_agent", "username", "http_accept", "path_info"), LOGIN
    ),
    "axes_accesslog": dict.fromkeys(
        ("user_agent", "username", "http_accept", "path_info", "session_hash"), LOGIN
    ),
    "console_exportrun": {
        "person": WHO,
        "table": WORD,
        "format": WORD,
        "filters": "what a person narrowed an export by; goes with the tenant",
    },
    "console_importbatch": {"rows": "a conversation's facts are taken out (import_rows)"},
    "console_importrun": {
        "person": WHO,
        "file_name": "a person's file; goes with the tenant",
        "source": WORD,
        "state": WORD,
        "reason": "a person's own words; goes with the tenant",
        "counts": "numbers, and names of columns of a file; goes with the tenant",
        "faults": "lines and reasons in our words; goes with the tenant",
    },
    "console_pageread": {
        "person": WHO,
        "page": WORD,
        "words_sha256": "a hash under the server's pepper; goes after a year, and with the tenant",
    },
    "django_admin_log": {
        "object_id": NUMBERS,
        "object_repr": "put as (erased) where it called what is erased",
        "change_message": "what was done, in our words; why, behind a colon, goes with a memory",
    },
    "django_content_type": {"app_label": DJANGO, "model": DJANGO},
    "django_migrations": {"app": DJANGO, "name": DJANGO},
    "django_q_ormq": {"key": WORD, "payload": "the id of a job (jobs.enqueue.wake)"},
    "django_q_schedule": dict.fromkeys(
        (
            "func", "hook", "args", "kwargs", "schedule_type", "task", "name", "cron", "cluster",
            "intended_date_kwarg",
        ),
        UNUSED,
    ),
    "django_q_task": dict.fromkeys(
        ("name", "func", "hook", "args", "kwargs", "result", "id", "group", "cluster"), UNUSED
    ),
    "django_session": {"session_key": LOGIN, "session_data": LOGIN},
    "episodic_conversation": {
        "user_id": "emptied when its conversation is erased",
        "agent_id": "emptied when its conversation is erased",
        "next_user_id": "emptied when its conversation is erased",
        "previous_summary": "set anew from an episode that is still there",
        "language": WORD,
    },
    "episodic_episode": {"title": ROW, "summary": ROW, "engine": WORD},
    "episodic_erasedkey": {"digest": HASH},
    "episodic_message": {
        "role": WORD,
        "name": ROW,
        "user_id": ROW,
        "content": ROW,
        "client_key": f"{ROW}; taken from the others of its batch",
        "body_sha256": f"{ROW}; taken from the others of its batch",
        "metadata": ROW,
        "token_sizes": SIZES,
    },
    "episodic_reveal": {
        "person": WHO,
        "reason": "why somebody looked, in their own words; goes with the tenant",
    },
    "episodic_review": {"rating": WORD, "engine": WORD},
    "episodic_withholding": {
        "speaker": "emptied with its conversation; goes with the tenant",
        "role": WORD,
        "actor": WHO,
        "reason": "emptied with its conversation; goes with the tenant",
        "made": NUMBERS,
        "lifted_by": WHO,
    },
    "erasure_erasure": {
        "scope": WORD,
        "subject": "emptied when it is done",
        "actor": WHO,
        "reason": "what is left on purpose: why it was erased",
        "state": WORD,
        "counts": NUMBERS,
        "proof": "numbers, names of tables and ids of rows; never whom it looked for",
    },
    "events_event": {
        "type": WORD,
        "data": "ids, numbers and words of ours; goes with the tenant",
        "state": WORD,
        "error_class": "the class of an error, never its text",
    },
    "events_webhook": {"url": "goes with the tenant", "types": WORD, "actor": WHO},
    "erasure_hold": {
        "actor": WHO,
        "reason": "why nothing is erased, in their own words; goes with the tenant",
        "lifted_by": WHO,
    },
    "erasure_retentionpolicy": {"kind": WORD, "source_type": WORD, "actor": WHO},
    "indexing_memory": {"kind": WORD},
    "indexing_searchunit": {
        "shelf": WORD,
        "category": WORD,
        "kind": WORD,
        "language": WORD,
        "lexical_text": ROW,
        "words": ROW,
    },
    "indexing_searchvector": {
        "shelf": WORD,
        "category": WORD,
        "model": MODEL,
        "embedding": ROW,
        "states": ROW,
        "kind": WORD,
    },
    "indexing_shelfsize": {"shelf": WORD},
    "indexing_vectorindex": {"shelf": WORD, "model": MODEL, "name": HASH},
    "indexing_wordcount": {"shelf": WORD},
    "events_mailchoice": {"when": WORD},
    "events_notification": {"type": WORD},
    "instructions_instructionversion": {
        "agent_id": "an agent's id, as an operator named it; goes with the tenant",
        "keep": "an operator's words; goes with the tenant",
        "never": "likewise",
        "words": "likewise",
        "labels": "likewise",
        "actor": WHO,
        "undone_by": WHO,
    },
    "jobs_job": {
        "kind": WORD,
        "input": NUMBERS,
        "state": WORD,
        "error_class": "the class of an error, never its text",
        "result": NUMBERS,
    },
    "jobs_workerrestart": {"reason": "seconds, in a sentence of ours"},
    "jobs_llmcall": {
        "request_sha256": "replaced by the call's own id",
        "purpose": WORD,
        "model": MODEL,
        "error_class": "the class of an error, never its text",
        "response": "emptied (model_answers)",
        "prompt_version": MODEL,
    },
    "mfa_authenticator": dict.fromkeys(("type", "data"), LOGIN),
    "socialaccount_socialapp": dict.fromkeys(
        "provider provider_id name client_id secret key settings".split(), LOGIN
    ),
    "socialaccount_socialaccount": dict.fromkeys(("provider", "uid", "extra_data"), LOGIN),
    "socialaccount_socialtoken": dict.fromkeys(("token", "token_secret"), LOGIN),
    "usersessions_usersession": dict.fromkeys(("session_key", "user_agent", "data"), LOGIN),
    "notes_link": {"link_type": WORD, "made_by": WORD, "actor": WHO},
    "notes_note": dict.fromkeys(
        (
            "source_type", "source_id", "user_id", "label", "description", "content", "category",
            "emotion_type", "emotion_valence", "tags", "metadata", "span_id", "source_path",
            "excerpt", "actor", "client_key", "body_sha256", "deleted_by",
        ),
        ROW,
    )
    | {"token_sizes": SIZES},
    "notes_noteversion": dict.fromkeys(
        (
            "source_type", "source_id", "user_id", "label", "description", "content", "category",
            "emotion_type", "emotion_valence", "tags", "metadata", "span_id", "source_path",
            "excerpt", "actor",
        ),
        ROW,
    ),
    "people_alias": {"kind": WORD, "value": "goes with its person"},
    "people_merge": {
        "actor": WHO,
        "reason": "a person's own words; goes with the people",
        "undone_by": WHO,
        "undone_because": "a person's own words; goes with the people",
    },
    "people_person": {"name": ROW},
    "retrieval_context": {"counter": WORD},
    "retrieval_contextsection": {"kind": WORD, "content": ROW},
    "retrieval_memorytest": {
        "query": "a person's own; goes with the conversation, or with a message of its words",
        "must_say": "likewise",
        "must_not_say": "likewise",
        "made_by": WHO,
        "failures": WORD,
    },
    "retrieval_retrieval": {
        "kind": WORD,
        "query": ROW,
        "parameters": ROW,
        "embedding_model": MODEL,
        "counts": NUMBERS,
        "degraded": WORD,
        "parts": f"our own words, and ids; {ROW}",
        "signature": HASH,
    },
    "retrieval_retrievalhit": {"memory_kind": WORD},
    "semantic_change": {"action": WORD, "note": WORD, "states": "ids, times and words of ours"},
    "semantic_changeset": {
        "kind": WORD,
        "actor": WHO,
        "reason": "emptied where it may quote what is erased",
        "engine": WORD,
        "model": MODEL,
        "prompt_version": MODEL,
    },
    "semantic_correctionmark": {
        "place": WORD,
        "found_by": WORD,
        "state": WORD,
        "decided_by": WHO,
    },
    "semantic_fact": {
        "user_id": ROW,
        "category": WORD,
        "fact": ROW,
        "keywords": ROW,
        "search_text": ROW,
        "content_hash": ROW,
        "invalidated_because": WORD,
    },
    "semantic_suggestion": {"kind": WORD, "reason": WORD, "decision": WORD},
    "semantic_triage": {
        "assignee": WHO,
        "comment": "emptied where it may quote what is erased",
        "changed_by": WHO,
    },
    "tenancy_keyusage": {
        "failures": "routes, messages of ours without ids or words, addresses of callers"
    },
    "tenancy_apikey": {
        "default_scope": WORD,
        "links": WORD,
        "name": "a person's own; goes with the tenant",
        "prefix": "the beginning of a secret; goes with the tenant",
        "hash": HASH,
        "scopes": WORD,
        "user_ids": "whom an operator bound it to; goes with the tenant",
        "previous_hash": HASH,
    },
    "tenancy_installation": {"name": "ours", "value": "a fingerprint of the key pepper"},
    "tenancy_tenant": {"name": "goes with the tenant", "settings": "numbers by our names"},
}  # fmt: skip
"""Of each table the columns that are neither numbers, times, ids nor flags, and their fate."""

HOLDS_NO_TEXT = """
    SELECT table_name, column_name FROM information_schema.columns
    WHERE table_schema = 'public' AND udt_name NOT IN (
        'uuid', '_uuid', 'int2', 'int4', 'int8', '_int4', '_int8', 'float4', 'float8', 'numeric',
        'bool', 'timestamptz', 'date', 'inet'
    ) AND table_name IN (SELECT tablename FROM pg_tables WHERE schemaname = 'public')
"""


def test_every_column_that_can_hold_text_has_its_fate() -> None:
    with connection.cursor() as cursor:
        cursor.execute(HOLDS_NO_TEXT)
        found = set(cursor.fetchall())
    listed = {(table, column) for table, columns in COLUMNS.items() for column in columns}
    assert found - listed == set(), "say in COLUMNS what an erasure does about these"
    assert listed - found == set(), "these are gone: take them out of COLUMNS"


def test_no_column_stands_there_without_a_word() -> None:
    assert all(fate for columns in COLUMNS.values() for fate in columns.values())
