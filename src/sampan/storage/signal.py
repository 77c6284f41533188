"""`Signal`: wakes those who wait, with a timeout and without a task for each wait."""

import asyncio


def _wake(future: "asyncio.Future[bool]", result: bool) -> None:
    if not future.done():
        future.set_result(result)


class Signal:
    """A condition without a lock, for one event loop. What is waited for is checked by the waiter, before and after."""

    __slots__ = ("_waiters",)

    def __init__(self) -> None:
        self._waiters: list[asyncio.Future[bool]] = []

    def notify(self) -> None:
        """Wake all that wait now."""
        if self._waiters:
            waiters, self._waiters = self._waiters, []
            for future in waiters:
                _wake(future, True)

    async def wait(self, timeout_s: float | None = None) -> bool:
        """Wait for the next `notify`; False after `timeout_s` seconds (None: for ever)."""
        loop = asyncio.get_running_loop()
        future: asyncio.Future[bool] = loop.create_future()
        self._waiters.append(future)
        timer = None if timeout_s is None else loop.call_later(timeout_s, _wake, future, False)
        try:
            return await future
        finally:
            if timer is not None:
                timer.cancel()
            if future in self._waiters:
                self._waiters.remove(future)


def deadline_of(timeout_s: float | None) -> float | None:
    """As loop time; None: there is none."""
    return None if timeout_s is None else asyncio.get_running_loop().time() + timeout_s


def seconds_left(deadline: float | None) -> float | None:
    """Until then; None: for ever."""
    return None if deadline is None else deadline - asyncio.get_running_loop().time()
