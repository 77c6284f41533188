"""The body of a watch, cut into events."""

import itertools

import msgspec
import pytest
from hypothesis import given
from hypothesis import strategies as st

from sampan.client import RawEvent, TransportError
from sampan.client.watching import event_lines
from sampan.client.watching.event_lines import EventLines
from tests.client.scripted_transport import event, lines
from tests.unreadable import DEEP, NO_TEXT

EVENTS = [event("ADDED", name, version) for version, name in enumerate(("a", "b", "ü", "d" * 300))]


def read(*chunks: bytes) -> list[RawEvent]:
    reader = EventLines()
    found = [each for chunk in chunks for batch in reader.feed(chunk) for each in batch]
    return found + [each for batch in reader.end() for each in batch]


def plain(events: list[RawEvent]) -> list[tuple[str, bytes]]:
    return [(each.type, bytes(each.object)) for each in events]


@given(st.lists(st.integers(0, len(lines(*EVENTS))), max_size=20))
def test_where_the_chunks_end_means_nothing(cuts: list[int]) -> None:
    body = lines(*EVENTS)
    borders = [0, *sorted(cuts), len(body)]
    chunks = [body[begin:end] for begin, end in itertools.pairwise(borders)]
    assert plain(read(*chunks)) == plain(EVENTS)


def test_events_of_one_chunk_are_one_batch() -> None:
    assert [len(batch) for batch in EventLines().feed(lines(*EVENTS))] == [4]


def test_the_last_event_needs_no_newline() -> None:
    assert plain(read(lines(*EVENTS).rstrip(b"\n"))) == plain(EVENTS)


def test_empty_lines_are_nothing() -> None:
    assert plain(read(b"\n\r\n", lines(EVENTS[0]), b"\n \n")) == plain(EVENTS[:1])


GARBLED = {
    "no JSON": b"<html>502</html>\n",
    "no object": b'{"type":"ADDED"}\n',
    "cut": b'{"type":"ADDED","obj\n',
    "a list": b"[]\n",
    "no text": b'{"object":{},"type":' + NO_TEXT + b"}\n",
    "deep": b'{"type":"ADDED","object":' + DEEP + b"}\n",
}


@pytest.mark.parametrize("line", GARBLED.values(), ids=GARBLED.keys())
def test_a_garbled_line_is_an_error_after_the_events_before_it(line: bytes) -> None:
    reader = EventLines()
    batches = reader.feed(lines(*EVENTS[:2]) + line + lines(EVENTS[2]))
    assert len(next(batches)) == 2
    with pytest.raises(TransportError, match="cannot decode watch event"):
        next(batches)


def test_a_stream_that_ends_inside_of_an_event_has_broken() -> None:
    with pytest.raises(TransportError, match="cannot decode watch event"):
        read(lines(*EVENTS)[:-20])


def test_a_line_without_end_is_an_error(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(event_lines, "LINE_SIZE_MAX", 100)
    with pytest.raises(TransportError, match="more than"):
        read(b'{"type":"' + b"x" * 100)


def test_objects_are_the_bytes_that_came() -> None:
    [found] = read(b'{"type":"ADDED","object":{ "a" : 1e3 }}\n')
    assert bytes(found.object) == b'{ "a" : 1e3 }'
    assert isinstance(found.object, msgspec.Raw)
