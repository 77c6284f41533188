"""`Outage`: the server cannot be reached for some time. Watches break too."""

import asyncio
from dataclasses import dataclass, field
from typing import Final

from sampan.client import TransportError
from sampan.client.transport import HttpResponse
from sampan.http.client.pending_response import PendingResponse
from sampan.testing.explore.faults.refusals import REPEATED_MAX

OUTAGE_S: Final = 20.0
"""Length in virtual seconds: longer than the renewal deadline of a lease, shorter than a period of a minute."""
REST_S: Final = 25.0
"""Virtual seconds for which the user waits after it: the backoff has grown to that of the outage."""


@dataclass(slots=True)
class Outage:
    """State of the outage of one run."""

    _until_s: float = 0.0
    _watches: list[PendingResponse] = field(default_factory=list)
    _at_s: float = -1.0
    _count: int = 0
    _last: str = ""

    def begin(self) -> None:
        """Begin the outage, and break the open watches."""
        self._until_s = asyncio.get_running_loop().time() + OUTAGE_S
        watches, self._watches = self._watches, []
        for each in watches:
            each.fail(TransportError("the connection was lost", sent=True))

    def opened(self, watch: HttpResponse) -> None:
        """Remember the response of a watch."""
        if isinstance(watch, PendingResponse):
            self._watches = [each for each in self._watches if not each.complete]
            self._watches.append(watch)

    def check(self, request: str) -> str | None:
        """Refuse a request during the outage. Return the fault of an operator that repeats requests without a delay.

        After `REPEATED_MAX` requests at one instant the outage ends, because the clock stands still. Raises
        `TransportError`.
        """
        now = asyncio.get_running_loop().time()
        if now >= self._until_s:
            return None
        self._count = self._count + 1 if (now, request) == (self._at_s, self._last) else 1
        self._at_s, self._last = now, request
        if self._count < REPEATED_MAX:
            raise TransportError("connection refused", sent=False)
        self._until_s = 0.0
        return f"{self._count} attempts without a delay: {request}"
