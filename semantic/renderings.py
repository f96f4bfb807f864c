"""Facts with their evidence and history, as the API returns them."""

from collections.abc import Sequence
from typing import Any

from rest_framework import serializers

from episodic.api import StoredMessage
from episodic.models import Conversation, Message
from episodic.read_api import ListedEpisode
from memoryproject.edge.fields import Output
from memoryproject.tenancy.models import Tenant
from semantic import queries, states
from semantic.engines import Category
from semantic.models import Change, Evidence, Fact

CATEGORIES = [category.value for category in Category]


class FactOutput(Output):
    """A fact with the episodes behind it."""

    table = Fact
    columns = "id conversation_id category fact keywords source_episodic_ids valid_at invalid_at"
    source_episodic_ids = serializers.ListField(child=serializers.UUIDField())


class VersionOutput(Output):
    """A fact in a chain of versions."""

    table = Fact
    columns = "id fact valid_at valid_until created_at invalid_at invalidated_because superseded_by"
    invalidated_because = serializers.CharField(allow_null=True)


class ListedFact(FactOutput, VersionOutput):
    """A fact in the list."""


class StateOutput(Output):
    """Whether a fact was active."""

    table, columns = states.State, "because? valid_until superseded_by"


class EvidenceMessage(Output):
    """A message that says a fact, without its content: who said it, and who posted it."""

    table, columns = Message, "id seq role name posted_by withheld_by"
    role = serializers.CharField()


class EvidenceOutput(Output):
    """What supports a fact, or once did."""

    table = Evidence
    columns = (
        "episode_id message_seqs messages changeset_id changeset.engine changeset.model "
        "changeset.prompt_version withdrawn_by"
    )
    messages = EvidenceMessage(many=True)


class ChangeOutput(Output):
    """One step of a changeset."""

    table, columns = Change, "position action memory_id other_memory_id note"


class HistoryOutput(ChangeOutput):
    """One step that touched a fact: who, when and why."""

    columns = (
        "changeset_id changeset.kind changeset.actor changeset.reason changeset.case_id "
        "at=changeset.started_at"
    )
    before = StateOutput(allow_null=True)
    after = StateOutput(allow_null=True)


class DetailedFact(ListedFact):
    """A fact with its evidence and its history."""

    columns = "version changeset_id"
    evidence = EvidenceOutput(many=True)
    history = HistoryOutput(many=True)
    versions = VersionOutput(many=True)


class SupportedFact(Output):
    """A fact that an episode supports."""

    table = Evidence
    columns = "id=fact_id fact.fact fact.category fact.invalid_at message_seqs withdrawn_by"


class DetailedEpisode(ListedEpisode):
    """An episode with its messages and the facts extracted from it."""

    messages = StoredMessage(many=True)
    facts = SupportedFact(many=True)


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
