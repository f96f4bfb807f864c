"""Rows that loading does not make: receipts, steps of changesets, and what waits for curators."""

from __future__ import annotations

from bench.retrieval import databases
from bench.retrieval.databases import FULL

RECEIPTS = """
INSERT INTO retrieval_retrieval
    (id, tenant_id, conversation_id, kind, query, parameters, embedding_model, counts, degraded,
    tokens, through_seq, reviewable, created_at)
SELECT gen_random_uuid(), tenant_id, conversation_id, 'retrieve', left(content, 80), '{}', '', '{}',
    '', 500, seq, FALSE, occurred_at
FROM episodic_message WHERE seq % 5 = 0 AND NOT EXISTS (SELECT FROM retrieval_retrieval)
"""
HITS = """
INSERT INTO retrieval_retrievalhit
    (id, tenant_id, retrieval_id, memory_id, memory_kind, rank, score)
SELECT gen_random_uuid(), receipt.tenant_id, receipt.id, fact.id, 'fact', fact.rank, 0.03
FROM retrieval_retrieval AS receipt CROSS JOIN LATERAL (
    SELECT id, (row_number() OVER ())::int AS rank FROM semantic_fact
    WHERE conversation_id = receipt.conversation_id AND invalid_at IS NULL
    ORDER BY created_at LIMIT 5
) AS fact
WHERE NOT EXISTS (SELECT FROM retrieval_retrievalhit)
"""
STEPS = """
INSERT INTO semantic_change
    (id, tenant_id, changeset_id, position, action, memory_id, note, states)
SELECT gen_random_uuid(), tenant_id, changeset_id,
    row_number() OVER (PARTITION BY changeset_id), 'new', id, '', '{}'
FROM semantic_fact WHERE NOT EXISTS (SELECT FROM semantic_change)
"""
SUGGESTIONS = """
INSERT INTO semantic_suggestion
    (id, tenant_id, conversation_id, changeset_id, kind, old_fact_id, new_fact_id, reason,
    decision, decided_by_id, is_withdrawn, is_reopened)
SELECT gen_random_uuid(), tenant_id, conversation_id, changeset_id,
    CASE WHEN place % 2 = 0 THEN 'contradiction' ELSE 'duplicate' END, id, NULL, 'same_slot',
    CASE WHEN place % 5 = 0 THEN 'accepted' ELSE '' END,
    CASE WHEN place % 5 = 0 THEN changeset_id END, FALSE, FALSE
FROM (
    SELECT *, row_number() OVER () AS place FROM (
        SELECT * FROM semantic_fact ORDER BY id DESC LIMIT 20000
    ) AS newest
) AS fact
WHERE NOT EXISTS (SELECT FROM semantic_suggestion)
"""
ERASURE = """
INSERT INTO erasure_erasure
    (id, tenant_id, scope, target, subject, actor, reason, state, counts, pages, finished_at)
SELECT gen_random_uuid(), id, 'conversation', gen_random_uuid(), '', 'benchmark', 'asked for',
    'done', '{}', '{}', now()
FROM tenancy_tenant WHERE NOT EXISTS (SELECT FROM erasure_erasure)
"""
ADDED = (RECEIPTS, HITS, STEPS, SUGGESTIONS, ERASURE)
FREQUENCIES = """
SELECT word FROM (
    SELECT unnest(string_to_array(trim(trailing '.' FROM lower(fact)), ' ')) AS word
    FROM (SELECT fact FROM semantic_fact ORDER BY id LIMIT 20000) AS fact
) AS held
WHERE length(word) > 4 AND to_tsvector('english', word) <> ''
GROUP BY word ORDER BY count(*) DESC, word
"""
TEXT = "SELECT content FROM episodic_message WHERE length(content) > 80 ORDER BY id LIMIT 1"


def fill_audit() -> None:
    """Add receipts, their hits, steps, suggestions and an erasure, unless they are there."""
    with databases.superuser(FULL) as connection:
        connection.execute("SET session_replication_role = replica")
        added = [connection.execute(statement).rowcount for statement in ADDED]
        if any(added):
            connection.execute("VACUUM (ANALYZE)")


def choose_words() -> dict[str, str]:
    """Return what to search for: words frequent and rare, several, a phrase, and none at all."""
    with databases.superuser(FULL) as connection:
        words = [word for (word,) in connection.execute(FREQUENCIES)]
        ((content,),) = connection.execute(TEXT).fetchall()
    said = content.rstrip(".").split()
    return {
        "the most frequent word": words[0],
        "a frequent word": words[30],
        "a rare word": words[len(words) * 3 // 4],
        "two frequent words": f"{words[1]} {words[5]}",
        "four words of a message": " ".join(sorted(said[:8], key=len)[-4:]),
        "a phrase": f'"{said[3]} {said[4]} {said[5]}"',
        "no word of any": "zyzzyvaxes",
    }
