"""What each answer of the API holds. Made by generate_types.py; not for editing."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, Literal, TypeAlias, TypedDict

if TYPE_CHECKING:
    from typing_extensions import NotRequired

ActionEnum: TypeAlias = Literal[
    "new",
    "merge",
    "reinforce",
    "update",
    "invalidate",
    "restore",
    "withdraw",
    "return",
    "skip",
    "suggest",
]


class AddMessageOutput(TypedDict):
    message_id: str
    seq: int
    conversation_id: str
    pending: int
    ahead: NotRequired[list[int]]


BecauseEnum: TypeAlias = Literal["superseded", "wrong"]


CategoryEnum: TypeAlias = Literal[
    "identity",
    "preference",
    "interest",
    "personality",
    "relationship",
    "experience",
    "goal",
    "guideline",
]


ChangesetKindEnum: TypeAlias = Literal["consolidation", "curation", "import", "revert", "erasure"]


class ChangesetOutput(TypedDict):
    id: str
    conversation_id: str | None
    kind: ChangesetKindEnum
    actor: str
    reason: str | None
    engine: str | None
    model: str | None
    prompt_version: str | None
    degraded: bool
    unknown_aliases: int
    job_id: str | None
    started_at: str
    reverts: str | None


class ChangesetPage(TypedDict):
    items: list[ChangesetOutput]
    next: str | None


class ChunkOutput(TypedDict):
    id: str
    content: str
    token_count: int
    truncated: bool
    header: str | None
    counter: str
    fence: str | None


class ComparedFact(TypedDict):
    id: str
    conversation_id: str
    category: CategoryEnum
    fact: str


class ConversationOutput(TypedDict):
    user_id: str | None
    agent_id: str | None
    id: str
    messages: int
    pending: int
    episodes: int
    facts: int
    open_jobs: int
    set_aside: int
    waits_for: list[str]
    indexed_through_seq: int


class CountsOutput(TypedDict):
    conversations: int
    messages: int
    episodes: int
    returned: int
    runs: int
    closed: int
    reopened: int
    redrawn: int
    left: int


class CuratedFact(TypedDict):
    id: str
    conversation_id: str
    category: CategoryEnum
    fact: str
    keywords: list[str]
    source_episodic_ids: list[str]
    valid_at: str
    invalid_at: str | None
    valid_until: str | None
    created_at: str
    invalidated_because: str | None
    superseded_by: str | None
    version: int
    changeset_id: str


DetailEnum: TypeAlias = Literal["auto", "none", "low", "high"]


class DetailedPerson(TypedDict):
    id: str
    name: str
    created_at: str
    user_ids: list[str]
    speakers: list[str]
    merged_ids: list[str]
    merged_into: str | None
    counts: dict[str, int]


DirectionEnum: TypeAlias = Literal["out", "in"]


EmotionValenceEnum: TypeAlias = Literal["positive", "negative", "neutral", "mixed"]


ErasesEnum: TypeAlias = Literal["words", "replies", "all"]


ErasureOutputStateEnum: TypeAlias = Literal["preview", "running", "done"]


ErasureProofStateEnum: TypeAlias = Literal["clean", "found", "incomplete"]


ErasureScopeEnum: TypeAlias = Literal[
    "message", "conversation", "note", "fact", "user", "person", "import", "retention", "tenant"
]


class Error(TypedDict):
    code: str
    message: str
    fields: dict[str, list[str]]


EventOutputStateEnum: TypeAlias = Literal["pending", "delivered", "dead"]


EventTypeEnum: TypeAlias = Literal[
    "episode.created",
    "fact.added",
    "fact.retired",
    "fact.restored",
    "fact.corrected",
    "review.requested",
    "budget.spent",
    "job.dead",
    "budget.near",
    "rule.stopped",
    "test.failed",
    "erasure.done",
]


class EvidenceMessage(TypedDict):
    id: str
    seq: int
    role: str
    name: str | None
    posted_by: str | None
    withheld_by: str | None


class EvidenceOutput(TypedDict):
    episode_id: str
    message_seqs: list[int]
    messages: list[EvidenceMessage]
    changeset_id: str
    engine: str | None
    model: str | None
    prompt_version: str | None
    withdrawn_by: str | None


class ExportPage(TypedDict):
    items: list[dict[str, Any]]
    next: str | None


class FenceOutput(TypedDict):
    nonce: str
    opening: str
    closing: str


class FlushOutput(TypedDict):
    job_id: str


class ForgottenFact(TypedDict):
    fact_id: str
    suggestion_id: str


FoundByEnum: TypeAlias = Literal["evidence", "words", "meaning"]


class HitOutput(TypedDict):
    memory_id: str
    kind: str
    rank: int
    score: float
    lexical_rank: int | None
    vector_rank: int | None


class HowFound(TypedDict):
    rank: int
    lexical_rank: int | None
    vector_rank: int | None
    rrf: float
    retrievability: float
    score: float
    terms: list[str]


JobKindEnum: TypeAlias = Literal[
    "segment",
    "flush",
    "consolidate",
    "review",
    "embed",
    "mirror",
    "erase",
    "rollback",
    "forget",
    "move",
    "test",
    "deliver",
    "mail",
]


JobOutputStateEnum: TypeAlias = Literal["ready", "running", "done", "dead", "cancelled"]


KeyScopeEnum: TypeAlias = Literal["ingest", "read", "curate", "admin"]


class Legs(TypedDict):
    lexical: int
    vector: int


LinkInputLinkTypeEnum: TypeAlias = Literal[
    "relates_to",
    "references",
    "mentions",
    "supports",
    "contradicts",
    "follows",
    "part_of",
    "caused_by",
]


LinkOutputMadeByEnum: TypeAlias = Literal["agent", "person"]


LinkTypeEnum: TypeAlias = Literal[
    "relates_to",
    "references",
    "mentions",
    "supports",
    "contradicts",
    "follows",
    "part_of",
    "caused_by",
    "derived_from",
    "supersedes",
    "next",
]


LinksEnum: TypeAlias = Literal["defanged", "plain"]


class ListedConversation(TypedDict):
    user_id: str | None
    agent_id: str | None
    id: str
    pending: int
    created_at: str


class ListedEpisode(TypedDict):
    id: str
    conversation_id: str
    title: str
    summary: str
    stability: float
    difficulty: float
    surprise: float
    start_at: str
    end_at: str
    created_at: str
    last_reviewed_at: str
    consolidated_at: str | None
    first_seq: int
    last_seq: int
    degraded: bool


class ListedFact(TypedDict):
    id: str
    conversation_id: str
    category: CategoryEnum
    fact: str
    keywords: list[str]
    source_episodic_ids: list[str]
    valid_at: str
    invalid_at: str | None
    valid_until: str | None
    created_at: str
    invalidated_because: str | None
    superseded_by: str | None


class Location(TypedDict):
    span_id: str
    start_byte: int
    end_byte: int


MarkOutputStateEnum: TypeAlias = Literal["active", "proposed", "dropped"]


MarksInputDecisionEnum: TypeAlias = Literal["confirm", "drop", "quarantine"]


MemoryKindEnum: TypeAlias = Literal["episode", "fact", "note"]


MemoryLinkOutputMadeByEnum: TypeAlias = Literal["agent", "person", "server"]


class MemoryTestOutput(TypedDict):
    id: str
    conversation_id: str
    query: str
    max_tokens: int | None
    must_say: list[str]
    must_not_say: list[str]
    at_most_tokens: int | None
    case_id: str | None
    made_by: str
    created_at: str
    passes: bool | None
    failures: list[str]
    ran_at: str | None
    broken_by: str | None


class MemoryTestPage(TypedDict):
    items: list[MemoryTestOutput]
    next: str | None


class MessageOutput(TypedDict):
    id: str
    conversation_id: str
    seq: int
    role: str
    name: str | None
    content: str
    timestamp: str
    received_at: str
    metadata: dict[str, Any]
    episode_id: str | None
    posted_by: str | None
    withheld_by: str | None
    user_id: NotRequired[str]


class MessagePage(TypedDict):
    items: list[MessageOutput]
    next: str | None


class MoveOutput(TypedDict):
    previous_user_id: str | None


class NodeOutput(TypedDict):
    id: str
    kind: MemoryKindEnum
    depth: int
    from_id: str
    to_id: str
    link_type: LinkTypeEnum
    direction: DirectionEnum


NoteTypeEnum: TypeAlias = Literal[
    "thread_summary",
    "plan_summary",
    "knowledge_base",
    "brand_kit",
    "offer",
    "span",
    "reference",
    "document",
    "note",
]


NullEnum: TypeAlias = None


OfEnum: TypeAlias = Literal["key", "tenant"]


class PeekOutput(TypedDict):
    id: str
    kind: MemoryKindEnum
    source_type: str
    source_id: str | None
    label: str
    description: str | None
    metadata: dict[str, Any]
    related_ids: list[str]
    related_cut: bool
    token_estimate: int
    location: Location | None
    counter: str


class PersonOutput(TypedDict):
    id: str
    name: str
    created_at: str


class PersonPage(TypedDict):
    items: list[PersonOutput]
    next: str | None


PlaceEnum: TypeAlias = Literal["message", "episode", "fact", "note"]


class RawFact(TypedDict):
    id: str
    conversation_id: str
    category: CategoryEnum
    fact: str
    keywords: list[str]
    source_episodic_ids: list[str]
    valid_at: str
    invalid_at: str | None
    score: float


class RawMessage(TypedDict):
    role: str
    content: str


ReasonEnum: TypeAlias = Literal["added", "already_there", "no_room"]


class RecalledOutput(TypedDict):
    id: str
    kind: MemoryKindEnum
    content: str
    user_id: str | None
    category: str | None
    importance: float
    emotion_type: str | None
    emotion_intensity: float | None
    emotion_valence: str | None
    timestamp: str
    linked_memory_ids: list[str]
    tags: list[str]
    file_path: str | None
    distance: float | None
    depth: int
    _distance: float | None


class RecentMessage(TypedDict):
    message_id: str
    seq: int
    role: str
    name: str | None
    timestamp: str
    metadata: dict[str, Any]
    content: str


class ReconstructionOutput(TypedDict):
    focus_level: int
    since: str
    total_memories: int
    memories_retrieved: list[RecalledOutput]
    synthesized_context: str
    context_tokens: int
    fence: str | None
    counter: str
    cut: bool
    receipt: str | None
    degraded: str | None


class RemainingOutput(TypedDict):
    conversations: int
    messages: int


class ReplayOutput(TypedDict):
    receipt: str
    text: str | None
    exact: bool
    erased: int


RetrievalKindEnum: TypeAlias = Literal[
    "retrieve", "retrieve_raw", "context", "search", "reconstruct", "profile", "ask"
]


class RetrievalOutput(TypedDict):
    id: str
    conversation_id: str | None
    asked_by: str | None
    kind: RetrievalKindEnum
    query: str
    parameters: dict[str, Any]
    embedding_model: str
    counts: dict[str, Any]
    tokens: int
    relevance: float | None
    degraded: str | None
    created_at: str
    hits: list[HitOutput]


class RetrievalPage(TypedDict):
    items: list[RetrievalOutput]
    next: str | None


RetrievalScopeEnum: TypeAlias = Literal["conversation", "user", "tenant"]


RoleEnum: TypeAlias = Literal["user", "assistant", "system", "tool"]


class RollbackOutput(TypedDict):
    id: str | None
    since: str
    key_id: str | None
    conversation_id: str | None
    speaker: str | None
    role: str | None
    actor: str
    reason: str
    created_at: str | None
    lifted_at: str | None
    done_at: str | None
    counts: CountsOutput
    remaining: RemainingOutput


class RollbackPage(TypedDict):
    items: list[RollbackOutput]
    next: str | None


SectionTypeEnum: TypeAlias = Literal["system", "retrieved"]


SortByEnum: TypeAlias = Literal["relevance", "recency", "importance", "combined"]


class Source(TypedDict):
    message_id: str
    seq: int
    role: str
    name: str | None
    timestamp: str
    metadata: dict[str, Any]


SourceTypeEnum: TypeAlias = Literal[
    "thread_summary",
    "plan_summary",
    "knowledge_base",
    "brand_kit",
    "offer",
    "span",
    "reference",
    "document",
    "note",
    "episode",
    "fact",
]


SpeakerEnum: TypeAlias = Literal["user", "assistant", "system", "tool", "developer"]


class SpanOutput(TypedDict):
    span_id: str
    start_byte: int
    end_byte: int


class StateOutput(TypedDict):
    because: str | None
    valid_until: str | None
    superseded_by: str | None


class StorageOutput(TypedDict):
    bytes: int
    bytes_limit: int | None
    rows: int
    rows_limit: int | None


class StoredMessage(TypedDict):
    message_id: str
    seq: int


class StoredNote(TypedDict):
    id: str


class SuggestedFact(TypedDict):
    id: str
    fact: str
    category: CategoryEnum
    valid_at: str
    created_at: str
    invalid_at: str | None


SuggestionOutputDecisionEnum: TypeAlias = Literal["accepted", "declined"]


SuggestionOutputKindEnum: TypeAlias = Literal["contradiction", "duplicate", "erase"]


class SupportedFact(TypedDict):
    id: str
    fact: str
    category: CategoryEnum
    invalid_at: str | None
    message_seqs: list[int]
    withdrawn_by: str | None


class TenantOutput(TypedDict):
    id: str
    name: str


TruncationStrategyEnum: TypeAlias = Literal["end", "sentence", "middle"]


UnitEnum: TypeAlias = Literal["calls", "bytes"]


class UsageRow(TypedDict):
    day: str
    purpose: str
    model: str
    calls: int
    failed: int
    without_price: int
    input_tokens: int
    output_tokens: int
    cost: float


VerdictEnum: TypeAlias = Literal[
    "close", "reopen", "supported", "supported_again", "stays_closed", "changed_later", "held_anew"
]


class VerdictsOutput(TypedDict):
    passed: int
    failed: int


class VersionOutput(TypedDict):
    id: str
    fact: str
    valid_at: str
    valid_until: str | None
    created_at: str
    invalid_at: str | None
    invalidated_because: str | None
    superseded_by: str | None


class WalkOutput(TypedDict):
    start: str
    nodes: list[NodeOutput]
    cut: bool


class WebhookOutput(TypedDict):
    id: str
    url: str
    types: list[EventTypeEnum]
    previous_until: str | None
    stopped_at: str | None
    actor: str
    created_at: str


class WebhookPage(TypedDict):
    items: list[WebhookOutput]
    next: str | None


class WebhookWithSecret(TypedDict):
    id: str
    url: str
    types: list[EventTypeEnum]
    previous_until: str | None
    stopped_at: str | None
    actor: str
    created_at: str
    secret: str


WhatEnum: TypeAlias = Literal["added", "restored", "corrected", "replaced", "ended"]


class AddMessagesOutput(TypedDict):
    conversation_id: str
    messages: list[StoredMessage]
    pending: int
    ahead: NotRequired[list[int]]


class AddedOutput(TypedDict):
    context_id: str
    memory_id: str
    added: bool
    reason: ReasonEnum
    token_count: int
    truncated: bool | None
    remaining_tokens: int
    counter: str


class BlockOutput(TypedDict):
    text: str
    sources: list[Source]


class ConversationPage(TypedDict):
    items: list[ListedConversation]
    next: str | None


class DetailedEpisode(TypedDict):
    id: str
    conversation_id: str
    title: str
    summary: str
    stability: float
    difficulty: float
    surprise: float
    start_at: str
    end_at: str
    created_at: str
    last_reviewed_at: str
    consolidated_at: str | None
    first_seq: int
    last_seq: int
    degraded: bool
    messages: list[StoredMessage]
    facts: list[SupportedFact]


class DifferenceOutput(TypedDict):
    what: WhatEnum
    fact_id: str
    fact: ComparedFact | None
    newer: ComparedFact | None
    because: str | None
    changeset: ChangesetOutput


class EpisodePage(TypedDict):
    items: list[ListedEpisode]
    next: str | None


class ErasedConversation(TypedDict):
    conversation_id: str
    user_id: str | None
    is_theirs: bool
    erases: ErasesEnum
    theirs: int
    replies: int
    others: int
    speakers: list[str]


class ErasureProof(TypedDict):
    state: ErasureProofStateEnum
    at: str
    names: int
    user_ids: int
    tables: int
    columns: int
    rows: int
    pages: int
    hits: dict[str, int]
    row_ids: dict[str, list[str]]
    records: dict[str, int]
    skipped: list[str]


class EventOutput(TypedDict):
    id: str
    type: EventTypeEnum
    data: dict[str, Any]
    state: EventOutputStateEnum
    attempts: int
    status: int | None
    error: str | None
    latency_ms: int | None
    retry_at: str
    created_at: str
    delivered_at: str | None


class Explanation(TypedDict):
    legs: dict[str, Legs]
    hits: dict[str, HowFound]


class FactPage(TypedDict):
    items: list[ListedFact]
    next: str | None


class FactStates(TypedDict):
    fact_id: str
    before: StateOutput | None
    after: StateOutput | None


class ForgetOutput(TypedDict):
    forgotten: list[ForgottenFact]
    note_ids: list[str]


class FullEpisode(TypedDict):
    id: str
    conversation_id: str
    title: str
    summary: str
    stability: float
    difficulty: float
    surprise: float
    start_at: str
    end_at: str
    created_at: str
    last_reviewed_at: str
    consolidated_at: str | None
    messages: list[RawMessage]


class HistoryOutput(TypedDict):
    position: int
    action: ActionEnum
    memory_id: str | None
    other_memory_id: str | None
    note: str | None
    changeset_id: str
    kind: ChangesetKindEnum
    actor: str
    reason: str | None
    case_id: str | None
    at: str
    before: StateOutput | None
    after: StateOutput | None


HopPath = TypedDict(
    "HopPath",
    {
        "from": str,
        "to": str,
        "link_type": LinkTypeEnum,
    },
)


class JobOutput(TypedDict):
    id: str
    kind: JobKindEnum
    state: JobOutputStateEnum
    attempts: int
    error: str | None
    run_after: str
    created_at: str
    started_at: str | None
    finished_at: str | None


class KeyOutput(TypedDict):
    id: str
    name: str
    prefix: str
    links: LinksEnum
    expires_at: str | None
    user_ids: list[str]


class LimitOutput(TypedDict):
    of: OfEnum
    unit: UnitEnum
    rate: int
    burst: int
    left: int


class LinkOutput(TypedDict):
    id: str
    from_id: str
    to_id: str
    link_type: str
    made_by: LinkOutputMadeByEnum
    actor: str
    created_at: str


class ListedNote(TypedDict):
    version: int
    source_type: NoteTypeEnum
    source_id: str | None
    user_id: str | None
    label: str
    description: str | None
    snippet: str
    importance: float
    category: str | None
    emotion_type: str | None
    emotion_intensity: float | None
    emotion_valence: str | None
    tags: list[str]
    metadata: dict[str, Any]
    span: SpanOutput | None
    source_path: str | None
    occurred_at: str
    updated_at: str
    updated_by: str
    id: str
    conversation_id: str | None
    created_at: str


class MarkOutput(TypedDict):
    id: str
    fact_id: str
    place: PlaceEnum
    place_id: str
    found_by: FoundByEnum
    state: MarkOutputStateEnum
    decided_by: str | None
    decided_at: str | None
    changeset_id: str


class MarksOutput(TypedDict):
    marks: list[MarkOutput]


class MemoryLinkOutput(TypedDict):
    id: str | None
    from_id: str
    to_id: str
    link_type: LinkTypeEnum
    direction: DirectionEnum
    other_id: str
    other_kind: MemoryKindEnum
    made_by: MemoryLinkOutputMadeByEnum
    actor: str | None
    created_at: str | None


class MemoryLinkPage(TypedDict):
    items: list[MemoryLinkOutput]
    next: str | None


class NoteOutput(TypedDict):
    version: int
    source_type: NoteTypeEnum
    source_id: str | None
    user_id: str | None
    label: str
    description: str | None
    snippet: str
    importance: float
    category: str | None
    emotion_type: str | None
    emotion_intensity: float | None
    emotion_valence: str | None
    tags: list[str]
    metadata: dict[str, Any]
    span: SpanOutput | None
    source_path: str | None
    occurred_at: str
    updated_at: str
    updated_by: str
    id: str
    conversation_id: str | None
    created_at: str
    content: str
    excerpt: str | None


class NotePage(TypedDict):
    items: list[ListedNote]
    next: str | None


class NoteVersionOutput(TypedDict):
    version: int
    source_type: NoteTypeEnum
    source_id: str | None
    user_id: str | None
    label: str
    description: str | None
    snippet: str
    importance: float
    category: str | None
    emotion_type: str | None
    emotion_intensity: float | None
    emotion_valence: str | None
    tags: list[str]
    metadata: dict[str, Any]
    span: SpanOutput | None
    source_path: str | None
    occurred_at: str
    updated_at: str
    updated_by: str
    content: str
    excerpt: str | None
    replaced_at: str | None


class NoteVersionPage(TypedDict):
    items: list[NoteVersionOutput]
    next: str | None


class NotesOutput(TypedDict):
    notes: list[StoredNote]


class PlannedStep(TypedDict):
    fact_id: str
    fact: str
    verdict: VerdictEnum
    is_conflict: bool
    later: list[str]


class RawEpisode(TypedDict):
    id: str
    conversation_id: str
    title: str
    summary: str
    stability: float
    difficulty: float
    surprise: float
    start_at: str
    end_at: str
    created_at: str
    last_reviewed_at: str
    consolidated_at: str | None
    messages: list[RawMessage]
    score: float


class SearchItem(TypedDict):
    id: str
    source_type: SourceTypeEnum
    source_id: str | None
    label: str
    relevance: float
    importance: float
    combined_score: float
    token_estimate: int
    snippet: str
    occurred_at: str
    hops: int
    metadata: dict[str, Any]


class SearchOutput(TypedDict):
    items: list[SearchItem]
    total_count: int
    tokens_used: int
    counter: str
    query: dict[str, Any]
    hops_used: int
    hop_paths: list[HopPath]
    receipt: str | None
    degraded: str | None


class Section(TypedDict):
    type: SectionTypeEnum
    memory_id: str | None
    priority: int
    token_count: int
    truncated: bool
    content: str


class StepOutput(TypedDict):
    position: int
    action: ActionEnum
    memory_id: str | None
    other_memory_id: str | None
    note: str | None
    states: list[FactStates]


class SuggestionOutput(TypedDict):
    id: str
    conversation_id: str
    kind: SuggestionOutputKindEnum
    reason: str
    old: SuggestedFact
    new: SuggestedFact | None
    changeset_id: str
    created_at: str
    open: bool
    decision: SuggestionOutputDecisionEnum | NullEnum
    decided_by: str | None


class SuggestionPage(TypedDict):
    items: list[SuggestionOutput]
    next: str | None


class UsageOutput(TypedDict):
    spent_today: float
    daily_budget: float | None
    parked_jobs: int
    rows: list[UsageRow]
    stored: StorageOutput


class WebhookEventPage(TypedDict):
    items: list[EventOutput]
    next: str | None


class WhoAmIOutput(TypedDict):
    tenant: TenantOutput
    key: KeyOutput
    scopes: list[KeyScopeEnum]
    limits: list[LimitOutput]


class ContextOutput(TypedDict):
    id: str
    max_tokens: int
    reserved_for_response: int
    remaining_tokens: int
    sections: list[Section]
    retrieved_ids: list[str]
    counter: str
    created_at: str
    expires_at: str


class DetailedChangeset(TypedDict):
    id: str
    conversation_id: str | None
    kind: ChangesetKindEnum
    actor: str
    reason: str | None
    engine: str | None
    model: str | None
    prompt_version: str | None
    degraded: bool
    unknown_aliases: int
    job_id: str | None
    started_at: str
    reverts: str | None
    reverted_by: str | None
    changes: list[StepOutput]
    next: str | None


class DetailedFact(TypedDict):
    id: str
    conversation_id: str
    category: CategoryEnum
    fact: str
    keywords: list[str]
    source_episodic_ids: list[str]
    valid_at: str
    invalid_at: str | None
    valid_until: str | None
    created_at: str
    invalidated_because: str | None
    superseded_by: str | None
    version: int
    changeset_id: str
    evidence: list[EvidenceOutput]
    history: list[HistoryOutput]
    versions: list[VersionOutput]


DiffOutput = TypedDict(
    "DiffOutput",
    {
        "from": str,
        "to": str,
        "items": list[DifferenceOutput],
    },
)


class ErasureOutput(TypedDict):
    id: str | None
    scope: ErasureScopeEnum
    target_id: str | None
    state: ErasureOutputStateEnum
    counts: dict[str, int]
    actor: str | None
    reason: str | None
    job_id: str | None
    created_at: str | None
    finished_at: str | None
    conversations: list[ErasedConversation] | None
    proof: ErasureProof | None


class ErasurePage(TypedDict):
    items: list[ErasureOutput]
    next: str | None


class PlanOutput(TypedDict):
    changeset_id: str
    reverted_by: str | None
    conflicts: int
    steps: list[PlannedStep]
    erased: list[str]


class RawAnswer(TypedDict):
    semantic: list[RawFact]
    episodic: list[RawEpisode]
    sources: dict[str, list[Source]]
    blocks: list[BlockOutput] | None
    cut: list[str]
    recent: list[RecentMessage] | None
    explain: Explanation | None
    fence: FenceOutput | None
    relevance: float | None
    receipt: str
    indexed_through_seq: int
    pending: int
    degraded: str | None
    counter: str
    corrections: NotRequired[dict[str, str]]


ProfileSectionEnum: TypeAlias = Literal[
    "dangers", "guidelines", "identity", "preferences", "present", "episodes"
]


class EarlierFact(TypedDict):
    id: str
    fact: str
    valid_at: str


class ProfileEpisode(TypedDict):
    id: str
    title: str
    summary: str
    end_at: str
    conversation_id: str


class ProfileFact(TypedDict):
    id: str
    fact: str
    valid_at: str
    category: CategoryEnum
    conversation_id: str
    source_episodic_ids: list[str]
    sources: list[Source]
    earlier: list[EarlierFact]


class ProfileSection(TypedDict):
    name: ProfileSectionEnum
    facts: list[ProfileFact]
    episodes: list[ProfileEpisode]


class ProfileOutput(TypedDict):
    sections: list[ProfileSection]
    text: str
    left_out: int
    tokens: int
    counter: str
    receipt: str


AbstentionEnum: TypeAlias = Literal[
    "min_relevance", "nothing_served", "not_in_memory", "all_struck"
]


CitedKindEnum: TypeAlias = Literal["fact", "message", "episode"]


StruckReasonEnum: TypeAlias = Literal["no_citation", "not_served", "not_quoted", "not_carried"]


class CitationOutput(TypedDict):
    id: str
    kind: CitedKindEnum
    quote: str


class SentenceOutput(TypedDict):
    text: str
    citations: list[CitationOutput]


class StruckOutput(TypedDict):
    text: str
    reason: StruckReasonEnum


class AskOutput(TypedDict):
    model: str | None
    model_calls: int
    cost: float | None
    answer: str
    sentences: list[SentenceOutput]
    struck: list[StruckOutput]
    abstained: bool
    why: AbstentionEnum | None
    relevance: float | None
    receipt: str
    further_receipt: str | None
    pending: int
    degraded: str | None


class TradeWord(TypedDict):
    word: str
    meaning: str


class Label(TypedDict):
    label: str
    example: str


class InstructionsOutput(TypedDict):
    id: str
    agent_id: str | None
    keep: list[str]
    never: list[str]
    words: list[TradeWord]
    labels: list[Label]
    actor: str
    created_at: str
    undone_at: str | None
    undone_by: str | None


class InstructionsPage(TypedDict):
    items: list[InstructionsOutput]
    next: str | None


class PreviewedFact(TypedDict):
    category: CategoryEnum
    fact: str
    keywords: list[str]
    pending: bool


LeftOutWhyEnum: TypeAlias = Literal["never", "pasted", "not_worth_keeping", "unusable"]


class LeftOut(TypedDict):
    text: str
    why: LeftOutWhyEnum


class PreviewOutput(TypedDict):
    model: str | None
    model_calls: int
    cost: float | None
    facts: list[PreviewedFact]
    left_out: list[LeftOut]
    engine: str
    degraded: bool
