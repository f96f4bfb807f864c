"""What gunicorn reads wherever it is started from this folder."""

logger_class = "memoryproject.web_logs.LineLogger"
