"""The two ways in which a model fails its caller."""


class ModelUnavailable(Exception):
    """The model could not be reached or was busy: try again later.

    `retry_after_s` is what the provider asked for, or None.
    """

    def __init__(self, reason: str, *, retry_after_s: float | None = None) -> None:
        super().__init__(reason)
        self.retry_after_s = retry_after_s


class ModelMisbehaved(Exception):
    """The model answered, and the answer is of no use: asking again will not help."""


class RequestRefused(ModelMisbehaved):
    """The provider took the request for a bad one: it was too long, or in a form it lacks."""
