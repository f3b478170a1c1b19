"""What a worker says, for people or for machines. Arguments of tasks are never part of it."""

import json
import logging
import sys
from datetime import UTC, datetime
from enum import StrEnum

from horsies.application.context import running
from horsies.application.task_log import FIELDS

_COLOURS = {"WARNING": "\x1b[33m", "ERROR": "\x1b[31m", "CRITICAL": "\x1b[31;1m"}
_DIM, _PLAIN = "\x1b[2m", "\x1b[0m"


class LogFormat(StrEnum):
    TEXT = "text"
    JSON = "json"


class TextFormatter(logging.Formatter):
    """Coloured on a terminal."""

    def __init__(self, *, colours: bool) -> None:
        super().__init__()
        self._colours = colours

    def format(self, record: logging.LogRecord) -> str:
        clock = _time(record).astimezone().strftime("%H:%M:%S.%f")[:-3]
        text = record.getMessage() + _run_of(record)
        if record.exc_info:
            text = f"{text}\n{self.formatException(record.exc_info)}"
        level = f"{record.levelname:<7}"
        if not self._colours:
            return f"{clock} {level} {text}"
        colour = _COLOURS.get(record.levelname, "")
        return f"{_DIM}{clock}{_PLAIN} {colour}{level}{_PLAIN} {text}"


class JsonFormatter(logging.Formatter):
    """One object a line."""

    def format(self, record: logging.LogRecord) -> str:
        line = {
            "time": _time(record).isoformat(),
            "level": record.levelname,
            "logger": record.name,
            "pid": record.process,
            "message": record.getMessage(),
            **{name: value for name in FIELDS if (value := getattr(record, name, None))},
        }
        if record.exc_info:
            line["exception"] = self.formatException(record.exc_info)
        return json.dumps(line, ensure_ascii=False)


def configure_logs(level: int, form: LogFormat) -> None:
    """For the whole process: it is ours."""
    handler = logging.StreamHandler(sys.stderr)
    handler.setFormatter(
        JsonFormatter() if form is LogFormat.JSON else TextFormatter(colours=sys.stderr.isatty())
    )
    handler.addFilter(name_the_run)
    root = logging.getLogger()
    root.handlers[:] = [handler]
    root.setLevel(logging.WARNING)
    logging.getLogger("horsies").setLevel(level)
    # What the driver has to say of lost connections we say ourselves, once and in plain words.
    logging.getLogger("psycopg").setLevel(max(level, logging.ERROR) if level else level)


def name_the_run(record: logging.LogRecord) -> bool:
    """Whatever is logged while a task runs says which, also by loggers that know of no tasks."""
    task = running.get(None)
    if task is not None and not hasattr(record, FIELDS[0]):
        record.__dict__.update(task.log_fields)
    return True


def _run_of(record: logging.LogRecord) -> str:
    task_id, name, attempt = (getattr(record, field, None) for field in FIELDS)
    return f"  [{name} {task_id} attempt {attempt}]" if task_id else ""


def _time(record: logging.LogRecord) -> datetime:
    return datetime.fromtimestamp(record.created, UTC)
