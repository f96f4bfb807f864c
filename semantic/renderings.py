"""Facts, evidence and changesets as the API answers with them."""

from __future__ import annotations

import uuid
from collections.abc import Mapping, Sequence
from typing import Any

from rest_framework import serializers

from episodic.api import StoredMessage
from episodic.models import Message
from episodic.read_api import ListedEpisode
from memoryproject.edge.fields import Output
from semantic import states
from semantic.engines import Category
from semantic.models import Change, Changeset, Evidence, Fact
from semantic.reverts import Verdict

CATEGORIES = [category.value for category in Category]


class FactOutput(Output):
    """A fact with the episodes behind it."""

    id = serializers.UUIDField()
    conversation_id = serializers.UUIDField()
    category = serializers.ChoiceField(choices=CATEGORIES)
    fact = serializers.CharField()
    keywords = serializers.ListField(child=serializers.CharField())
    source_episodic_ids = serializers.ListField(child=serializers.UUIDField())
    valid_at = serializers.DateTimeField(help_text="From when on it was true.")
    invalid_at = serializers.DateTimeField(
        allow_null=True, help_text="When the server stopped believing it; null: active."
    )


class ListedFact(FactOutput):
    """A fact as the list has it."""

    created_at = serializers.DateTimeField()
    valid_until = serializers.DateTimeField(allow_null=True)
    invalidated_because = serializers.CharField(allow_null=True)
    superseded_by = serializers.UUIDField(source="superseded_by_id", allow_null=True)


class StateOutput(Output):
    """Whether a fact was active."""

    because = serializers.CharField(
        allow_null=True,
        help_text="Why not: superseded, wrong, reverted, erased or waiting; null: it was active.",
    )
    valid_until = serializers.DateTimeField(allow_null=True)
    superseded_by = serializers.UUIDField(allow_null=True)


class EvidenceMessage(Output):
    """A message that says a fact, without its content: who said it, and who posted it."""

    id = serializers.UUIDField()
    seq = serializers.IntegerField()
    role = serializers.CharField()
    name = serializers.CharField(allow_null=True)
    posted_by = serializers.UUIDField(
        source="posted_by_id", allow_null=True, help_text="The API key; null: none."
    )
    withheld_by = serializers.UUIDField(
        source="withheld_by_id", allow_null=True, help_text="null: it counts."
    )


class EvidenceOutput(Output):
    """What supports a fact, or once did."""

    episode_id = serializers.UUIDField()
    message_seqs = serializers.ListField(
        child=serializers.IntegerField(), help_text="Messages that say it; []: the whole episode."
    )
    messages = EvidenceMessage(many=True, help_text="These messages; what was erased is missing.")
    changeset_id = serializers.UUIDField(help_text="What brought it in.")
    engine = serializers.CharField(
        source="changeset.engine", allow_null=True, help_text="null: a person."
    )
    model = serializers.CharField(
        source="changeset.model", allow_null=True, help_text="null: no language model."
    )
    prompt_version = serializers.CharField(source="changeset.prompt_version", allow_null=True)
    withdrawn_by = serializers.UUIDField(
        source="withdrawn_by_id",
        allow_null=True,
        help_text="The changeset that took it back; null: it counts.",
    )


class ChangeOutput(Output):
    """One step of a changeset."""

    position = serializers.IntegerField(help_text="Order within the changeset.")
    action = serializers.ChoiceField(choices=Change.Action.choices)
    memory_id = serializers.UUIDField(allow_null=True, help_text="What changed; null: nothing.")
    other_memory_id = serializers.UUIDField(
        allow_null=True, help_text="What it replaced or came from."
    )
    note = serializers.CharField(allow_null=True, help_text="A code: duplicate, declared_wrong, …")


class HistoryOutput(ChangeOutput):
    """One step that touched a fact: who, when and why."""

    changeset_id = serializers.UUIDField()
    kind = serializers.ChoiceField(source="changeset.kind", choices=Changeset.Kind.choices)
    actor = serializers.CharField(source="changeset.actor")
    reason = serializers.CharField(source="changeset.reason", allow_null=True)
    at = serializers.DateTimeField(source="changeset.started_at")
    before = StateOutput(allow_null=True, help_text="null: the step did not open or close it.")
    after = StateOutput(allow_null=True)


class VersionOutput(Output):
    """A fact in a chain of versions."""

    id = serializers.UUIDField()
    fact = serializers.CharField()
    valid_at = serializers.DateTimeField()
    valid_until = serializers.DateTimeField(allow_null=True)
    created_at = serializers.DateTimeField()
    invalid_at = serializers.DateTimeField(allow_null=True)
    invalidated_because = serializers.CharField(allow_null=True)
    superseded_by = serializers.UUIDField(source="superseded_by_id", allow_null=True)


class DetailedFact(ListedFact):
    """A fact with its evidence and its history."""

    version = serializers.IntegerField(help_text="Raised by each change of state.")
    changeset_id = serializers.UUIDField(help_text="What brought it in.")
    evidence = EvidenceOutput(many=True)
    history = HistoryOutput(many=True, help_text="Oldest first; of more than 1,000 the newest.")
    versions = VersionOutput(
        many=True, help_text="What it replaced and what replaced it, itself included, oldest first."
    )


class SupportedFact(Output):
    """A fact that an episode supports."""

    id = serializers.UUIDField(source="fact_id")
    fact = serializers.CharField(source="fact.fact")
    category = serializers.ChoiceField(source="fact.category", choices=CATEGORIES)
    invalid_at = serializers.DateTimeField(source="fact.invalid_at", allow_null=True)
    message_seqs = serializers.ListField(child=serializers.IntegerField())
    withdrawn_by = serializers.UUIDField(source="withdrawn_by_id", allow_null=True)


class DetailedEpisode(ListedEpisode):
    """An episode with its messages and what was learnt from it."""

    messages = StoredMessage(many=True, help_text="Oldest first.")
    facts = SupportedFact(many=True, help_text="Oldest first.")


class ChangesetOutput(Output):
    """One consolidation run, curation, import or revert."""

    id = serializers.UUIDField()
    conversation_id = serializers.UUIDField(source="conversation.external_id", allow_null=True)
    kind = serializers.ChoiceField(choices=Changeset.Kind.choices)
    actor = serializers.CharField(help_text="Who did it: a person, a key, the worker.")
    reason = serializers.CharField(allow_null=True)
    engine = serializers.CharField(allow_null=True)
    model = serializers.CharField(allow_null=True)
    prompt_version = serializers.CharField(allow_null=True)
    degraded = serializers.BooleanField(help_text="The offline engine stood in for a model.")
    unknown_aliases = serializers.IntegerField()
    job_id = serializers.UUIDField(allow_null=True)
    started_at = serializers.DateTimeField()
    reverts = serializers.UUIDField(
        source="reverts_id", allow_null=True, help_text="The changeset that this undoes."
    )


class FactStates(Output):
    """A fact before and after a step; null: it was not there."""

    fact_id = serializers.UUIDField()
    before = StateOutput(allow_null=True)
    after = StateOutput(allow_null=True)


class StepOutput(ChangeOutput):
    """One step of a changeset with the facts that it opened or closed."""

    states = FactStates(many=True)


class DetailedChangeset(ChangesetOutput):
    """A changeset with its steps, in pages."""

    reverted_by = serializers.UUIDField(
        source="reverted_by.id",
        allow_null=True,
        help_text="The changeset that has undone this one; null: it stands.",
    )
    changes = StepOutput(many=True, help_text="In their order.")
    next = serializers.CharField(allow_null=True, help_text="Pass as `after`.")


class PlannedStep(Output):
    """What a revert would do about one fact."""

    fact_id = serializers.UUIDField(source="fact.id")
    fact = serializers.CharField(source="fact.fact")
    verdict = serializers.ChoiceField(
        source="verdict.value",
        choices=[verdict.value for verdict in Verdict],
        help_text="`close` and `reopen`: done; `supported`: other evidence holds it, only that of "
        "the changeset goes; `changed_later` and `held_anew`: in the way.",
    )
    is_conflict = serializers.BooleanField(
        source="verdict.is_conflict", help_text="Whether it is in the way."
    )
    later = serializers.ListField(
        source="later_ids",
        child=serializers.UUIDField(),
        help_text="The changesets that are in the way, oldest first.",
    )


class PlanOutput(Output):
    """What reverting a changeset would do now."""

    changeset_id = serializers.UUIDField(source="changeset.id")
    reverted_by = serializers.UUIDField(
        source="reverted_by.id", allow_null=True, help_text="null: not reverted yet."
    )
    conflicts = serializers.IntegerField(
        source="conflict_count", help_text="How many steps are in the way."
    )
    steps = PlannedStep(many=True, help_text="The last change first.")
    erased = serializers.ListField(
        child=serializers.UUIDField(), help_text="Facts that it touched and nothing brings back."
    )


class CuratedFact(ListedFact):
    """A fact after an act of curation."""

    version = serializers.IntegerField()
    changeset_id = serializers.UUIDField(help_text="The act; revert it to undo it.")


def render_fact(
    fact: Fact,
    external_id: uuid.UUID,
    sources: Sequence[Evidence],
    form: type[FactOutput] = FactOutput,
    **values: Any,
) -> dict[str, Any]:
    """Return a fact as a form has it, with more values by name; `sources` is what counts."""
    episode_ids = [row.episode_id for row in sources]
    home = {"conversation_id": external_id, "source_episodic_ids": episode_ids}
    return dict(form(vars(fact) | home | values).data)


def evidence_values(row: Evidence, messages: Mapping[int, Message]) -> dict[str, Any]:
    """Return what an EvidenceOutput reads; its changeset is loaded.

    `messages` are those of the conversation by seq; what was erased is missing.
    """
    sources = [messages[seq] for seq in row.message_seqs if seq in messages]
    return vars(row) | {"changeset": row.changeset, "messages": sources}


def step_values(change: Change) -> dict[str, Any]:
    """Return what a StepOutput reads: a step, with the facts that it opened or closed."""
    pairs = sorted(change.states.items())
    fact_states = [{"fact_id": fact_id, **_parse_states(pair)} for fact_id, pair in pairs]
    return vars(change) | {"states": fact_states}


def history_values(change: Change, fact: Fact) -> dict[str, Any]:
    """Return what a HistoryOutput reads of a step that touched a fact; its changeset is loaded."""
    pair = _parse_states(change.states.get(str(fact.id), (None, None)))
    return vars(change) | {"changeset": change.changeset, **pair}


def _parse_states(pair: states.Pair) -> dict[str, states.State | None]:
    return {"before": states.from_json(pair[0]), "after": states.from_json(pair[1])}
