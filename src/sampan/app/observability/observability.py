"""`Observability`: audit and tracing of a server's requests.

Concurrency: `run` owns the tasks that record and send. They end by cancellation, after everything is recorded.
"""

import asyncio

from sampan.app.observability.audit import audit_of
from sampan.app.observability.tracing import collector_of
from sampan.app.settings.up import UpSettings
from sampan.registry.cluster import Cluster


class Observability:
    """Audit and spans of one server. Raises `StartError`."""

    def __init__(self, settings: UpSettings, cluster: Cluster) -> None:
        self.audit = audit_of(settings.audit, cluster)
        self._collector = collector_of(settings.tracing_config_file)
        self.tracer = self._collector.tracer if self._collector is not None else None

    async def run(self) -> None:
        """Record and send, until cancelled."""
        try:
            if self.audit is not None:
                await self.audit.run()
            await asyncio.Event().wait()
        finally:
            if self._collector is not None:
                await asyncio.to_thread(self._collector.end)
