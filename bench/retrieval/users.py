"""Users with the same lines in one conversation and in many: copies of a measured conversation."""

from __future__ import annotations

import uuid
from typing import Any

from django.db import models
from psycopg import sql

from bench.retrieval.databases import Connection
from bench.retrieval.load import rest_references
from episodic.models import Conversation, Episode, Message
from indexing.models import Memory, SearchUnit, SearchVector
from indexing.owners import scope_of
from semantic.models import Evidence, Fact

COPIED: tuple[type[models.Model], ...] = (
    Memory,
    Episode,
    Message,
    Fact,
    Evidence,
    SearchUnit,
    SearchVector,
)
"""In the order of their references."""
RENAMED = ("id", "memory_id", "unit_id", "episode_id", "fact_id")
"""Columns with ids that get new ones, always the same for a user."""
PLACES = """
CREATE TEMPORARY TABLE place ON COMMIT DROP AS
SELECT id AS memory_id, md5(%(user)s || (row_number() OVER (ORDER BY first_seq) * %(parts)s
    / (count(*) OVER () + 1)))::uuid AS conversation_id
FROM episodic_episode WHERE tenant_id = %(tenant)s AND conversation_id = %(source)s
"""
OF_FACTS = """
INSERT INTO place
SELECT fact_id, min(place.conversation_id::text)::uuid
FROM semantic_evidence JOIN place ON place.memory_id = episode_id
WHERE tenant_id = %(tenant)s GROUP BY fact_id
"""
CONVERSATIONS = """
INSERT INTO episodic_conversation ({columns})
SELECT {values} FROM episodic_conversation AS source
CROSS JOIN (SELECT DISTINCT conversation_id FROM place) AS part
WHERE tenant_id = %(tenant)s AND source.id = %(source)s
ON CONFLICT DO NOTHING
"""
COPY = """
INSERT INTO {table} ({columns})
SELECT {values} FROM {table} AS source JOIN place ON place.memory_id = source.{memory}
WHERE source.tenant_id = %(tenant)s
ON CONFLICT DO NOTHING
"""
MEMORY: dict[type[models.Model], str] = {
    Memory: "id",
    Episode: "id",
    Fact: "id",
    Message: "episode_id",
    Evidence: "fact_id",
}


def copy_to_user(
    connection: Connection, *, tenant_id: uuid.UUID, source: uuid.UUID, user: str, parts: int
) -> None:
    """Give a user all that a conversation has, in so many conversations, in order of time."""
    params = {
        "tenant": tenant_id,
        "source": source,
        "user": user,
        "parts": parts,
        "scope": scope_of(tenant_id, user),
    }
    with connection.transaction():
        connection.execute(PLACES, params)
        connection.execute(OF_FACTS, params)
        connection.execute("ANALYZE place")
        own: dict[str, str] = {
            "id": "part.conversation_id",
            "external_id": "part.conversation_id",
            "user_id": "%(user)s",
            "in_user_scope": "TRUE",
        }
        connection.execute(_fill(CONVERSATIONS, Conversation, own), params)
        for model in COPIED:
            rest_references(connection, model._meta.db_table)
            own = {
                "conversation_id": "place.conversation_id",
                "user_scope": "%(scope)s::uuid",
                **{name: f"md5(%(user)s || source.{name})::uuid" for name in RENAMED},
            }
            if model is Evidence:
                del own["conversation_id"]  # it is its fact's, and then not said again
            connection.execute(_fill(COPY, model, own), params)
        connection.execute("SET session_replication_role = origin")


def _fill(text: str, model: type[models.Model], own: dict[str, str]) -> sql.Composed:
    """Return a statement that copies a model's rows, with `own` values of some columns."""
    names = [
        str(field.column)
        for field in model._meta.concrete_fields
        if not getattr(field, "generated", False)
    ]
    values: list[Any] = [
        sql.SQL(own[name]) if name in own else sql.SQL("source.{}").format(sql.Identifier(name))
        for name in names
    ]
    return sql.SQL(text).format(
        table=sql.Identifier(model._meta.db_table),
        columns=sql.SQL(", ").join(map(sql.Identifier, names)),
        values=sql.SQL(", ").join(values),
        memory=sql.Identifier(MEMORY.get(model, "memory_id")),
    )
