"""Changes to facts that are pending review, and the rules that decide on them."""

from memoryproject.wings import Wing
from wings.suggestions.automatic import decide_alone

WING = Wing(
    chores=(decide_alone,),
)
