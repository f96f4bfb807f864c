"""What can go wrong in a call, one class a status."""

from __future__ import annotations

from collections.abc import Mapping


class MemoryServerError(Exception):
    """A call that was not done.

    Attributes:
        status: the HTTP status; 0 where no answer came.
        code: a word for programs, such as `invalid` or `not_found`.
        message: a sentence for people; it quotes nothing that was said.
        fields: what is wrong, by the path of the field in the body.
        request_id: names the request in the server's log.
        retry_after_s: when the server is worth asking again; None: it does not say.
    """

    def __init__(
        self,
        message: str,
        *,
        status: int = 0,
        code: str = "error",
        fields: Mapping[str, list[str]] | None = None,
        request_id: str | None = None,
        retry_after_s: float | None = None,
    ) -> None:
        details = "; ".join(f"{name}: {' '.join(texts)}" for name, texts in (fields or {}).items())
        super().__init__(f"{status or 'no answer'} {code}: {message} {details}".rstrip())
        self.status = status
        self.code = code
        self.message = message
        self.fields = dict(fields or {})
        self.request_id = request_id
        self.retry_after_s = retry_after_s


class Unreachable(MemoryServerError):
    """No answer came: whether the call was done is not known, unless it had a key."""


class BadRequest(MemoryServerError):
    """400: the input is wrong; `fields` says where."""


class Unauthorized(MemoryServerError):
    """401: there is no key, or it is unknown, expired or revoked."""


class Forbidden(MemoryServerError):
    """403: the key lacks the scope that the call needs."""


class NotFound(MemoryServerError):
    """404: the tenant of the key has no such thing."""


class Conflict(MemoryServerError):
    """409: the call contradicts what is stored."""


class Gone(MemoryServerError):
    """410: the call was done once, and its traces were erased."""


class TooLarge(MemoryServerError):
    """413: over a cap of the server."""


class TooMany(MemoryServerError):
    """429: too fast, or too many unprocessed messages; nothing was done."""


class Unavailable(MemoryServerError):
    """503: the database or a model is away."""


class JobFailed(Exception):
    """A job that was waited for is dead or cancelled; `job` is its last state."""

    def __init__(self, job: Mapping[str, object]) -> None:
        super().__init__(f"The job {job['id']} is {job['state']}: {job['error']}.")
        self.job = job


BY_STATUS: Mapping[int, type[MemoryServerError]] = {
    400: BadRequest,
    401: Unauthorized,
    403: Forbidden,
    404: NotFound,
    409: Conflict,
    410: Gone,
    413: TooLarge,
    429: TooMany,
    503: Unavailable,
}
