"""Writes log lines without content: one line per event, of permitted fields.

Text of users must not reach a log, so only permitted fields of a record are written. Our own
loggers, named `memory.…`, write fixed sentences. For other libraries we write the message template
with numbers only; for an exception its class and location, never its text.
"""

import json
import logging
import re
import sys
import threading
import traceback
import uuid
from collections.abc import Iterator
from contextlib import AbstractContextManager
from datetime import UTC, datetime
from pathlib import Path
from typing import Any

from memoryproject.process.env import SettingError
from memoryproject.process.scopes import get_work, working
from memoryproject.process.tables import read_table

OURS = "memory."
FIELDS = "request method route status ms bytes tenant key user job kind".split()
"""Permitted fields of an event: `bytes` is the answer's size, `key` and `user` are ids."""
OF_ERRORS = ("exception", "says", "sqlstate", "frames", "causes")
"""Fields that `describe_error` returns."""
PLAIN = re.compile(r"[\w./:<>^$-]{0,200}", re.ASCII)
"""Pattern of permitted values: ids, fixed words, patterns of routes."""
FRAMES_AT_MOST = 12
CAUSES_AT_MOST = 5
HIDDEN = "…"
CONTROLS = re.compile(r"[\x00-\x1f\x7f-\x9f\u2028\u2029]+")
ROOT = Path(__file__).resolve().parents[2]
FORMATS = ("text", "json")
LEVELS = ("DEBUG", "INFO", "WARNING", "ERROR", "CRITICAL")


def bind(**fields: Any) -> AbstractContextManager[None]:
    """Add these fields to every line that this thread writes in the block."""
    return working(fields={**get_work().fields, **fields})


def describe(record: logging.LogRecord) -> dict[str, Any]:
    """Return the permitted fields of a record, the most important first."""
    line: dict[str, Any] = {
        "time": datetime.fromtimestamp(record.created, UTC).isoformat(timespec="milliseconds"),
        "level": record.levelname,
        "logger": record.name,
        "event": tell_event(record),
    }
    ours = record.name.startswith(OURS)
    fields = {**get_work().fields, **(vars(record) if ours else {})}
    line |= {name: _tell_value(fields[name]) for name in FIELDS if fields.get(name) is not None}
    if ours:
        return line | {name: fields[name] for name in OF_ERRORS if name in fields}
    line["at"] = f"{_shorten(record.pathname)}:{record.lineno} {record.funcName}"
    if record.exc_info and record.exc_info[1] is not None:
        line |= describe_error(record.exc_info[1])
    return line


def tell_event(record: logging.LogRecord) -> str:
    """Return the sentence of a record.

    If a library fills in its sentence before it logs, we cannot separate the values; `at` then
    names the place in the code.
    """
    try:
        if record.name.startswith(OURS):
            return record.getMessage()
        if not record.args:
            return ""
        if isinstance(record.args, dict):
            return str(record.msg) % {name: _hide(value) for name, value in record.args.items()}
        return str(record.msg) % tuple(_hide(value) for value in record.args)
    except (TypeError, ValueError, KeyError):
        return str(record.msg) if isinstance(record.msg, str) and record.args else ""


def _hide(value: object) -> object:
    return value if isinstance(value, (int, float)) else HIDDEN


def _tell_value(value: object) -> object:
    if isinstance(value, (int, float)):
        return value
    text = str(value)
    return text if PLAIN.fullmatch(text) else HIDDEN


def describe_error(error: BaseException) -> dict[str, Any]:
    """Return the class of an error, its frames from the outermost in, and its causes' classes.

    Pass it as `extra`, not the error as `exc_info`: another handler of the logger, such as an error
    collector, would write the text.
    """
    line: dict[str, Any] = {"exception": _name(error), "frames": _list_frames(error)}
    if isinstance(error, SettingError):
        line["says"] = str(error)  # ours, and an operator needs it
    for one in (error, error.__cause__):
        state = getattr(one, "sqlstate", None)
        if isinstance(state, str):
            line["sqlstate"] = state
    causes = list(_find_causes(error))
    if causes:
        line["causes"] = causes
    return line


def _find_causes(error: BaseException) -> Iterator[str]:
    for _ in range(CAUSES_AT_MOST):
        cause = error.__cause__ or error.__context__
        if cause is None:
            return
        error = cause
        yield " ".join([_name(error), *_list_frames(error)[-1:]])


def _name(error: BaseException) -> str:
    kind = type(error)
    module = "" if kind.__module__ == "builtins" else f"{kind.__module__}."
    return f"{module}{kind.__qualname__}"


def _list_frames(error: BaseException) -> list[str]:
    frames = traceback.extract_tb(error.__traceback__)[-FRAMES_AT_MOST:]
    return [f"{_shorten(frame.filename)}:{frame.lineno} {frame.name}" for frame in frames]


def _shorten(file: str) -> str:
    return file.rpartition("site-packages/")[2].removeprefix(f"{ROOT}/")


class JSONFormatter(logging.Formatter):
    def format(self, record: logging.LogRecord) -> str:
        return json.dumps(describe(record), ensure_ascii=False)


class TextFormatter(logging.Formatter):
    """Formats a line for people: time, level, logger and event, then name=value."""

    def format(self, record: logging.LogRecord) -> str:
        line = describe(record)
        heads = [line.pop(name) for name in ("time", "level", "logger", "event")]
        tails = [f"{name}={_join(value)}" for name, value in line.items()]
        return CONTROLS.sub(" ", " ".join(str(part) for part in [*heads, *tails] if part != ""))


def _join(value: object) -> str:
    return " < ".join(reversed(value)) if isinstance(value, list) else str(value)


def make_formatter(format: str) -> logging.Formatter:
    """Return the formatter for one of FORMATS."""
    return JSONFormatter() if format == "json" else TextFormatter()


def choose_format() -> str:
    """Return the default format: text at a terminal, else JSON."""
    return "text" if sys.stderr.isatty() else "json"


class Unanswered(logging.Filter):
    """Lets pass Django's log lines about a request only if they have an exception.

    Our own line has the status; Django would repeat it, as an ERROR even if nothing is wrong with
    the server.
    """

    def filter(self, record: logging.LogRecord) -> bool:
        return bool(record.exc_info)


def make_config(*, level: str, format: str) -> dict[str, Any]:
    config = read_table(__file__, "logging")
    config["root"]["level"], config["formatters"]["line"]["format"] = level, format
    return config


def install_hooks() -> None:
    """Log uncaught exceptions as our lines: Python would print their text."""
    # A record that cannot be formatted is printed whole otherwise.
    logging.raiseExceptions = False
    logging.captureWarnings(True)
    sys.excepthook = lambda kind, error, frames: _log_uncaught(error)
    threading.excepthook = lambda failure: _log_uncaught(failure.exc_value)


def _log_uncaught(error: BaseException | None) -> None:
    if error is not None:
        logging.getLogger("memory.process").critical("uncaught", extra=describe_error(error))


REQUEST_ID = re.compile(r"(?=.*[0-9])[0-9a-fA-F][0-9a-fA-F-]{7,63}")
"""A UUID or another hexadecimal id, which cannot contain words."""


def choose_request_id(proposed: str | None) -> str:
    """Return the caller's own id of the request if it is valid, else a new one."""
    return proposed if proposed and REQUEST_ID.fullmatch(proposed) else uuid.uuid4().hex


def report(event: str, *, logger: logging.Logger, out: Any, form: str) -> None:
    """Print a command's line at a terminal, or write it to a `json` log."""
    if form == "json":
        logger.info(event)
    else:
        out.write(event)
        out.flush()
