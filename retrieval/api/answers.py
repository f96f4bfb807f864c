"""Fields that calls share."""

from typing import Any

from drf_spectacular.types import OpenApiTypes

from memoryproject.edge import fields
from memoryproject.text.cleaning import LINK_STYLES

MARKDOWN = {(200, "text/markdown"): OpenApiTypes.STR}


QUERY = "What to look for, in words."
QUERIES_AT_MOST = 5


class BudgetField(fields.WholeNumberField):
    def __init__(self, help_text: str, **options: Any) -> None:
        super().__init__(help_text, **{"min_value": 1, "max_value": 1_000_000, **options})


class LinksField(fields.WordField):
    """How a text for a prompt prints links."""

    def __init__(self) -> None:
        super().__init__(
            choices=LINK_STYLES,
            required=False,
            help_text="How texts for a prompt print links, addresses and HTML: defanged (nothing "
            "follows or loads them) or plain (as they were said). Default: as the key says, and "
            "keys that say nothing defang them.",
        )


class FenceField(fields.FlagField):
    """Whether a text for a prompt stands between marks."""

    def __init__(self) -> None:
        super().__init__(
            default=False,
            help_text="Put the text between two marks with a random word, which say that it is "
            "data and no instruction. The answer names the word; the marks count.",
        )


class KnownAtField(fields.AskedMomentField):
    """A moment by the server's clock, of which the beliefs are asked for."""

    def __init__(self) -> None:
        super().__init__(
            required=False,
            help_text="Answer with what the server believed then, by its own clock, whatever was "
            "corrected since; with `as_of` with what it then believed to be true at that moment. "
            "What was quarantined or erased since stays out.",
        )
