"""A transport on which some requests fail."""

from collections.abc import Callable

from sampan.client.http.answer import Answer
from sampan.client.transport import HttpRequest, Transport

Fault = Callable[[HttpRequest], Exception | None]


class Faulty:
    """Another transport, as long as `fault` finds nothing wrong with a request; it may be replaced."""

    def __init__(self, inner: Transport, fault: Fault | None = None) -> None:
        self._inner = inner
        self.fault = fault

    async def send(self, request: HttpRequest) -> Answer:
        """Send it, or fail."""
        error = self.fault(request) if self.fault else None
        if error is not None:
            raise error
        answer = await self._inner.send(request)
        assert isinstance(answer, Answer)
        return answer

    async def aclose(self) -> None:
        """Close the other one."""
        await self._inner.aclose()
