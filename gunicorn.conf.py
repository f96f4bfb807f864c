"""What gunicorn reads wherever it is started from this folder, and `manage.py run` names."""

logger_class = "memoryproject.web_logs.LineLogger"
worker_class = "memoryproject.web_worker.ReadingWorker"
threads = 4
graceful_timeout = 10
timeout = 30  # without a sign of life from a process's loop; its threads may take longer
