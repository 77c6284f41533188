"""`Lifecycle`: where a server stands between its start and its end."""

import asyncio


class Lifecycle:
    """Set by the one that runs the server, read by filters and health checks.

    started → serving → stopping (readyz fails) → draining (new requests are refused) → ended
    """

    def __init__(self) -> None:
        self.serving = False
        """Everything that was to be loaded has been."""
        self.stopping = False
        """The end was asked for; requests are still answered."""
        self.draining = False
        """New requests are refused."""
        self.stop_requested = asyncio.Event()

    def stop(self) -> None:
        """Ask for the end."""
        self.stopping = True
        self.stop_requested.set()
