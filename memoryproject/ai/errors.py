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

    def __str__(self) -> str:
        return self.reason


class OperatorFault(ModelUnavailable):
    """An operator must mend it: a key, an account, a name. The work waits.

    Its text is one sentence of ours, which is shown wherever operators look.
    """


class ModelMisbehaved(Exception):
    """The model answered, and the answer is of no use: asking again will not help."""

    may_have_cost = True


class AnswerCut(ModelMisbehaved):
    """The answer reached its bound and stops in the middle."""


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
    """The question, or the question and the longest answer together, are too long for the model.

    `limit` is how many tokens it takes, None where it does not say.
    """

    def __init__(self, reason: str, *, limit: int | None = None) -> None:
        super().__init__(reason)
        self.limit = limit


class ContentRefused(RequestRefused):
    """The provider or the model will not work on what the question says, however it is put."""


class AnswerRefused(ContentRefused):
    """The same, in the place of an answer: it was worked on."""

    may_have_cost = True


class OnlyThoughts(RequestRefused):
    """The whole bound of the answer went into thinking; the same question would end like that."""

    may_have_cost = True
