"""What was changed before can be reverted, too."""

from django.db import migrations

# What earlier changes did, told from what they name and from how it stands now.
TELL_STATES = """
ALTER TABLE semantic_change DISABLE TRIGGER semantic_change_append_only;
WITH
active AS (
    SELECT '{"because": "", "valid_until": null, "superseded_by": null}'::jsonb AS state
),
closed AS (
    SELECT id, jsonb_build_object(
        'because', invalidated_because,
        'valid_until', to_char(
            valid_until AT TIME ZONE 'UTC', 'YYYY-MM-DD"T"HH24:MI:SS.US"+00:00"'
        ),
        'superseded_by', superseded_by_id
    ) AS state
    FROM semantic_fact WHERE invalid_at IS NOT NULL
)
UPDATE semantic_change AS change SET states = CASE
    WHEN action = 'invalidate' THEN coalesce((
        SELECT jsonb_build_object(memory_id, jsonb_build_array(active.state, closed.state))
        FROM closed WHERE closed.id = memory_id
    ), '{}')
    ELSE jsonb_build_object(memory_id, jsonb_build_array(NULL, active.state))
        || coalesce((
            SELECT jsonb_build_object(other_memory_id, jsonb_build_array(active.state, closed.state))
            FROM closed WHERE closed.id = other_memory_id
        ), '{}')
END
FROM active
WHERE action IN ('new', 'update', 'invalidate') AND memory_id IS NOT NULL;
ALTER TABLE semantic_change ENABLE TRIGGER semantic_change_append_only;
"""
FORGET_WITHDRAWN = "DELETE FROM semantic_evidence WHERE withdrawn_by_id IS NOT NULL"


class Migration(migrations.Migration):
    dependencies = [("semantic", "0003_curation")]
    # Back again the column goes with the step before, which knows no evidence that does not count.
    operations = [migrations.RunSQL(TELL_STATES, FORGET_WITHDRAWN)]
