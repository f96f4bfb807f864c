"""Errors of models."""

from dataclasses import KW_ONLY, dataclass


@dataclass(eq=False, repr=False)
class ModelUnavailable(Exception):
    """The model could not be reached or was busy: try again later.

    `retry_after_s` is the wait that the provider asked for, or None; `may_have_cost`: it may charge
    for the question; `timed_out`: it accepted the question and did not answer in time, so that one
    of fewer than `lines` messages may help.
    """

    reason: str
    _: KW_ONLY
    retry_after_s: float | None = None
    may_have_cost: bool = False
    timed_out: bool = False
    lines: int = 0

    def __str__(self) -> str:
        return self.reason


class OperatorFault(ModelUnavailable):
    """An operator must fix something: a key, an account, a name. The work waits.

    Its text is one sentence of ours, shown wherever operators look.
    """


class ModelMisbehaved(Exception):
    """The model answered, but the answer is useless: asking again will not help."""

    may_have_cost = True


class AnswerCut(ModelMisbehaved):
    """The answer reached its limit and stops in the middle."""


class RequestRefused(ModelMisbehaved):
    """The provider rejected the request as invalid.

    `blamed` are the parts of the request that it names, as in `refusals`; empty if it names none. A
    rejected request costs nothing.
    """

    may_have_cost = False

    def __init__(self, reason: str, *, blamed: frozenset[str] = frozenset()) -> None:
        super().__init__(reason)
        self.blamed = blamed


class PromptTooLong(RequestRefused):
    """The question, or question and longest answer together, are too long for the model.

    `limit` is how many tokens it takes, None if it does not say.
    """

    def __init__(self, reason: str, *, limit: int | None = None) -> None:
        super().__init__(reason)
        self.limit = limit


class ContentRefused(RequestRefused):
    """The provider or the model refuses the content of the question."""


class AnswerRefused(ContentRefused):
    """A refusal in place of an answer: the question was worked on."""

    may_have_cost = True


class OnlyThoughts(RequestRefused):
    """Thinking used up the limit of the answer; the same question would end like that again."""

    may_have_cost = True
