"""What the calls about facts and changesets take and give, as the API describes it."""

from __future__ import annotations

from typing import Any

from rest_framework import serializers

from episodic.api import ListedEpisode, StoredMessage
from memoryproject.fields import (
    ContentField,
    FlagField,
    Strict,
    WholeNumberField,
    WordField,
)
from memoryproject.pages import PAGE_AT_MOST, PageQuery, QueryNumberField
from semantic.curation import KEYWORDS_AT_MOST, REASON_AT_MOST, SENTENCE_AT_MOST
from semantic.engines import Category
from semantic.models import Change, Changeset, Fact
from semantic.reverting import Verdict

CATEGORIES = [category.value for category in Category]
KEYWORD_AT_MOST = 100


class FactOutput(serializers.Serializer[Any]):
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
    superseded_by = serializers.UUIDField(allow_null=True)


class FactQuery(PageQuery):
    """The query parameters of the list of facts."""

    category = WordField(choices=CATEGORIES, required=False)
    state = WordField(
        choices=["active", "invalid", "all", "waiting"],
        default="active",
        help_text="Held, closed, or both; `waiting`, with scope `curate`: what is neither until a "
        "curator approves or rejects it.",
    )


class StateOutput(serializers.Serializer[Any]):
    """Whether a fact was held."""

    because = serializers.CharField(
        allow_null=True,
        help_text="Why not: superseded, wrong, reverted, erased or waiting; null: it was held.",
    )
    valid_until = serializers.DateTimeField(allow_null=True)
    superseded_by = serializers.UUIDField(allow_null=True)


class WitnessOutput(serializers.Serializer[Any]):
    """A message that says a fact, without its content: who said it, and who posted it."""

    id = serializers.UUIDField()
    seq = serializers.IntegerField()
    role = serializers.CharField()
    name = serializers.CharField(allow_null=True)
    posted_by = serializers.UUIDField(allow_null=True, help_text="The API key; null: none.")
    withheld_by = serializers.UUIDField(allow_null=True, help_text="null: it counts.")


class EvidenceOutput(serializers.Serializer[Any]):
    """What supports a fact, or once did."""

    episode_id = serializers.UUIDField()
    message_seqs = serializers.ListField(
        child=serializers.IntegerField(), help_text="Messages that say it; []: the whole episode."
    )
    messages = WitnessOutput(many=True, help_text="These messages; what was erased is missing.")
    changeset_id = serializers.UUIDField(help_text="What brought it in.")
    engine = serializers.CharField(allow_null=True, help_text="null: a person.")
    model = serializers.CharField(allow_null=True, help_text="null: no language model.")
    prompt_version = serializers.CharField(allow_null=True)
    withdrawn_by = serializers.UUIDField(
        allow_null=True, help_text="The changeset that took it back; null: it counts."
    )


class ChangeOutput(serializers.Serializer[Any]):
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
    kind = serializers.ChoiceField(choices=Changeset.Kind.choices)
    actor = serializers.CharField()
    reason = serializers.CharField(allow_null=True)
    at = serializers.DateTimeField()
    before = StateOutput(allow_null=True, help_text="null: the step did not open or close it.")
    after = StateOutput(allow_null=True)


class VersionOutput(serializers.Serializer[Any]):
    """A fact in a chain of versions."""

    id = serializers.UUIDField()
    fact = serializers.CharField()
    valid_at = serializers.DateTimeField()
    valid_until = serializers.DateTimeField(allow_null=True)
    created_at = serializers.DateTimeField()
    invalid_at = serializers.DateTimeField(allow_null=True)
    invalidated_because = serializers.CharField(allow_null=True)
    superseded_by = serializers.UUIDField(allow_null=True)


class DetailedFact(ListedFact):
    """A fact with its evidence and its history."""

    version = serializers.IntegerField(help_text="Raised by each change of state.")
    changeset_id = serializers.UUIDField(help_text="What brought it in.")
    evidence = EvidenceOutput(many=True)
    history = HistoryOutput(many=True, help_text="Oldest first; of more than 1,000 the newest.")
    versions = VersionOutput(
        many=True, help_text="What it replaced and what replaced it, itself included, oldest first."
    )


class SupportedFact(serializers.Serializer[Any]):
    """A fact that an episode supports."""

    id = serializers.UUIDField()
    fact = serializers.CharField()
    category = serializers.ChoiceField(choices=CATEGORIES)
    invalid_at = serializers.DateTimeField(allow_null=True)
    message_seqs = serializers.ListField(child=serializers.IntegerField())
    withdrawn_by = serializers.UUIDField(allow_null=True)


class DetailedEpisode(ListedEpisode):
    """An episode with its messages and what was learnt from it."""

    messages = StoredMessage(many=True, help_text="Oldest first.")
    facts = SupportedFact(many=True, help_text="Oldest first.")


class ChangesetQuery(PageQuery):
    """The query parameters of the list of changesets."""

    kind = WordField(choices=Changeset.Kind.choices, required=False)


class ChangesetOutput(serializers.Serializer[Any]):
    """One consolidation run, curation, import or revert."""

    id = serializers.UUIDField()
    conversation_id = serializers.UUIDField(allow_null=True)
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
    reverts = serializers.UUIDField(allow_null=True, help_text="The changeset that this undoes.")


class FactStates(serializers.Serializer[Any]):
    """A fact before and after a step; null: it was not there."""

    fact_id = serializers.UUIDField()
    before = StateOutput(allow_null=True)
    after = StateOutput(allow_null=True)


class StepOutput(ChangeOutput):
    """One step of a changeset with the facts that it opened or closed."""

    states = FactStates(many=True)


class StepsQuery(Strict):
    """Which steps of a changeset."""

    after = QueryNumberField(required=False, min_value=0, help_text="Only those behind this one.")
    limit = QueryNumberField(default=PAGE_AT_MOST, min_value=1, max_value=PAGE_AT_MOST)


class DetailedChangeset(ChangesetOutput):
    """A changeset with its steps, in pages."""

    reverted_by = serializers.UUIDField(
        allow_null=True, help_text="The changeset that has undone this one; null: it stands."
    )
    changes = StepOutput(many=True, help_text="In their order.")
    next = serializers.CharField(allow_null=True, help_text="Pass as `after`.")


class PlannedStep(serializers.Serializer[Any]):
    """What a revert would do about one fact."""

    fact_id = serializers.UUIDField()
    fact = serializers.CharField()
    verdict = serializers.ChoiceField(
        choices=[verdict.value for verdict in Verdict],
        help_text="`close` and `reopen`: done; `supported`: other evidence holds it, only that of "
        "the changeset goes; `changed_later` and `held_anew`: in the way.",
    )
    is_conflict = serializers.BooleanField(help_text="Whether it is in the way.")
    later = serializers.ListField(
        child=serializers.UUIDField(), help_text="The changesets that are in the way, oldest first."
    )


class PlanOutput(serializers.Serializer[Any]):
    """What reverting a changeset would do now."""

    changeset_id = serializers.UUIDField()
    reverted_by = serializers.UUIDField(allow_null=True, help_text="null: not reverted yet.")
    conflicts = serializers.IntegerField(help_text="How many steps are in the way.")
    steps = PlannedStep(many=True, help_text="The last change first.")
    erased = serializers.ListField(
        child=serializers.UUIDField(), help_text="Facts that it touched and nothing brings back."
    )


class Reasoned(Strict):
    """What every act of curation says."""

    reason = ContentField(max_length=REASON_AT_MOST, help_text="Why; kept with the changeset.")


class InvalidateInput(Reasoned):
    """The body of `facts/{id}/invalidate`."""

    because = WordField(
        choices=[Fact.Because.SUPERSEDED.value, Fact.Because.WRONG.value],
        help_text="superseded: it was true until now; wrong: it never was, and the same words do "
        "not bring it back.",
    )


class CorrectInput(Reasoned):
    """The body of `facts/{id}/correct`."""

    fact = ContentField(max_length=SENTENCE_AT_MOST, help_text="The right sentence.")
    category = WordField(choices=CATEGORIES, required=False, help_text="Absent: as it was.")
    keywords = serializers.ListField(
        child=ContentField(max_length=KEYWORD_AT_MOST),
        max_length=KEYWORDS_AT_MOST,
        required=False,
        help_text="Absent: those that the sentence still holds, and its own names and nouns.",
    )
    version = WholeNumberField(
        required=False,
        min_value=1,
        help_text="Nothing is done (409) if the fact has changed since it had this one.",
    )


class RevertInput(Reasoned):
    """The body of `changesets/{id}/revert`."""

    leave_conflicts = FlagField(
        default=False, help_text="Leave what is in the way as it is, and undo the rest."
    )


class CuratedFact(ListedFact):
    """A fact after an act of curation."""

    version = serializers.IntegerField()
    changeset_id = serializers.UUIDField(help_text="The act; revert it to undo it.")
