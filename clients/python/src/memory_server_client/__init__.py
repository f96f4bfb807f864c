"""Client of the memory server: `Client` for plain code, `AsyncClient` for coroutines."""

from memory_server_client.asking import Asking
from memory_server_client.core import Id, Markdown, Moment, Retries
from memory_server_client.curating import Curating
from memory_server_client.errors import (
    BadRequest,
    Conflict,
    Forbidden,
    Gone,
    JobFailed,
    MemoryServerError,
    NotFound,
    TooLarge,
    TooMany,
    Unauthorized,
    Unavailable,
    Unreachable,
)
from memory_server_client.faces import AsyncFace, SyncFace
from memory_server_client.instructing import Instructing
from memory_server_client.people import People
from memory_server_client.watching import Watching
from memory_server_client.writing import NewMessage, NewNote, Writing


class Client(Writing, Asking, Curating, Instructing, People, Watching, SyncFace):
    """All operations of the API, one call after the other; may be shared by threads."""


class AsyncClient(Writing, Asking, Curating, Instructing, People, Watching, AsyncFace):
    """All operations of the API as coroutines."""


__all__ = [
    "AsyncClient",
    "BadRequest",
    "Client",
    "Conflict",
    "Forbidden",
    "Gone",
    "Id",
    "JobFailed",
    "Markdown",
    "MemoryServerError",
    "Moment",
    "NewMessage",
    "NewNote",
    "NotFound",
    "Retries",
    "TooLarge",
    "TooMany",
    "Unauthorized",
    "Unavailable",
    "Unreachable",
]
