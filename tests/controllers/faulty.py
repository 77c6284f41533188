"""A transport that fails some requests."""

from collections.abc import Callable

from sampan.client.transport import HttpRequest, Transport
from sampan.http.client.pending_response import PendingResponse

Fault = Callable[[HttpRequest], Exception | None]


class Faulty:
    """Passes requests to another transport unless `fault` returns an error. Tests may replace `fault`."""

    def __init__(self, inner: Transport, fault: Fault | None = None) -> None:
        self._inner = inner
        self.fault = fault

    async def send(self, request: HttpRequest) -> PendingResponse:
        """Send the request, or raise the error."""
        error = self.fault(request) if self.fault else None
        if error is not None:
            raise error
        response = await self._inner.send(request)
        assert isinstance(response, PendingResponse)
        return response

    async def aclose(self) -> None:
        """Close the other transport."""
        await self._inner.aclose()
