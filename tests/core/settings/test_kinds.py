"""Text forms of the values of settings."""

from pathlib import Path

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from sampan.core.settings import ValueKind
from sampan.core.settings.kinds import (
    BOOLEAN,
    DURATION,
    EXISTING_FILE,
    FILE,
    HOST_AND_PORT,
    LOG_FILE,
    NAMES,
    NUMBER,
    POSITIVE_DURATION,
    SECONDS,
    TEXT,
    integer,
    kind_of,
    list_of,
    one_of,
)
from tests.properties import examples

MEGABYTES = integer(0, metavar="MEGABYTES", factor=1 << 20)


@pytest.mark.parametrize(
    ("kind", "text", "value"),
    [
        (BOOLEAN, "true", True),
        (BOOLEAN, "No", False),
        (DURATION, "1h30m", 5400.0),
        (SECONDS, "2.5", 2.5),
        (SECONDS, "2s", 2.0),
        (MEGABYTES, "3", 3 << 20),
        (NAMES, " a, b,,c ", ("a", "b", "c")),
        (NAMES, "", ()),
        (FILE, "/a/b", Path("/a/b")),
        (HOST_AND_PORT, "", ""),
        (one_of("a", "b"), "b", "b"),
        (list_of(TEXT, separator=""), "a,b", ("a,b",)),
    ],
)
def test_text_has_the_value(kind: ValueKind, text: str, value: object) -> None:
    assert kind.read(text) == value
    assert kind.read(kind.write(value)) == value


@pytest.mark.parametrize(
    ("kind", "text", "message"),
    [
        (BOOLEAN, "maybe", "'maybe' is not a valid boolean"),
        (integer(0, 9), "10", "10 is not in the range 0<=x<=9"),
        (integer(0), "-1", "-1 is not in the range x>=0"),
        (integer(), "1.5", "'1.5' is not a valid integer"),
        (NUMBER, "x", "'x' is not a valid float"),
        (DURATION, "5", "missing unit"),
        (DURATION, "5 parsecs", "unknown unit"),
        (POSITIVE_DURATION, "0s", "0s is not more than zero"),
        (SECONDS, "-1", "-1 is not in the range x>=0"),
        (SECONDS, "inf", "inf is not in the range x>=0"),
        (SECONDS, "nan", "nan is not in the range x>=0"),
        (one_of("a", "b"), "c", "'c' is not one of 'a', 'b'"),
        (HOST_AND_PORT, "localhost", "'localhost' is not host:port"),
        (EXISTING_FILE, "/nonexistent", "File '/nonexistent' does not exist"),
        (FILE, "/", "File '/' is a directory"),
    ],
)
def test_wrong_text_is_refused(kind: ValueKind, text: str, message: str) -> None:
    with pytest.raises(ValueError, match=message.replace("?", "[?]")):
        kind.read(text)


@settings(max_examples=examples(50))
@given(st.integers(0, 10**15))
def test_durations_are_written_to_the_nanosecond(duration_ns: int) -> None:
    assert DURATION.read(DURATION.write(duration_ns / 1e9)) == pytest.approx(duration_ns / 1e9, abs=1e-9)


def test_relative_paths_are_resolved() -> None:
    here = Path("/here")
    assert FILE.relocate(Path("a"), here) == Path("/here/a")
    assert FILE.relocate(Path("/a"), here) == Path("/a")
    assert FILE.relocate(None, here) is None
    assert LOG_FILE.relocate("-", here) == "-"
    assert LOG_FILE.relocate("a", here) == "/here/a"
    assert list_of(FILE).relocate((Path("a"),), here) == (Path("/here/a"),)


def test_default_shows_the_kind() -> None:
    assert kind_of("a_s", 1.0) is DURATION
    assert kind_of("a", 1.0) is NUMBER
    assert kind_of("a", True) is BOOLEAN
    with pytest.raises(TypeError, match="the field a needs a kind"):
        kind_of("a", None)
