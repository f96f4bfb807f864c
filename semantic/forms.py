"""The bodies and query parameters that calls about facts and changesets take."""

from __future__ import annotations

from rest_framework import serializers

from memoryproject.edge.fields import (
    ContentField,
    FlagField,
    Strict,
    WholeNumberField,
    WordField,
)
from memoryproject.edge.pages import PAGE_AT_MOST, PageQuery, QueryNumberField
from semantic.curation import KEYWORD_AT_MOST, KEYWORDS_AT_MOST, REASON_AT_MOST, SENTENCE_AT_MOST
from semantic.models import Changeset, Fact
from semantic.renderings import CATEGORIES


class FactQuery(PageQuery):
    """The query parameters of the list of facts."""

    category = WordField(choices=CATEGORIES, required=False)
    state = WordField(
        choices=["active", "invalid", "all", "waiting"],
        default="active",
        help_text="Active, invalid, or both; `waiting`, with scope `curate`: pending review, until "
        "a curator approves or rejects it.",
    )


class ChangesetQuery(PageQuery):
    """The query parameters of the list of changesets."""

    kind = WordField(choices=Changeset.Kind.choices, required=False)


class StepsQuery(Strict):
    """Which steps of a changeset."""

    after = QueryNumberField(required=False, min_value=0, help_text="Only those behind this one.")
    limit = QueryNumberField(default=PAGE_AT_MOST, min_value=1, max_value=PAGE_AT_MOST)


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
