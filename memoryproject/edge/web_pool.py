"""A WSGI application in which few threads answer, however many requests arrive.

No caller occupies all of them: a tenant uses at most a quarter, some more of its requests wait a
moment for their turn, and others are refused at once. While others call, a tenant's answers take no
more than a share of the process's time, since its threads share one processor.
"""

import hashlib
import select
import time
from collections import Counter, OrderedDict
from collections.abc import Callable, Iterable, Iterator, Mapping
from concurrent.futures import Future, ThreadPoolExecutor
from tempfile import SpooledTemporaryFile
from threading import Condition
from typing import Any

from django.conf import settings

from memoryproject.edge.deadlines import Work
from memoryproject.process import metrics

Environ = dict[str, Any]
Application = Callable[[Environ, Any], Iterable[bytes]]
API_PREFIX = "/api/"
LIVE = "/api/v0/health/live"
READY = "/api/v0/health/ready"
IN_MEMORY_BYTES = 512 * 1024
CHUNK_BYTES = 1024 * 1024
"""Bytes that gunicorn reads at once: after a smaller chunk it would copy the rest each time."""
TENANT = "memory.tenant"
"""Key in a request's environment for its tenant, set once the API key is looked up."""
REFUSAL = "memory.refusal"
"""Key in a request's environment for the reason to refuse it unread: BUSY or LATE."""
BUSY, LATE = "busy", "late"
WAIT_FOR_TURN_S = 5.0
WAITING_A_THREAD = 3
"""Number of requests of one caller that may wait, for each answering thread: a faster caller is
slowed down by its own connections, and does not occupy all reading threads."""
SHARE = 0.2
"""Share of a processor that a caller may use while others call, in one process."""
AHEAD_S = 0.2
"""Seconds of that share that may be used at once."""
BESIDE_S = 1.0
"""Seconds after a call for which a caller counts as calling."""
A_MEGABYTE_S = 0.08
"""Seconds of the database's processor time for storing a megabyte."""
USED_S = "memory.used_s"
"""Key in a request's environment for its seconds of processor time."""
LOOK_EVERY_S = 0.25
"""Seconds between two checks whether a client is still connected."""
OWNERS_AT_MOST = 10_000


class Pool:
    """Answers in a few threads; the web server's threads read bodies and send answers.

    So a slow client occupies no database connection. `health/live` needs none of these threads, and
    `health/ready` has its own: both answer while the pool is full.
    """

    def __init__(self, application: Application, *, threads: int) -> None:
        self._application = application
        self._executor = ThreadPoolExecutor(threads, thread_name_prefix="answer")
        self._health = ThreadPoolExecutor(1, thread_name_prefix="health")
        self._turns = Turns(max(1, threads // 4), waiting=WAITING_A_THREAD * threads)

    @metrics.requests_open.track_inprogress()
    def __call__(self, environ: Environ, start_response: Any) -> Iterable[bytes]:
        path = environ["PATH_INFO"]
        if path == LIVE:
            return self._application(environ, start_response)
        if path == READY:
            return submit(self._health, self._application, environ, start_response).result()
        caller = self._turns.identify(environ)
        # A slow client uses none of its tenant's turns; a large body is read in its own turn.
        is_large = measure_body(environ) > IN_MEMORY_BYTES
        if not is_large:
            read_body(environ)
        if not self._turns.enter(caller):
            return self._refuse(environ, start_response)
        try:
            if is_large:
                read_body(environ)
            return self._answer(environ, start_response)
        finally:
            self._turns.leave(caller, environ)

    def _refuse(self, environ: Environ, start_response: Any) -> Iterable[bytes]:
        environ[REFUSAL] = BUSY
        for _ in read_parts(environ):  # else the connection is reset before the answer is read
            pass
        return self._application(environ, start_response)

    def _answer(self, environ: Environ, start_response: Any) -> Iterable[bytes]:
        if not environ["PATH_INFO"].startswith(API_PREFIX):
            return submit(self._executor, self._application, environ, start_response).result()
        work = Work(seconds=settings.REQUEST_SECONDS)
        future = submit(self._executor, self._begin, work, environ, start_response)
        return wait_for_client(future, work, environ)

    def _begin(self, work: Work, environ: Environ, start_response: Any) -> Iterable[bytes]:
        if work.left_s <= 0 or is_client_gone(environ):
            environ[REFUSAL] = LATE
        started = time.thread_time()
        try:
            with work.begin(), metrics.answers_running.track_inprogress():
                return self._application(environ, start_response)
        finally:
            environ[USED_S] = time.thread_time() - started


class Turns:
    """Callers with requests at work in this process: at most `most` of each at once.

    `waiting`: how many more of a caller's may wait. A caller also waits after using more than its
    SHARE while others call.

    A caller is a tenant once its key is known, before that the key. Requests without a key count as
    no caller, and wait in the pool's own queue.
    """

    def __init__(self, most: int, *, waiting: int) -> None:
        self._most = most
        self._waiting_at_most = waiting
        # Subtracting leaves out who has none any more.
        self._running: Counter[object] = Counter()
        self._waiting: Counter[object] = Counter()
        self._paid_at: dict[object, float] = {}
        """Time at which a caller's share has made up for its use, by caller."""
        self._called_at: OrderedDict[object, float] = OrderedDict()
        """The latest last calls, by caller; two at most."""
        self._owners: dict[bytes, object] = {}
        self._changed = Condition()

    def identify(self, environ: Environ) -> object:
        """Return the caller; None if no key is sent."""
        key = environ.get("HTTP_AUTHORIZATION")
        digest = _digest(key) if key else None
        return self._owners.get(digest, digest) if digest else None

    def enter(self, caller: object) -> bool:
        """Wait for a turn; False if too many wait already, or none came in time."""
        if caller is None:
            return True
        with self._changed:
            if self._waiting.get(caller, 0) >= self._waiting_at_most:
                return False
            self._note_call(caller)
            self._waiting[caller] += 1
            until = time.monotonic() + WAIT_FOR_TURN_S
            while (wait_s := self._find_wait(caller)) and (left_s := until - time.monotonic()) > 0:
                self._changed.wait(min(wait_s, left_s))
            self._waiting -= Counter([caller])
            if not wait_s:
                self._running[caller] += 1
            return not wait_s

    def _note_call(self, caller: object) -> None:
        self._called_at[caller] = time.monotonic()
        self._called_at.move_to_end(caller)
        if len(self._called_at) > 2:
            self._called_at.popitem(last=False)

    def _find_wait(self, caller: object) -> float:
        """Return 0 if it is the caller's turn; else seconds until it may be, if no other ends."""
        if self._running[caller] >= self._most:
            return WAIT_FOR_TURN_S
        now = time.monotonic()
        others = (at for other, at in self._called_at.items() if other != caller)
        alone_in_s = max(others, default=-BESIDE_S) + BESIDE_S - now
        paid_in_s = self._paid_at.get(caller, now) - now - AHEAD_S / SHARE
        return max(0.0, min(alone_in_s, paid_in_s))

    def leave(self, caller: object, environ: Environ) -> None:
        """Give the turn back, and remember the tenant of the key if it was found."""
        if caller is None:
            return
        with self._changed:
            self._running -= Counter([caller])
            stored_s = measure_body(environ) / 1e6 * A_MEGABYTE_S
            self._charge(caller, environ.get(USED_S, 0.0) + stored_s)
            if TENANT in environ:
                if len(self._owners) >= OWNERS_AT_MOST:
                    self._owners.clear()
                self._owners[_digest(environ["HTTP_AUTHORIZATION"])] = environ[TENANT]
            self._changed.notify_all()

    def _charge(self, caller: object, used_s: float) -> None:
        now = time.monotonic()
        if len(self._paid_at) >= OWNERS_AT_MOST:
            self._paid_at = {who: at for who, at in self._paid_at.items() if at > now}
        self._paid_at[caller] = max(now, self._paid_at.get(caller, now)) + used_s / SHARE


def submit(
    executor: ThreadPoolExecutor, answer: Callable[..., Iterable[bytes]], *arguments: Any
) -> Future[Iterable[bytes]]:
    """Answer in a thread of the executor; if the process is ending, in this thread.

    An executor accepts no work while the interpreter waits for its last threads, among them the
    server's with earlier requests.
    """
    try:
        return executor.submit(answer, *arguments)
    except RuntimeError:
        future: Future[Iterable[bytes]] = Future()
        future.set_result(answer(*arguments))
        return future


def wait_for_client(
    future: Future[Iterable[bytes]], work: Work, environ: Environ
) -> Iterable[bytes]:
    """Return the answer; if the client disconnects meanwhile, stop the work for it."""
    while True:
        try:
            return future.result(timeout=LOOK_EVERY_S)
        except TimeoutError:
            if future.done():
                raise
            if work.left_s > 0 and is_client_gone(environ):
                work.cancel()


def is_client_gone(environ: Environ) -> bool:
    """Return whether a client has closed its connection; False if that cannot be seen."""
    connection = environ.get("gunicorn.socket")
    if connection is None or not hasattr(select, "POLLRDHUP"):
        return False
    poll = select.poll()
    poll.register(connection, select.POLLRDHUP)
    return bool(poll.poll(0))


def _digest(key: str) -> bytes:
    return hashlib.sha256(key.encode("latin-1", "replace")).digest()


def read_body(environ: Environ) -> None:
    """Replace the incoming body by the whole one, unless it is longer than the limit."""
    body = SpooledTemporaryFile(IN_MEMORY_BYTES)  # noqa: SIM115 - closed with the request
    for part in read_parts(environ):
        body.write(part)
    if body.tell():
        environ["CONTENT_LENGTH"] = str(body.tell())
        body.seek(0)
        environ["wsgi.input"] = body


def read_parts(environ: Environ) -> Iterator[bytes]:
    """Yield the parts of a body as they arrive; nothing if it is longer than the limit."""
    left = measure_body(environ)
    if environ.get("CONTENT_LENGTH") and left > body_limit(environ["PATH_INFO"]):
        return
    while left and (part := environ["wsgi.input"].read(min(left, CHUNK_BYTES))):
        yield part
        left -= len(part)


def measure_body(environ: Environ) -> int:
    """Return the declared size of a body; for one in chunks, more than the limit."""
    is_chunked = "HTTP_TRANSFER_ENCODING" in environ and not environ.get("CONTENT_LENGTH")
    return body_limit(environ["PATH_INFO"]) + 1 if is_chunked else declared_bytes(environ)


def declared_bytes(environ: Mapping[str, Any]) -> int:
    """Return the length of the body from the headers, 0 if there is none."""
    length = environ.get("CONTENT_LENGTH") or ""
    return int(length[:20]) if length.isdecimal() else 0


def body_limit(path: str) -> int:
    """Return the largest size of a body: the API's, or a file's in the admin with its form."""
    of_a_file = 0 if path.startswith(API_PREFIX) else settings.MAX_UPLOAD_BYTES
    return int(of_a_file + settings.MAX_BODY_BYTES)
