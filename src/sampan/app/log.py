"""Structured logs on stderr: one line for each record, as key=value or JSON."""

import logging
import sys
from datetime import UTC, datetime
from typing import Any

import orjson

_TALKATIVE = ("hpack",)
"""Libraries that log every header at level debug, including bearer tokens."""
_STANDARD = frozenset(vars(logging.makeLogRecord({}))) | {"message", "asctime", "taskName"}


def configure_logging(level: str, form: str) -> None:
    """Send all records to stderr. `form`: text or json."""
    handler = logging.StreamHandler(sys.stderr)
    handler.setFormatter(JsonFormatter() if form == "json" else TextFormatter())
    root = logging.getLogger()
    root.handlers[:] = [handler]
    root.setLevel(level.upper())
    for name in _TALKATIVE:
        logging.getLogger(name).setLevel(logging.WARNING)


def fields_of(record: logging.LogRecord) -> dict[str, Any]:
    """Return the fields of a record in the order of output."""
    instant = datetime.fromtimestamp(record.created, UTC).isoformat(timespec="milliseconds")
    fields: dict[str, Any] = {
        "time": instant.replace("+00:00", "Z"),
        "level": record.levelname.lower(),
        "logger": record.name,
        "msg": record.getMessage(),
    }
    fields.update((key, value) for key, value in vars(record).items() if key not in _STANDARD)
    return fields


class TextFormatter(logging.Formatter):
    """Formatter that writes key=value, quoted where needed. A traceback follows on separate lines."""

    def format(self, record: logging.LogRecord) -> str:
        line = " ".join(f"{key}={_shown(value)}" for key, value in fields_of(record).items())
        if record.exc_info:
            line = f"{line}\n{self.formatException(record.exc_info)}"
        return line


class JsonFormatter(logging.Formatter):
    """Formatter that writes one JSON object a line, including the traceback."""

    def format(self, record: logging.LogRecord) -> str:
        fields = fields_of(record)
        if record.exc_info:
            fields["trace"] = self.formatException(record.exc_info)
        return orjson.dumps(fields, default=str).decode()


def _shown(value: object) -> str:
    text = str(value)
    if text and text.isprintable() and not any(c in ' "=' for c in text):
        return text
    return orjson.dumps(text).decode()
