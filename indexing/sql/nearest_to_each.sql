-- What is still believed and lies nearest to each of some vectors, nearest first.
--
-- in:  vectors text[] (halfvecs), tenant uuid, owners and conversations uuid[], shelf text, model
--      text, dim int, distance float (the greatest negative inner product), at_most int (to each)
-- out: position bigint (of the vector, from 1), memory_id uuid, cosine float
-- index: indexing_vector_of_owner; for wide vectors indexing_vector_wide_of_owner
SELECT given.position, near.memory_id, -near.distance AS cosine
FROM unnest(%(vectors)s::halfvec[]) WITH ORDINALITY AS given (embedding, position)
CROSS JOIN LATERAL (
    SELECT vector.memory_id, min(vector.embedding <#> given.embedding) AS distance
    FROM indexing_searchvector AS vector
    WHERE vector.tenant_id = %(tenant)s
        AND CASE WHEN vector.user_scope IS NULL THEN vector.conversation_id
            ELSE vector.user_scope END = ANY(%(owners)s::uuid[])
        AND vector.conversation_id = ANY(%(conversations)s::uuid[])
        AND vector.shelf = %(shelf)s AND vector.model = %(model)s AND vector.dim = %(dim)s
        AND vector.invalid_at IS NULL
        AND vector.embedding <#> given.embedding <= %(distance)s
    GROUP BY vector.memory_id  -- a fact has a vector in each conversation that has evidence of it
    ORDER BY distance, vector.memory_id
    LIMIT %(at_most)s
) AS near
ORDER BY given.position, near.distance, near.memory_id
