"""Structured logs on stderr: one line for each record, as key=value or JSON."""

import logging
import sys
from datetime import UTC, datetime
from typing import Any, Final

import orjson

from sampan.core.operating_system.terminal import uses_colours

_TALKATIVE = ("hpack",)
"""Libraries that log every header at level debug, including bearer tokens."""
_STANDARD = frozenset(vars(logging.makeLogRecord({}))) | {"message", "asctime", "taskName"}


def format_of(form: str) -> str:
    """Return the format that `auto` stands for: console on a terminal, else text."""
    return ("console" if sys.stderr.isatty() else "text") if form == "auto" else form


def configure_logging(level: str, form: str) -> None:
    """Send all records to stderr. `form`: auto, console, text or json."""
    handler = logging.StreamHandler(sys.stderr)
    handler.setFormatter(_FORMATTERS[format_of(form)]())
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


class ConsoleFormatter(logging.Formatter):
    """Formatter for people: local time, level above info, message and fields. A traceback follows on separate lines."""

    _COLOURS: Final = {"WARNING": "\x1b[33m", "ERROR": "\x1b[31m", "CRITICAL": "\x1b[31m"}

    def format(self, record: logging.LogRecord) -> str:
        fields = fields_of(record)
        parts = [datetime.fromtimestamp(record.created).strftime("%H:%M:%S")]
        if record.levelno > logging.INFO:
            parts.append(self._coloured(record.levelname, f"{record.levelname.lower()}:"))
        parts += [fields.pop("msg"), *(f"{key}={_shown(fields[key])}" for key in fields if key not in _CONSOLE_OMITS)]
        line = " ".join(parts)
        return f"{line}\n{self.formatException(record.exc_info)}" if record.exc_info else line

    def _coloured(self, level: str, text: str) -> str:
        colour = self._COLOURS.get(level, "")
        return f"{colour}{text}\x1b[0m" if colour and uses_colours(sys.stderr) else text


class JsonFormatter(logging.Formatter):
    """Formatter that writes one JSON object a line, including the traceback."""

    def format(self, record: logging.LogRecord) -> str:
        fields = fields_of(record)
        if record.exc_info:
            fields["trace"] = self.formatException(record.exc_info)
        return orjson.dumps(fields, default=str).decode()


_FORMATTERS: Final = {"console": ConsoleFormatter, "text": TextFormatter, "json": JsonFormatter}
_CONSOLE_OMITS: Final = ("time", "level", "logger")


def _shown(value: object) -> str:
    text = str(value)
    if text and text.isprintable() and not any(c in ' "=' for c in text):
        return text
    return orjson.dumps(text).decode()
