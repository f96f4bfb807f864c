-- I3: reviews that do not begin where the one before ended, or whose end the episode has not.
--
-- in:  nothing
-- out: text, one row a review
WITH chain AS (
    SELECT r.id, r.episode_id, r.stability_before, r.stability_after,
        lag(r.stability_after) OVER of_episode AS ended_before,
        lead(r.id) OVER of_episode IS NULL AS is_last
    FROM episodic_review r
    WINDOW of_episode AS (PARTITION BY r.episode_id ORDER BY r.created_at, r.id)
)
SELECT format('review %s of episode %s', chain.id, chain.episode_id)
FROM chain
JOIN episodic_episode e ON e.id = chain.episode_id
WHERE chain.stability_before <> coalesce(chain.ended_before, chain.stability_before)
    OR (chain.is_last AND chain.stability_after <> e.stability)
