"""`Told`: what this store has told anybody of, and what it has promised other servers not to tell before they know.

Another server that reads asks how far this one is (`peers.py`). While nothing happens the answer is a promise too: that
nobody will be told of anything newer for a while. So the other one need not ask before each read. Before this store
tells anybody of what is newer, by its watches, by an answer to a read, by acknowledging a write, it takes its promises
back, and waits until those who have them have said that they know, or until the promises are over. They are over
there before they are here: there they count from when the question was sent, and for less long.

Concurrency: none of its own; whoever is about to tell waits in their own task.
"""

from collections.abc import Callable
from typing import Final, Protocol

from sampan.core.seconds import seconds
from sampan.storage.signal import Signal

PROMISE_S: Final = 0.05
"""How long a promise holds for the one who gave it: a server that hangs holds up others for no longer than that."""
TRUST_S: Final = 0.8 * PROMISE_S
"""How long it holds for the one who has it, from when the question was sent: less, as clocks differ in speed."""
QUIET_S: Final = 0.05
"""How long nothing new must have been told before promises are given again."""


class Promised(Protocol):
    """Who has a promise."""

    def take_back(self, number: int) -> None:
        """Say that the promise given with the answer of this number, and all before it, hold no more."""


class Told:
    """See the module. `clock` gives seconds."""

    def __init__(self, clock: Callable[[], float] = seconds) -> None:
        self.newest = 0
        """The newest revision of which anybody may have been told by etcd's answers, not by this server's watches."""
        self._clock = clock
        self._promises: dict[Promised, tuple[int, float]] = {}
        """To whom, with the answer of which number, until when."""
        self._promised = 0
        """The revision beyond which nobody is told: the least of those that were promised."""
        self._free = 0
        """The newest revision of which anybody may be told."""
        self._new_at = float("-inf")
        self._taking_back = 0
        self._known = Signal()

    def promise(self, to: Promised, number: int, revision: int) -> bool:
        """Promise that nobody is told of what is newer than `revision`, if that is to be expected."""
        now = self._clock()
        if self._taking_back or revision < self._free or now - self._new_at < QUIET_S:
            return False
        self._promised = min(self._promised, revision) if self._promises else revision
        self._promises[to] = (number, now + PROMISE_S)
        return True

    def knows(self, to: Promised, number: int) -> None:
        """Who had the promises up to this number knows that they hold no more."""
        given = self._promises.get(to)
        if given is not None and given[0] <= number:
            del self._promises[to]
            self._known.notify()

    async def free(self, revision: int) -> None:
        """Return when anybody may be told of this revision."""
        if revision <= self._free:
            return
        if self._promises and revision > self._promised:
            await self._take_back()
        self._free = max(self._free, revision)
        self._new_at = self._clock()

    async def tell(self, revision: int) -> None:
        """Somebody is told next of what etcd had at this revision: what anybody is told later is to be no older."""
        await self.free(revision)
        self.note(revision)

    def note(self, revision: int) -> None:
        """What anybody is told from now on is to be no older than this revision."""
        self.newest = max(self.newest, revision)

    async def _take_back(self) -> None:
        self._taking_back += 1
        try:
            for to, (number, _) in self._promises.items():
                to.take_back(number)
            while self._promises:
                left_s = max(until for _, until in self._promises.values()) - self._clock()
                if left_s <= 0:
                    self._promises.clear()
                else:
                    await self._known.wait(left_s)
        finally:
            self._taking_back -= 1
            self._new_at = self._clock()
