"""Check that watches received everything that was committed, once and in order."""

from bisect import bisect_right
from collections import Counter
from collections.abc import Sequence

from tests.robustness.history import Event, ReceivedEvent, Watched


def watch_anomalies(watches: Sequence[Watched], log: Sequence[Event]) -> list[str]:
    """Return the anomalies as sentences.

    Changes that were committed after the last event of a watch are not checked for that watch.
    """
    return [text for watched in watches for text in _of_one(watched, log)]


def _of_one(watched: Watched, log: Sequence[Event]) -> list[str]:
    revisions = [event.revision for event in log]
    received: list[ReceivedEvent] = []
    found: list[str] = []
    position = watched.start
    for observed in watched.received:
        if observed.revision < position or (observed.type != "BOOKMARK" and observed.revision == position):
            found.append(f"{watched.name}: {observed} after {position}")
        if observed.type == "BOOKMARK":
            expected = bisect_right(revisions, observed.revision) - bisect_right(revisions, watched.start)
            if len(received) < expected:
                found.append(f"{watched.name}: {observed} after {len(received)} of {expected} events")
        else:
            received.append(observed)
        position = max(position, observed.revision)
    committed = log[bisect_right(revisions, watched.start) : bisect_right(revisions, position)]
    desired = [_shown(event) for event in committed]
    shown = [
        (observed.type, observed.revision, observed.key, observed.value if observed.type != "DELETED" else "")
        for observed in received
    ]
    present, there = set(shown), set(desired)
    found += [f"{watched.name} from {watched.start} missed {each}" for each in desired if each not in present]
    found += [f"{watched.name} from {watched.start} received {each}, not due" for each in shown if each not in there]
    found += [f"{watched.name} received {each} {times} times" for each, times in Counter(shown).items() if times > 1]
    return found


def _shown(event: Event) -> tuple[str, int, str, str]:
    kind = "DELETED" if event.value is None else "MODIFIED" if event.before else "ADDED"
    return kind, event.revision, event.key, event.value or ""
