"""The ways in which a model fails its caller."""

from dataclasses import KW_ONLY, dataclass


@dataclass(eq=False, repr=False)
class ModelUnavailable(Exception):
    """The model could not be reached or was busy: try again later.

    `retry_after_s` is what the provider asked for, or None; `may_have_cost`: it may have worked on
    the question, and charge for it; `timed_out`: it took the question and did not answer in time,
    where one of fewer than `lines` may help, if anybody has set them down.
    """

    reason: str
    _: KW_ONLY
    retry_after_s: float | None = None
    may_have_cost: bool = False
    timed_out: bool = False
    lines: int = 0


class ModelMisbehaved(Exception):
    """The model answered, and the answer is of no use: asking again will not help."""

    may_have_cost = True


class RequestRefused(ModelMisbehaved):
    """The provider took the request for a bad one.

    `blamed` are the parts of the request that it names, in the words of `refusals`;
    empty where it names none. It charges nothing for what it turns away.
    """

    may_have_cost = False

    def __init__(self, reason: str, *, blamed: frozenset[str] = frozenset()) -> None:
        super().__init__(reason)
        self.blamed = blamed


class PromptTooLong(RequestRefused):
    """The question, or the question and the longest answer together, are too long for the model."""


class ContentRefused(RequestRefused):
    """The provider will not work on what the question says, in whatever form it is put."""
