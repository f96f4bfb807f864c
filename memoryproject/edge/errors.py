"""Errors, with the texts that the API answers with.

Domain code raises these; only the edge knows about HTTP. No message may quote people: it has only
ids, names of fields, sizes and limits.
"""

from collections.abc import Mapping
from typing import Any, TypeVar

from django.db.models import Model, QuerySet

Row = TypeVar("Row", bound=Model)
RETRY_AFTER_S = 5


class Problem(Exception):
    """A request that cannot be fulfilled, and why.

    `fields` has a message for each invalid field; empty if the problem is not about fields.
    """

    status = 400
    code = "invalid"

    def __init__(self, message: str, *, fields: Mapping[str, list[str]] | None = None) -> None:
        super().__init__(message)
        self.message = message
        self.fields = dict(fields or {})


class Forbidden(Problem):
    status = 403
    code = "permission_denied"


class NotFound(Problem):
    status = 404
    code = "not_found"


def get_row(rows: QuerySet[Row], what: str, **lookup: Any) -> Row:
    """Return the first of the rows.

    Raises:
        NotFound: there is none; the message names `what` is missing.
    """
    row = rows.filter(**lookup).first()
    if row is None:
        raise NotFound(f"There is no such {what}.")
    return row


class Conflict(Problem):
    status = 409
    code = "conflict"


class Gone(Problem):
    """The request was done before and its traces were erased: it is not done again."""

    status = 410
    code = "gone"


class TooLarge(Problem):
    status = 413
    code = "too_large"


class OverQuota(TooLarge):
    """The tenant would exceed its quota; erasing makes room."""

    code = "over_quota"


class NotNow(Problem):
    """The request cannot be done at the moment; the same request may succeed later."""

    def __init__(self, message: str, *, retry_after_s: int = RETRY_AFTER_S, **options: Any) -> None:
        super().__init__(message, **options)
        self.retry_after_s = retry_after_s


class TooMany(NotNow):
    status = 429
    code = "too_many"


class TooFast(TooMany):
    """Too many calls; nothing was done, and the call may be repeated later."""

    code = "too_fast"


class Unavailable(NotNow):
    """An outside service is unavailable."""

    status = 503
    code = "unavailable"
