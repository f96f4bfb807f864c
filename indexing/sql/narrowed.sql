-- A part of tenant_words.sql: what keeps to a tenant, a conversation, times and phrases.
--
-- in:  tenant and conversation uuid or NULL, since and until timestamptz or NULL, phrases text[]
-- out: boolean, of a row of indexing_searchunit
-- index: none
(%(tenant)s::uuid IS NULL OR tenant_id = %(tenant)s::uuid)
AND (%(conversation)s::uuid IS NULL OR conversation_id = %(conversation)s::uuid)
AND (%(since)s::timestamptz IS NULL OR valid_at >= %(since)s::timestamptz)
AND (%(until)s::timestamptz IS NULL OR valid_at < %(until)s::timestamptz)
AND (%(phrases)s::text[] = '{}' OR NOT EXISTS (
    SELECT FROM unnest(%(phrases)s::text[]) AS phrase
    WHERE strpos(public.memory_own(lexical_text, own_words), phrase) = 0
))
