"""What gunicorn reads wherever it is started from this folder, and `manage.py run` names."""

from contextlib import suppress
from pathlib import Path

from memoryproject.process import web

COUNTS = web.share_counts()

import uuid_utils  # noqa: E402
from prometheus_client import multiprocess  # noqa: E402

from memoryproject import settings  # noqa: E402
from memoryproject.process import logs, metrics  # noqa: E402

workers = settings.WEB_WORKERS
worker_class = "gthread"
threads = 64  # each reads a request or sends an answer; memoryproject.wsgi says how many work
limit_request_field_size = 64 * 1024
keepalive = 30
graceful_timeout = 10
timeout = 30  # without a sign of life from a process's loop; its threads may take longer
preload_app = True  # the processes share what is loaded; threads and connections come later
control_socket_disable = True  # it would be a file, for nobody
loglevel = "warning"
logconfig_dict = logs.make_config(level="INFO", format=settings.LOG_FORMAT)


def on_starting(server: object) -> None:
    """Begin to count anew."""
    forget_counts()


def child_exit(server: object, worker: object) -> None:
    """Take a process that ended out of the gauges; its counts stay."""
    multiprocess.mark_process_dead(worker.pid)


def on_exit(server: object) -> None:
    """Delete what the processes counted, and the folder if nothing else is in it."""
    forget_counts()
    with suppress(OSError):
        Path(COUNTS).rmdir()


def forget_counts() -> None:
    """Delete the files of processes that are no more."""
    for file in Path(COUNTS).glob("*_*.db"):
        file.unlink(missing_ok=True)


def post_fork(server: object, worker: object) -> None:
    """Give the process random numbers of its own, else two may make the same ids; count it."""
    uuid_utils.reseed_rng()
    metrics.answer_threads.set(settings.WEB_THREADS)
