"""Retries of requests.

| failure                                          | requests that are retried |
|--------------------------------------------------|---------------------------|
| 429 or 5xx with `Retry-After`                    | all                       |
| 502, 503 or 504 without `Retry-After`            | GET and HEAD, no streams  |
| no connection (`TransportError`, `sent` False)   | all, no streams           |
| connection lost before a response (`sent` True)  | GET and HEAD, no streams  |
| timeout, no credentials                          | none                      |

The caller handles a 429 without `Retry-After`, such as an eviction that a disruption budget forbids. Callers that read
streams restart them, with a backoff. Failures in the body of a response are not retried here.
Source: client-go rest/with_retry.go (1.36) for the first row. The other rows are safe: the request is idempotent, or
the server never received it.
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
"""Largest body that is read before a retry, so that the connection can be reused."""


@dataclass(frozen=True, slots=True)
class RetryPolicy:
    """Number and delays of retries; times in seconds."""

    responses_max: int = 10
    """Maximum number of responses with `Retry-After` that are retried, as in client-go."""
    errors_max: int = 3
    """Maximum number of retries after a request without a response, or after 502, 503 or 504 of a gateway."""
    base_s: float = 0.1
    """First delay; each further one is twice as long."""
    cap_s: float = 5.0
    jitter: float = 0.5
    """Maximum random extension of a delay, as a fraction of it."""
    total_s: float = 60.0
    """Time after the first attempt in which a retry may begin. A response with a longer `Retry-After` is returned."""

    def delay_s(self, attempt: int, chance: float) -> float:
        """Return the delay before a retry (the first is 1). `chance` is random in [0, 1)."""
        wait = min(self.cap_s, self.base_s * 2.0 ** (attempt - 1))
        return wait * (1.0 + self.jitter * chance)


def retry_after_s(response: HttpResponse) -> int | None:
    """Return the whole seconds of a `Retry-After` header; None if there is none or if it is a date."""
    text = response.headers.get("retry-after", "").strip()
    return int(text) if text.isdecimal() and text.isascii() else None


class RetryingTransport:
    """Retries requests as the module's table lists. `timeout_s` of a request limits all its attempts together."""

    def __init__(
        self, inner: Transport, policy: RetryPolicy | None = None, *, chance: Callable[[], float] = random.random
    ) -> None:
        self._inner = inner
        self._policy = policy or RetryPolicy()
        self._chance = chance
        self._closed = False

    async def send(self, request: HttpRequest) -> HttpResponse:
        """Send a request, with retries, and return the final response. Raises the last `TransportError`."""
        attempts = _Attempts(self._policy, request, self._chance)
        while True:
            try:
                response = await self._inner.send(attempts.request())
            except TransportError as error:
                wait_s = None if self._closed else attempts.wait_after_error(error)
                if wait_s is None:
                    raise
            else:
                wait_s = attempts.wait_after_response(response)
                if wait_s is None:
                    return response
                await _discard(response)
            await asyncio.sleep(wait_s)

    async def aclose(self) -> None:
        """Close the inner transport. Nothing is retried after this call."""
        self._closed = True
        await self._inner.aclose()


class _Attempts:
    """Attempts of one request."""

    def __init__(self, policy: RetryPolicy, request: HttpRequest, chance: Callable[[], float]) -> None:
        self._policy = policy
        self._request = request
        self._chance = chance
        self._time = asyncio.get_running_loop().time
        self._begin = self._time()
        self._responses = 0
        self._errors = 0

    def request(self) -> HttpRequest:
        """Return the request, with a timeout reduced by the time that has passed."""
        timeout_s = self._request.timeout_s
        # The first attempt needs no copy of the request, and most requests have only one.
        if timeout_s is None or not (self._responses or self._errors):
            return self._request
        return replace(self._request, timeout_s=timeout_s - (self._time() - self._begin))

    def wait_after_error(self, error: TransportError) -> float | None:
        """Return the delay before the next attempt; None if there is none."""
        # The time of the caller is over after a timeout. New attempts with the same missing credentials fail alike.
        if isinstance(error, TransportTimeout | CredentialError) or self._request.stream:
            return None
        # The server may have carried out the write. To send it again could create a second object or fail with 409.
        if error.sent and self._request.method not in _READS:
            return None
        return self._wait_after_failure()

    def wait_after_response(self, response: HttpResponse) -> float | None:
        """Return the delay before the next attempt; None if the response is final."""
        if response.status != 429 and response.status < 500:
            return None
        requested_s = retry_after_s(response)
        if requested_s is None:
            if response.status in _GATEWAY and self._request.method in _READS and not self._request.stream:
                return self._wait_after_failure()
            return None
        self._responses += 1
        if self._responses > self._policy.responses_max:
            return None
        return self._if_time(max(requested_s, self._policy.base_s) + self._policy.jitter * self._chance() * 0.2)

    def _wait_after_failure(self) -> float | None:
        self._errors += 1
        if self._errors > self._policy.errors_max:
            return None
        return self._if_time(self._policy.delay_s(self._errors, self._chance()))

    def _if_time(self, wait_s: float) -> float | None:
        end_s = self._time() - self._begin + wait_s
        timeout_s = self._request.timeout_s
        # Return the error now instead of after a wait whose following attempt would have no time left.
        if end_s > self._policy.total_s or (timeout_s is not None and end_s >= timeout_s):
            return None
        return wait_s


async def _discard(response: HttpResponse) -> None:
    """Discard a response. A short body is read so that the connection can be reused."""
    length = response.headers.get("content-length", "")
    try:
        # HTTP/1.1 can reuse a connection only after the whole body is read. For a long one, a new connection is
        # cheaper.
        if length.isdecimal() and int(length) <= _READ_BYTES_MAX:
            await response.read()
    except TransportError:
        pass
    finally:
        await response.aclose()
