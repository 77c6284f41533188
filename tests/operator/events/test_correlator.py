"""Events that are posted, and their form."""

from dataclasses import replace
from typing import Any

import pytest

from sampan.operator.events import EventCorrelator
from tests.operator.events.frame import MAP, NOON, event


def test_the_same_event_again_counts() -> None:
    correlator = EventCorrelator()
    first = correlator.correlate(event(), 0)
    again = correlator.correlate(event(seconds=5), 5)
    assert first is not None
    assert again is not None
    assert first.series is again.series
    assert (again.series.count, again.event.time, again.series.last) == (2, NOON, event(seconds=5).time)


@pytest.mark.parametrize(
    "other",
    [
        {"note": "other"},
        {"reason": "Other"},
        {"action": "Other"},
        {"type": "Warning"},
        {"regarding": replace(MAP, name="b")},
        {"regarding": replace(MAP, uid="u2")},
        {"related": MAP},
    ],
    ids=lambda other: next(iter(other)),
)
def test_a_different_field_makes_another_series(other: dict[str, Any]) -> None:
    correlator = EventCorrelator()
    one, two = correlator.correlate(event(), 0), correlator.correlate(event(**other), 0)
    assert one is not None
    assert two is not None
    assert one.series.name != two.series.name
    assert (one.series.count, two.series.count) == (1, 1)


def test_a_change_of_the_object_makes_no_other_event() -> None:
    correlator = EventCorrelator()
    correlator.correlate(event(), 0)
    again = correlator.correlate(event(regarding=replace(MAP, resource_version="7")), 0)
    assert again is not None
    assert again.series.count == 2


def test_from_the_tenth_note_in_ten_minutes_on_events_are_combined() -> None:
    correlator = EventCorrelator()
    posted = [correlator.correlate(event(f"try {number}"), number) for number in range(12)]
    notes = [each.event.note for each in posted if each]
    assert notes[8:] == ["try 8", *(f"(combined from similar events): try {number}" for number in (9, 10, 11))]
    assert posted[-1] is not None
    assert posted[-2] is not None
    assert posted[-1].series.count == 3
    assert posted[-1].series is posted[-2].series


def test_after_ten_minutes_without_any_they_are_distinguished_again() -> None:
    correlator = EventCorrelator()
    for number in range(12):
        correlator.correlate(event(f"try {number}"), number)
    late = correlator.correlate(event("try 99"), 11 + 601)
    assert late is not None
    assert late.event.note == "try 99"


def test_twenty_five_events_on_an_object_pass_and_then_one_in_five_minutes() -> None:
    correlator = EventCorrelator()
    passed = [correlator.correlate(event(), 0) is not None for _ in range(30)]
    assert passed == [True] * 25 + [False] * 5
    assert correlator.correlate(event(), 299) is None
    after = correlator.correlate(event(), 301)
    assert after is not None
    assert after.series.count == 32


def test_other_objects_and_warnings_are_counted_separately() -> None:
    correlator = EventCorrelator()
    for _ in range(30):
        correlator.correlate(event(), 0)
    assert correlator.correlate(event(regarding=replace(MAP, name="b")), 0) is not None
    assert correlator.correlate(event(type="Warning"), 0) is not None


def test_long_notes_are_cut_at_a_kilobyte() -> None:
    found = EventCorrelator().correlate(event("ä" * 2000), 0)
    assert found is not None
    assert len(found.event.note.encode()) <= 1024
    assert found.event.note.endswith("ä...")


@pytest.mark.parametrize(("name", "is_kept"), [("a", True), ("A_b", False), ("a" * 250, False)])
def test_a_name_that_events_cannot_have_is_replaced(name: str, is_kept: bool) -> None:
    found = EventCorrelator().correlate(event(regarding=replace(MAP, name=name)), 0)
    assert found is not None
    assert found.series.name.startswith(f"{name}.") is is_kept


def test_the_memory_is_bounded() -> None:
    correlator = EventCorrelator()
    for number in range(5000):
        correlator.correlate(event(regarding=replace(MAP, name=f"n{number}")), 0)
    assert len(correlator._series) == len(correlator._buckets) == 4096


def test_old_events_are_forgotten() -> None:
    correlator = EventCorrelator()
    for number in range(100):
        correlator.correlate(event(regarding=replace(MAP, uid=f"u{number}")), 0)
    correlator.correlate(event(regarding=replace(MAP, uid="late")), 601)
    assert len(correlator._similar) == len(correlator._buckets) == 1


def test_a_bucket_with_fewer_tokens_than_at_first_is_kept() -> None:
    correlator = EventCorrelator()
    for second in range(30):
        correlator.correlate(event(seconds=second), second)
    correlator.correlate(event(regarding=replace(MAP, uid="other")), 2000)
    assert len(correlator._buckets) == 2


def test_a_series_that_the_server_no_longer_has_is_forgotten() -> None:
    correlator = EventCorrelator()
    for number in range(100):
        correlator.correlate(event(regarding=replace(MAP, uid=f"u{number}")), 0)
    correlator.correlate(event(seconds=3601, regarding=replace(MAP, uid="late")), 3601)
    assert len(correlator._series) == 1
