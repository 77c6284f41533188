"""Which requests are sent again, and when.

| what happened                                    | which requests            |
|--------------------------------------------------|---------------------------|
| 429 or 5xx with `Retry-After`                    | all                       |
| 502, 503 or 504 without                          | GET and HEAD, no streams  |
| no connection (`TransportError`, `sent` False)   | all, no streams           |
| broken before an answer (`sent` True)            | GET and HEAD, no streams  |
| a time-out, credentials that cannot be had       | none                      |

A 429 without `Retry-After` (an eviction that a disruption budget forbids, say) is the caller's to judge. Streams belong
to loops that back off by themselves. What the body of an answer does is not seen here.
Source: client-go rest/with_retry.go (1.36), of which the first line is; the others are idempotent or were never seen.
"""

import asyncio
import random
from collections.abc import Callable
from dataclasses import dataclass, replace

from sampan.client.errors import CredentialError, TransportError, TransportTimeout
from sampan.client.transport import HttpRequest, HttpResponse, Transport

_READS = frozenset({"GET", "HEAD"})
_GATEWAY = frozenset({502, 503, 504})
_READ_BYTES_MAX = 64 << 10
"""An answer up to this size is read before the next try, so that its connection can be used for it."""


@dataclass(frozen=True, slots=True)
class RetryPolicy:
    """How often and how long; times in seconds."""

    answers_max: int = 10
    """How many answers with `Retry-After` are waited for, as client-go does."""
    errors_max: int = 3
    """How many times a request without an answer, or with a gateway's 502, 503 or 504, is sent again."""
    base_s: float = 0.1
    """The first wait; each further one is twice as long."""
    cap_s: float = 5.0
    jitter: float = 0.5
    """Waits are longer by a random part of up to this."""
    total_s: float = 60.0
    """No further try begins so long after the first; a `Retry-After` beyond that is handed to the caller."""

    def delay_s(self, attempt: int, chance: float) -> float:
        """The wait before the given attempt (the first repetition is 1); `chance` is random in [0, 1)."""
        wait = min(self.cap_s, self.base_s * 2.0 ** (attempt - 1))
        return wait * (1.0 + self.jitter * chance)


def retry_after_s(response: HttpResponse) -> int | None:
    """The whole seconds of a `Retry-After` header; None when there is none, or a date."""
    text = response.headers.get("retry-after", "").strip()
    return int(text) if text.isdecimal() and text.isascii() else None


class RetryingTransport:
    """Sends again what the table of the module allows. `timeout_s` of a request bounds all its tries together."""

    def __init__(
        self, inner: Transport, policy: RetryPolicy | None = None, *, chance: Callable[[], float] = random.random
    ) -> None:
        self._inner = inner
        self._policy = policy or RetryPolicy()
        self._chance = chance
        self._closed = False

    async def send(self, request: HttpRequest) -> HttpResponse:
        """Send until there is an answer to hand on. Raises the last `TransportError`."""
        tries = _Tries(self._policy, request, self._chance)
        while True:
            try:
                response = await self._inner.send(tries.request())
            except TransportError as error:
                wait_s = None if self._closed else tries.wait_after_error(error)
                if wait_s is None:
                    raise
            else:
                wait_s = tries.wait_after_answer(response)
                if wait_s is None:
                    return response
                await _let_go(response)
            await asyncio.sleep(wait_s)

    async def aclose(self) -> None:
        """Close what is inside; nothing is sent again from now on."""
        self._closed = True
        await self._inner.aclose()


class _Tries:
    """The tries of one request."""

    def __init__(self, policy: RetryPolicy, request: HttpRequest, chance: Callable[[], float]) -> None:
        self._policy = policy
        self._request = request
        self._chance = chance
        self._time = asyncio.get_running_loop().time
        self._begin = self._time()
        self._answers = 0
        self._errors = 0

    def request(self) -> HttpRequest:
        """The request with what is left of its time."""
        timeout_s = self._request.timeout_s
        if timeout_s is None or not (self._answers or self._errors):
            return self._request
        return replace(self._request, timeout_s=timeout_s - (self._time() - self._begin))

    def wait_after_error(self, error: TransportError) -> float | None:
        """How long to wait before the next try; None: there is none."""
        if isinstance(error, TransportTimeout | CredentialError) or self._request.stream:
            return None
        if error.sent and self._request.method not in _READS:
            return None
        return self._wait_after_failure()

    def wait_after_answer(self, response: HttpResponse) -> float | None:
        """How long to wait before the next try; None: this is the answer."""
        if response.status != 429 and response.status < 500:
            return None
        asked_s = retry_after_s(response)
        if asked_s is None:
            if response.status in _GATEWAY and self._request.method in _READS and not self._request.stream:
                return self._wait_after_failure()
            return None
        self._answers += 1
        if self._answers > self._policy.answers_max:
            return None
        return self._if_time(max(asked_s, self._policy.base_s) + self._policy.jitter * self._chance() * 0.2)

    def _wait_after_failure(self) -> float | None:
        self._errors += 1
        if self._errors > self._policy.errors_max:
            return None
        return self._if_time(self._policy.delay_s(self._errors, self._chance()))

    def _if_time(self, wait_s: float) -> float | None:
        end_s = self._time() - self._begin + wait_s
        timeout_s = self._request.timeout_s
        if end_s > self._policy.total_s or (timeout_s is not None and end_s >= timeout_s):
            return None
        return wait_s


async def _let_go(response: HttpResponse) -> None:
    """Be done with an answer, and keep its connection where that costs little."""
    length = response.headers.get("content-length", "")
    try:
        if length.isdecimal() and int(length) <= _READ_BYTES_MAX:
            await response.read()
    except TransportError:
        pass
    finally:
        await response.aclose()
