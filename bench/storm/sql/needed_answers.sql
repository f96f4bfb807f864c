-- How many answers of a language model the finished work is made of.
--
-- A segmentation needs one, whether it closed episodes (those of one commit share their
-- time) or asked and left the window to grow; a consolidation one; a review one a retrieval.
--
-- in:  nothing
-- out: segment, consolidate, review bigint
SELECT
    (SELECT count(*) FROM (
        SELECT DISTINCT conversation_id, created_at FROM episodic_episode
    ) commits)
    + (SELECT count(*) FROM jobs_job j
        WHERE kind = 'segment' AND state = 'done' AND result->>'episodes' = '0' AND EXISTS (
            SELECT FROM jobs_llmcall c WHERE c.job = j.id AND c.ok AND c.purpose = 'segment'
        )),
    (SELECT count(*) FROM semantic_changeset WHERE kind = 'consolidation'),
    (SELECT count(*) FROM retrieval_retrieval WHERE review_job_id IS NOT NULL)
