"""Following against a model: whatever faults come between, every event arrives once and in order."""

from collections.abc import AsyncGenerator, Sequence
from contextlib import aclosing
from dataclasses import dataclass, field

from hypothesis import given
from hypothesis import strategies as st

from sampan.client import Backoff, ListOptions, RawEvent, RawList, TransportError, api_error
from sampan.client.objects.head import object_head
from sampan.client.watching.follow import follow
from sampan.testing import run_virtual
from tests.client.scripted_transport import error_event, event

FIRST, LENGTH = 11, 12
FAULTS = ("end", "break", "garble", "500", "429", "refuse")


@dataclass
class Log:
    """A server whose history begins at revision 11; each watch shows some of it and then has a fault."""

    faults: list[tuple[int, int, str]]
    """For each watch: the number of events, the number in a batch, and the fault that follows."""
    requested: list[int] = field(default_factory=list)

    async def list(self, options: ListOptions) -> RawList:
        raise AssertionError("it has a version to begin with")

    async def watch(self, options: ListOptions) -> AsyncGenerator[Sequence[RawEvent], None]:
        since = int(options.resource_version or 0)
        self.requested.append(since)
        count, size, fault = self.faults.pop(0) if self.faults else (LENGTH, LENGTH, "end")
        if fault == "refuse":
            raise api_error({"code": 503})
        revisions = range(since + 1, FIRST + LENGTH)[:count]
        events = [event("MODIFIED", f"o{revision}", revision) for revision in revisions]
        if fault in ("500", "429"):
            events.append(error_event(int(fault)))
        elif events and fault == "end":
            events.append(event("BOOKMARK", "", since + len(events)))
        for begin in range(0, len(events), size):
            yield events[begin : begin + size]
        if fault in ("break", "garble"):
            raise TransportError(fault, sent=True)


@given(st.lists(st.tuples(st.integers(0, 5), st.integers(1, 6), st.sampled_from(FAULTS)), max_size=12))
def test_nothing_is_lost_and_nothing_comes_twice(faults: list[tuple[int, int, str]]) -> None:
    log = Log(faults)

    async def collect() -> list[int]:
        found: list[int] = []
        async with aclosing(follow(log, ListOptions(resource_version=str(FIRST - 1)), backoff=Backoff(1.0))) as batches:
            async for batch in batches:
                found += [int(object_head(each.object).metadata.resource_version) for each in batch]
                if len(found) >= LENGTH:
                    break
        return found

    assert run_virtual(collect()) == list(range(FIRST, FIRST + LENGTH))
    assert log.requested == sorted(log.requested)
