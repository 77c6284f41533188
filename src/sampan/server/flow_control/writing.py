"""The time at which a response counts as written, and its seat is free again."""

from typing import Final

from sampan.server.request import Response, Seat

WRITTEN_AT_ONCE_BYTES: Final = 64 << 10
"""Size up to which a response counts as written when it is made. Transports buffer as much."""


def release_when_written(response: Response, seat: Seat) -> None:
    """Release the seat when the response is written or aborted: at once if it is small."""
    if response.stream is None and not response.rest and len(response.body) <= WRITTEN_AT_ONCE_BYTES:
        seat.release()
    else:
        response.at_end(seat.release)
