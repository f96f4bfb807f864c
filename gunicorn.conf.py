"""What gunicorn reads wherever it is started from this folder, and `manage.py run` names."""

from memoryproject import settings
from memoryproject.ai import vocabularies
from memoryproject.process import env, logs

workers = settings.WEB_WORKERS
worker_class = "gthread"
threads = 64  # each reads a request or sends an answer; memoryproject.wsgi says how many work
limit_request_field_size = 64 * 1024
keepalive = 30
graceful_timeout = 10
timeout = 30  # without a sign of life from a process's loop; its threads may take longer
control_socket_disable = True  # it would be a file, for nobody
loglevel = "warning"
logconfig_dict = logs.make_config(level="INFO", format=settings.LOG_FORMAT)


def on_starting(server: object) -> None:
    """Load what all web processes share before they are forked."""
    if env.read_text("MEMORY_TOKEN_COUNTER", "max") == "max":
        vocabularies.load_vocabularies()
