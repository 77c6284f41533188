"""`ReviewEndpoint`: handles one path of the webhook server."""

from dataclasses import dataclass
from typing import Protocol


@dataclass(frozen=True, slots=True)
class EndpointResponse:
    """HTTP code and JSON body."""

    code: int
    body: bytes


class ReviewEndpoint(Protocol):
    """Handles the reviews of one path."""

    @property
    def body_bytes_max(self) -> int:
        """Limit of the body size."""
        ...

    async def respond(self, body: bytes) -> EndpointResponse:
        """Return the response to a review. An exception is logged, and the client gets 500."""
        ...
