"""Stages of a server between start and end."""

import asyncio


class LifecycleSignals:
    """Set by the process that runs the server; read by filters and health checks.

    started → serving → stopping (readyz fails) → draining (new requests are refused) → ended
    """

    def __init__(self) -> None:
        self.serving = False
        """Everything is loaded."""
        self.stopping = False
        """Shutdown was requested; requests are still served."""
        self.draining = False
        """New requests are refused."""
        self.stop_requested = asyncio.Event()

    def serve(self) -> None:
        """Report that everything is loaded."""
        self.serving = True

    def stop(self) -> None:
        """Request a shutdown."""
        self.stopping = True
        self.stop_requested.set()

    def drain(self) -> None:
        """Refuse new requests from now on."""
        self.draining = True
