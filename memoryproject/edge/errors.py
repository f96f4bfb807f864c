"""What can go wrong, in the words that the API answers with.

Domain code raises these; only the edge knows about HTTP. No message may hold what
somebody said: ids, names of fields, sizes and limits only.
"""

from collections.abc import Mapping
from typing import Any, TypeVar

from django.db.models import Model, QuerySet

Row = TypeVar("Row", bound=Model)
RETRY_AFTER_S = 5


class Problem(Exception):
    """A request that cannot be met, and why.

    `fields` tells by field name what is wrong with it; it is empty where the
    problem is not one of fields.
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
    """Return the first of the rows that fits.

    Raises:
        NotFound: there is none; the message says `what` it would be.
    """
    row = rows.filter(**lookup).first()
    if row is None:
        raise NotFound(f"There is no such {what}.")
    return row


class Conflict(Problem):
    status = 409
    code = "conflict"


class Gone(Problem):
    """What the request would do was done, and its traces were erased: it is not done again."""

    status = 410
    code = "gone"


class TooLarge(Problem):
    status = 413
    code = "too_large"


class OverQuota(TooLarge):
    """The tenant would store more than it may: there is room again when something is erased."""

    code = "over_quota"


class NotNow(Problem):
    """What cannot be done at the moment; the same request may succeed later."""

    def __init__(self, message: str, *, retry_after_s: int = RETRY_AFTER_S, **options: Any) -> None:
        super().__init__(message, **options)
        self.retry_after_s = retry_after_s


class TooMany(NotNow):
    status = 429
    code = "too_many"


class TooFast(TooMany):
    """More calls than are allowed; nothing was done, and the same call is welcome later."""

    code = "too_fast"


class Unavailable(NotNow):
    """Something outside is away."""

    status = 503
    code = "unavailable"
