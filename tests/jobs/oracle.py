"""What must hold in the database whatever was killed when, in plain SQL."""

from __future__ import annotations

from django.db import connection

INVARIANTS = {
    "seqs are dense": """
        SELECT conversation_id FROM episodic_message
        GROUP BY conversation_id HAVING count(*) <> max(seq) OR min(seq) <> 1
    """,
    "the next seq follows the last": """
        SELECT c.id FROM episodic_conversation c JOIN episodic_message m ON m.conversation_id = c.id
        GROUP BY c.id, c.next_seq HAVING max(m.seq) + 1 <> c.next_seq
    """,
    "what is counted as waiting waits": """
        SELECT c.id FROM episodic_conversation c LEFT JOIN episodic_message m
            ON m.conversation_id = c.id AND m.episode_id IS NULL AND m.quarantined_by_id IS NULL
        GROUP BY c.id, c.pending_count HAVING count(m.id) <> c.pending_count
    """,
    "an episode holds just its range": """
        SELECT e.id FROM episodic_episode e LEFT JOIN episodic_message m ON m.episode_id = e.id
        GROUP BY e.id, e.first_seq, e.last_seq
        HAVING count(m.id) <> e.last_seq - e.first_seq + 1
            OR min(m.seq) <> e.first_seq OR max(m.seq) <> e.last_seq
    """,
    "an episode can be found, once by its headline and once by each message": """
        SELECT e.id FROM episodic_episode e LEFT JOIN indexing_searchunit u ON u.memory_id = e.id
        GROUP BY e.id, e.first_seq, e.last_seq
        HAVING count(u.id) FILTER (WHERE u.kind = 'episode') <> 1
            OR count(DISTINCT u.first_seq) FILTER (WHERE u.kind = 'message')
                <> e.last_seq - e.first_seq + 1
    """,
    "every unit has its vector": """
        SELECT u.id FROM indexing_searchunit u
        LEFT JOIN indexing_searchvector v ON v.unit_id = u.id WHERE v.id IS NULL
    """,
    "an active fact is held once": """
        SELECT content_hash FROM semantic_fact WHERE invalid_at IS NULL
        GROUP BY conversation_id, content_hash HAVING count(*) > 1
    """,
    "a fact has evidence, of its own conversation": """
        SELECT f.id FROM semantic_fact f
        LEFT JOIN semantic_evidence v ON v.fact_id = f.id
        LEFT JOIN episodic_episode e ON e.id = v.episode_id
        GROUP BY f.id, f.conversation_id
        HAVING count(e.id) = 0 OR bool_or(e.conversation_id <> f.conversation_id)
    """,
    "an episode was drawn from, and in one changeset for each fact": """
        SELECT id FROM episodic_episode
        WHERE consolidated_at IS NULL AND consolidation_failed_at IS NULL
    """,
    "a job reviews an episode once": """
        SELECT job_id FROM episodic_review GROUP BY job_id, episode_id HAVING count(*) > 1
    """,
    "a key stored its messages once": """
        SELECT client_key FROM episodic_message WHERE client_key IS NOT NULL
        GROUP BY conversation_id, client_key, client_index HAVING count(*) > 1
    """,
    "all work is done": "SELECT id FROM jobs_job WHERE state NOT IN ('done', 'cancelled')",
    "a question is answered once": """
        SELECT request_sha256 FROM jobs_llmcall WHERE ok
        GROUP BY tenant_id, request_sha256 HAVING count(*) > 1
    """,
}


def find_violations() -> list[str]:
    """Return the invariants that some row breaks."""
    broken = []
    with connection.cursor() as cursor:
        for name, query in INVARIANTS.items():
            cursor.execute(query)
            if cursor.fetchone():
                broken.append(name)
    return broken
