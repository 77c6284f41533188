"""`Endpoint`: what answers at one path of the webhook server, whatever is spoken there."""

from dataclasses import dataclass
from typing import Protocol


@dataclass(frozen=True, slots=True)
class EndpointAnswer:
    """An HTTP code and a JSON body."""

    code: int
    body: bytes


class Endpoint(Protocol):
    """Answers the reviews of one path."""

    @property
    def body_bytes_max(self) -> int:
        """The longest body that is read."""
        ...

    async def answer(self, body: bytes) -> EndpointAnswer:
        """The answer to a review. What it raises is logged and answered with 500."""
        ...
