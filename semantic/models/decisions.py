"""Tables of items that wait for people, and their decisions: suggestions, marks, triage."""

from django.db import models
from django.db.models import Q
from django.db.models.functions import Now

from episodic.models import Conversation, Withholding
from memoryproject.database.constraints import check, choices_of, index, unique, unique_null
from memoryproject.tenancy.fields import TenantForeignKey
from memoryproject.tenancy.models import TenantModel
from semantic.engines import SuggestionKind
from semantic.models.facts import Changeset, Fact


class Suggestion(TenantModel):
    """A suspected contradiction or duplicate, which a curator accepts or declines.

    Or a user's request to forget a fact, which a person then erases or restores. It is open while
    its facts are active (one to erase: forgotten) and no decision is in effect; reverts update
    this.
    """

    users_by = "conversation"

    class Decision(models.TextChoices):
        ACCEPTED = "accepted", "accepted"
        DECLINED = "declined", "declined"

    conversation = TenantForeignKey(Conversation)
    changeset = TenantForeignKey(Changeset, help_text="The run that made it.")
    kind = models.CharField(max_length=16, choices=choices_of(SuggestionKind))
    old_fact = TenantForeignKey(Fact)
    new_fact = TenantForeignKey(Fact, null=True, help_text="NULL: nothing replaces it.")
    reason = models.CharField(max_length=40, help_text="A code: same_slot, near_words, cap, …")
    valid_until = models.DateTimeField(
        null=True, help_text="Until when the old fact was true; NULL: until the new one began."
    )
    withholding = TenantForeignKey(
        Withholding,
        null=True,
        help_text="For a suggestion to erase: the quarantine of the fact's messages.",
    )
    created_at = models.DateTimeField(db_default=Now())
    decision = models.CharField(max_length=16, choices=Decision.choices, blank=True)
    decided_by = TenantForeignKey(Changeset, null=True)
    is_withdrawn = models.BooleanField(
        default=False, help_text="The changeset that made it is undone."
    )
    is_reopened = models.BooleanField(
        default=False, help_text="The changeset that decided on it is undone."
    )

    class Meta(TenantModel.Meta):
        constraints = [
            unique_null("semantic_suggestion_made_once", "tenant old_fact new_fact kind"),
            check("semantic_suggestion_reason_is_code", Q(reason__regex="^[a-z_]+$")),
            check(
                "semantic_suggestion_decided_by",
                Q(decision="", decided_by=None) | (~Q(decision="") & Q(decided_by__isnull=False)),
            ),
        ]
        indexes = [
            index(
                "semantic_suggestion_undecided",
                "tenant id",
                Q(is_withdrawn=False) & (Q(decision="") | Q(is_reopened=True)),
            )
        ]

    @property
    def is_open(self) -> bool:
        """Whether its facts are still in the expected state, with no decision in effect."""
        is_decided = self.decision and not self.is_reopened
        if self.kind == SuggestionKind.ERASE:
            is_forgotten = self.old_fact.invalidated_because == Fact.Because.FORGOTTEN
            return is_forgotten and not (self.is_withdrawn or is_decided)
        facts = filter(None, (self.old_fact, self.new_fact))
        return not (self.is_withdrawn or is_decided or any(fact.invalid_at for fact in facts))


class CorrectionMark(TenantModel):
    """A place (a message or memory) that still states a retired fact.

    While that fact is retired and the mark is active, answers print the correction beside text
    quoted from the place. The mark holds ids, never text.
    """

    class Place(models.TextChoices):
        MESSAGE = "message", "message"
        EPISODE = "episode", "title or summary of an episode"
        FACT = "fact", "fact"
        NOTE = "note", "note"

    class FoundBy(models.TextChoices):
        EVIDENCE = "evidence", "the fact was drawn from it"
        WORDS = "words", "it says the same words"
        MEANING = "meaning", "it is near in meaning"

    class State(models.TextChoices):
        ACTIVE = "active", "marked in answers"
        PROPOSED = "proposed", "to be confirmed"
        DROPPED = "dropped", "dropped by a person"

    conversation = TenantForeignKey(Conversation)
    fact = TenantForeignKey(Fact, db_index=False, help_text="The fact that is wrong or over.")
    changeset = TenantForeignKey(Changeset, help_text="The changeset for which it was found.")
    place = models.CharField(max_length=8, choices=Place.choices)
    place_id = models.UUIDField(help_text="Id of the message or memory.")
    found_by = models.CharField(max_length=8, choices=FoundBy.choices)
    state = models.CharField(max_length=8, choices=State.choices)
    decided_by = models.CharField(
        max_length=200, blank=True, help_text="Who confirmed or dropped it."
    )
    decided_at = models.DateTimeField(null=True)
    created_at = models.DateTimeField(db_default=Now())

    class Meta(TenantModel.Meta):
        constraints = [unique("semantic_correctionmark_once", "tenant fact place_id")]
        indexes = [index("semantic_mark_by_place", "tenant place_id")]

    def __str__(self) -> str:
        return f"{self.place} {self.place_id}"


class Triage(TenantModel):
    """Curators' notes about a fact in the review queue: assignee, comment, snooze."""

    conversation = TenantForeignKey(Conversation)
    fact = TenantForeignKey(Fact, db_index=False)
    assignee = models.CharField(max_length=150, blank=True, help_text="A user's name; empty: all.")
    comment = models.CharField(max_length=500, blank=True)
    snoozed_until = models.DateTimeField(null=True, help_text="Hidden from the queue until then.")
    is_kept = models.BooleanField(default=False, help_text="Somebody has looked at it and kept it.")
    changed_by = models.CharField(max_length=150)
    changed_at = models.DateTimeField(db_default=Now())

    class Meta(TenantModel.Meta):
        verbose_name_plural = "triage"
        constraints = [unique("semantic_triage_once", "tenant fact")]
