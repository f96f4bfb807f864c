"""What the web server itself logs, in our lines; `gunicorn.conf.py` names this class."""

from __future__ import annotations

from typing import Any

from gunicorn.glogging import Logger

from memoryproject import env, logs


class LineLogger(Logger):  # type: ignore[misc]
    """gunicorn's logger, without what was sent: it quotes requests that it cannot read."""

    def setup(self, cfg: Any) -> None:
        """Take gunicorn's handlers and write our lines to them."""
        super().setup(cfg)
        format = env.read_choice("MEMORY_LOG_FORMAT", logs.choose_format(), among=logs.FORMATS)
        for handler in [*self.error_log.handlers, *self.access_log.handlers]:
            handler.setFormatter(logs.make_formatter(format))
