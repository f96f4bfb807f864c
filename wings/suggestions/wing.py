"""Changes to facts that are pending review, and the rules that decide on them."""

from django.urls import path

from memoryproject.adminkit.site import Entry
from memoryproject.wings import Wing
from wings.suggestions import api
from wings.suggestions.automatic import decide_alone

MENU = {
    "Today": (
        Entry("Suggestions", "rule", "semantic.suggestion", "What the server suspects about "
            "facts, such as contradictions and repetitions, with what was decided. Decide in "
            "the review queue."),
    ),
}  # fmt: skip

WING = Wing(
    routes=(
        path("suggestions", api.Suggestions.as_view()),
        path("suggestions/<id:suggestion_id>/accept", api.AcceptSuggestion.as_view()),
        path("suggestions/<id:suggestion_id>/decline", api.DeclineSuggestion.as_view()),
    ),
    chores=(decide_alone,),
    menu=MENU,
    shows_content=("semantic.suggestion", "semantic.triage"),
)
