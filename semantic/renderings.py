"""Facts with their evidence and history, as the API returns them."""

from collections.abc import Sequence
from typing import Any

from rest_framework import serializers

from episodic.api import StoredMessage
from episodic.models import Conversation, Message
from episodic.read_api import ListedEpisode
from memoryproject.edge.fields import CONVERSATION, Column, Output
from memoryproject.tenancy.models import Tenant
from semantic import queries, states
from semantic.engines import Category
from semantic.models import Change, Evidence, Fact

CATEGORIES = [category.value for category in Category]


class FactOutput(Output):
    """A fact with the episodes behind it."""

    table = Fact
    id = Column("The id of the fact.")
    conversation_id = Column(CONVERSATION)
    category = Column("One of the eight categories of facts.")
    fact = Column("The fact: one sentence that can be understood by itself.")
    keywords = Column("Names, nouns, and labels with # before them: they find it, too.")
    source_episodic_ids = serializers.ListField(
        child=serializers.UUIDField(), help_text="The episodes that support it now, oldest first."
    )
    valid_at = Column("From when on it was true.")
    invalid_at = Column("When the server stopped believing it; null: active.")


class VersionOutput(Output):
    """A fact in a chain of versions."""

    table = Fact
    id = Column("The id of the fact.")
    fact = Column("The fact: one sentence that can be understood by itself.")
    valid_at = Column("From when on it was true in the world.")
    valid_until = Column(
        "Until when it was true in the world, equal to `valid_at` if never; null: no end is known."
    )
    created_at = Column("When the server began to believe it.")
    invalid_at = Column("When the server stopped believing it; null: active.")
    invalidated_because = serializers.CharField(
        allow_null=True,
        help_text="Why it is not active: `superseded` (the world changed), `wrong` (it was never "
        "true), `reverted`, `erased`, `waiting` (pending review), or `forgotten` (a user asked "
        "for it); null: it is active.",
    )
    superseded_by = Column("The fact that replaced it; null: none.")


class ListedFact(FactOutput, VersionOutput):
    """A fact in the list."""


class StateOutput(Output):
    """Whether a fact was active."""

    table = states.State
    because = Column(
        "Why not: superseded, wrong, reverted, erased or waiting; null: it was active.",
        allow_null=True,
    )
    valid_until = Column("Until when it was true in the world; null: no end is known.")
    superseded_by = Column("The fact that replaced it; null: none.")


class EvidenceMessage(Output):
    """A message that says a fact, without its content: who said it, and who posted it."""

    table = Message
    id = Column("The id of the message.")
    seq = Column("Its place in the conversation: 1, 2, 3, …; only what was erased leaves a gap.")
    role = serializers.CharField(help_text="Who speaks: user, assistant, system or tool.")
    name = Column("The speaker's name; null: none was given.")
    posted_by = Column("The API key; null: none.")
    withheld_by = Column("null: it counts.")


class EvidenceOutput(Output):
    """What supports a fact, or once did."""

    table = Evidence
    episode_id = Column("The id of an episode.")
    message_seqs = Column("Messages that say it; []: the whole episode.")
    messages = EvidenceMessage(many=True, help_text="These messages; what was erased is missing.")
    changeset_id = Column("What brought it in.")
    engine = Column("null: a person.", "changeset.engine")
    model = Column("null: no language model.", "changeset.model")
    prompt_version = Column(
        "Which instructions the language model had; null: none was asked.",
        "changeset.prompt_version",
    )
    withdrawn_by = Column("The changeset that took it back; null: it counts.")


class ChangeOutput(Output):
    """One step of a changeset."""

    table = Change
    position = Column("Order within the changeset.")
    action = Column("What the step did.")
    memory_id = Column("What changed; null: nothing.")
    other_memory_id = Column("What it replaced or came from.")
    note = Column("A code: duplicate, declared_wrong, …")


class HistoryOutput(ChangeOutput):
    """One step that touched a fact: who, when and why."""

    changeset_id = Column("The changeset that the step is part of.")
    kind = Column("What kind of act the changeset was.", "changeset.kind")
    actor = Column("Who did it: a person, a key or a worker.", "changeset.actor")
    reason = Column("Why, as it was given; null: no reason was given.", "changeset.reason")
    case_id = Column(
        "The receipt of the answer that led to it; null: none was named.", "changeset.case_id"
    )
    at = Column("When the changeset was begun.", "changeset.started_at")
    before = StateOutput(allow_null=True, help_text="null: the step did not open or close it.")
    after = StateOutput(
        allow_null=True,
        help_text="The fact after the step; null: the step did not change whether it is active.",
    )


class DetailedFact(ListedFact):
    """A fact with its evidence and its history."""

    version = Column("Raised by each change of state.")
    changeset_id = Column("What brought it in.")
    evidence = EvidenceOutput(many=True, help_text="The episodes that support it, or once did.")
    history = HistoryOutput(many=True, help_text="Oldest first; of more than 1,000 the newest.")
    versions = VersionOutput(
        many=True, help_text="What it replaced and what replaced it, itself included, oldest first."
    )


class SupportedFact(Output):
    """A fact that an episode supports."""

    table = Evidence
    id = Column("The id of the fact.", "fact_id")
    fact = Column("The fact: one sentence that can be understood by itself.", "fact.fact")
    category = Column("One of the eight categories of facts.", "fact.category")
    invalid_at = Column("When the server stopped believing it; null: active.", "fact.invalid_at")
    message_seqs = Column(
        "The `seq` of the messages in the episode that say it; empty: the whole episode."
    )
    withdrawn_by = Column("The changeset that took the evidence back; null: it counts.")


class DetailedEpisode(ListedEpisode):
    """An episode with its messages and the facts extracted from it."""

    messages = StoredMessage(many=True, help_text="Oldest first.")
    facts = SupportedFact(many=True, help_text="Oldest first.")


def render_fact(
    fact: Fact, sources: Sequence[Evidence], form: type[FactOutput] = FactOutput, **values: Any
) -> dict[str, Any]:
    """Return a fact as a serializer needs it, with extra values; `sources` counts evidence."""
    values["conversation_id"] = fact.conversation.external_id
    values["source_episodic_ids"] = [row.episode_id for row in sources]
    return dict(form(vars(fact) | values).data)


def render_facts(
    tenant: Tenant, facts: Sequence[Fact], *, conversation: Conversation | None = None
) -> list[dict[str, Any]]:
    """Return facts for a list; their conversations are loaded.

    With a conversation, only its own evidence is shown.
    """
    ids = [fact.id for fact in facts]
    evidence = queries.evidence_of(tenant=tenant, fact_ids=ids, conversation=conversation)
    return [render_fact(fact, evidence[fact.id], ListedFact) for fact in facts]


def evidence_values(row: Evidence, messages: Sequence[Message]) -> dict[str, Any]:
    """Return the values of an EvidenceOutput; its changeset is loaded.

    `messages` are those that it names; erased ones are missing.
    """
    return vars(row) | {"changeset": row.changeset, "messages": messages}


def history_values(change: Change, fact: Fact) -> dict[str, Any]:
    """Return the values of a HistoryOutput for one step; its changeset is loaded."""
    before, after = change.states.get(str(fact.id), (None, None))
    return vars(change) | {"changeset": change.changeset, "before": before, "after": after}
