"""The checker of watches finds what is planted, and nothing in what is right."""

import pytest

from tests.robustness.history import ReceivedEvent, Watched, log_of
from tests.robustness.watches import watch_anomalies

LOG = log_of([(5, "a", "1"), (6, "b", "2"), (7, "a", "3"), (8, "b", None)])
ADDED_A = ReceivedEvent("ADDED", 5, "a", "1")
ADDED_B = ReceivedEvent("ADDED", 6, "b", "2")
MODIFIED = ReceivedEvent("MODIFIED", 7, "a", "3")
DELETED = ReceivedEvent("DELETED", 8, "b", "2")


def bookmark(revision: int) -> ReceivedEvent:
    return ReceivedEvent("BOOKMARK", revision)


def found(start: int, *observed: ReceivedEvent) -> list[str]:
    return watch_anomalies([Watched(start, list(observed), "w")], LOG)


@pytest.mark.parametrize(
    ("start", "received"),
    [
        (0, (ADDED_A, ADDED_B, MODIFIED, DELETED)),
        (4, (ADDED_A, bookmark(5), ADDED_B, bookmark(6), MODIFIED, DELETED, bookmark(9))),
        (6, (MODIFIED,)),
        (8, (bookmark(12),)),
        (0, ()),
    ],
    ids=["all", "bookmarks", "resumed, and ended early", "nothing more", "nothing"],
)
def test_possible_events_are_accepted(start: int, received: tuple[ReceivedEvent, ...]) -> None:
    assert found(start, *received) == []


@pytest.mark.parametrize(
    ("start", "received", "expected"),
    [
        (0, (ADDED_A, MODIFIED), "missed"),
        (5, (MODIFIED, DELETED), "missed"),
        (0, (ADDED_A, ADDED_A, ADDED_B), "2 times"),
        (5, (ADDED_A, ADDED_B), "not due"),
        (0, (ADDED_B, ADDED_A), "after 6"),
        (0, (ADDED_A, bookmark(6), ADDED_B), "1 of 2"),
        (0, (ADDED_A, ADDED_B, MODIFIED, bookmark(8)), "missed"),
        (0, (ReceivedEvent("MODIFIED", 5, "a", "1"),), "missed"),
        (0, (ReceivedEvent("ADDED", 5, "a", "9"),), "missed"),
        (8, (ReceivedEvent("ADDED", 9, "c", "1"),), "not due"),
        (4, (ADDED_A, bookmark(4)), "after 5"),
    ],
    ids=[
        "missed in the middle",
        "missed after a resume",
        "twice",
        "again after a resume",
        "reordered",
        "bookmark ahead",
        "missed before a bookmark",
        "another type",
        "another value",
        "made up",
        "a bookmark that goes back",
    ],
)
def test_impossible_events_are_found(start: int, received: tuple[ReceivedEvent, ...], expected: str) -> None:
    assert any(expected in text for text in found(start, *received))
