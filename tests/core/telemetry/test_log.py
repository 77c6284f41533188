"""Log lines."""

import json
import logging
import sys
from collections.abc import Iterator

import pytest
from hpack import Decoder, Encoder

from sampan.core.telemetry.log import ConsoleFormatter, JsonFormatter, TextFormatter, configure_logging, format_of


def record(**fields: object) -> logging.LogRecord:
    found = logging.makeLogRecord({"name": "sampan.x", "levelno": logging.INFO, "levelname": "INFO", "msg": "a b"})
    found.__dict__.update(fields)
    return found


@pytest.mark.parametrize(
    ("value", "shown"),
    [("plain", "plain"), (3, "3"), ("two words", '"two words"'), ("a=b", '"a=b"'), ("", '""'), ("x\ny", '"x\\ny"')],
)
def test_values_are_quoted_where_needed(value: object, shown: str) -> None:
    assert TextFormatter().format(record(key=value)).endswith(f" key={shown}")


def test_a_line_begins_with_time_level_logger_and_message() -> None:
    parts = TextFormatter().format(record()).split(" ", 3)
    assert parts[0].startswith("time=")
    assert parts[1:] == ["level=info", "logger=sampan.x", 'msg="a b"']


def test_json_lines_hold_the_same() -> None:
    document = json.loads(JsonFormatter().format(record(code=200)))
    assert (document["level"], document["msg"], document["code"]) == ("info", "a b", 200)


@pytest.mark.parametrize(("level", "shown"), [("INFO", "a b code=2"), ("WARNING", "warning: a b code=2")])
def test_a_console_line_has_the_time_and_no_logger(level: str, shown: str) -> None:
    found = record(code=2, levelname=level, levelno=getattr(logging, level))
    assert ConsoleFormatter().format(found)[9:] == shown


def test_auto_is_for_people_on_a_terminal_only(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(sys.stderr, "isatty", lambda: True)
    assert (format_of("auto"), format_of("json")) == ("console", "json")
    monkeypatch.setattr(sys.stderr, "isatty", lambda: False)
    assert format_of("auto") == "text"


def test_a_trace_is_kept() -> None:
    try:
        raise ZeroDivisionError("x")
    except ZeroDivisionError:
        found = record(exc_info=sys.exc_info())
    assert "ZeroDivisionError: x" in json.loads(JsonFormatter().format(found))["trace"]
    assert TextFormatter().format(found).endswith("ZeroDivisionError: x")


@pytest.fixture
def restored_logging() -> Iterator[None]:
    root, hpack = logging.getLogger(), logging.getLogger("hpack")
    before = (root.handlers[:], root.level, hpack.level)
    yield
    root.handlers[:] = before[0]
    root.setLevel(before[1])
    hpack.setLevel(before[2])


@pytest.mark.usefixtures("restored_logging")
def test_headers_are_not_logged_at_level_debug(capsys: pytest.CaptureFixture[str]) -> None:
    configure_logging("debug", "text")
    Decoder().decode(Encoder().encode([("authorization", "Bearer secret")]))
    assert "secret" not in capsys.readouterr().err
