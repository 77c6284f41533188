"""`Scraper`: reads /metrics/resource of all kubelets while clients want metrics.

Nothing is scraped until the first request for metrics, and after `idle_after_s` without one. An autoscaler requests
them every 15 seconds. So a cluster without an autoscaler has no cost, and no client waits for longer than the first
two scrapes.

Concurrency: `run` owns the loop, and for each scrape a task for each node, `concurrency` at a time. It is the only
writer of the history. `request` is called by requests.
"""

import asyncio
import logging
from collections.abc import Mapping
from contextlib import suppress

from sampan.core.clock import monotonic, unix_time
from sampan.core.errors import StatusError
from sampan.core.event_loop.offload import LARGE_BYTES, Offload
from sampan.registry.reader import CacheReader
from sampan.server.proxy.exchange import Outgoing
from sampan.server.proxy.target import ProxyTarget
from sampan.server.proxy.upstreams import ProxyUpstreams
from sampan.server.resource_metrics.history import History
from sampan.server.resource_metrics.points import Point, PointKey, read_points
from sampan.server.resource_metrics.settings import ResourceMetricsSettings

_log = logging.getLogger("sampan.resource_metrics")

PATH = "/metrics/resource"


class Unusable(Exception):
    """The kubelet sent no usable response; the text has the reason."""


class Scraper:
    """Keeps a `History` current while clients request metrics. The caller runs `run`."""

    def __init__(
        self, reader: CacheReader, upstreams: ProxyUpstreams, offload: Offload, settings: ResourceMetricsSettings
    ) -> None:
        self.history = History(settings.resolution_s)
        self._reader = reader
        self._upstreams = upstreams
        self._offload = offload
        self._settings = settings
        self._requested_at = monotonic() - settings.idle_after_s
        self._requested = asyncio.Event()
        self._warm = asyncio.Event()
        self._failed: dict[str, str] = {}

    async def request(self) -> None:
        """Keep scraping for a while. Wait for the first two scrapes, if they are not done, within the timeout."""
        self._requested_at = monotonic()
        self._requested.set()
        if not self._warm.is_set():
            with suppress(TimeoutError):
                async with asyncio.timeout(self._settings.timeout_s):
                    await self._warm.wait()

    async def run(self) -> None:
        """Scrape until cancelled."""
        settings = self._settings
        try:
            while True:
                await self._requested.wait()
                await self.scrape()
                await asyncio.sleep(settings.first_window_s)
                while True:
                    await self.scrape()
                    self._warm.set()
                    await asyncio.sleep(settings.resolution_s)
                    if monotonic() - self._requested_at >= settings.idle_after_s:
                        break
                self._forget()
        finally:
            self._forget()

    def _forget(self) -> None:
        self._requested.clear()
        self._warm.clear()
        self.history.clear()
        self._failed.clear()

    async def scrape(self) -> None:
        """Read all nodes once. A node that does not respond has no metrics until it does."""
        free = asyncio.Semaphore(self._settings.concurrency)
        names = [record.name for record in self._reader.records("", "nodes")]
        async with asyncio.TaskGroup() as group:
            tasks = {name: group.create_task(self._points(name, free), name=f"metrics of {name}") for name in names}
        scraped = {name: task.result() for name, task in tasks.items()}
        self.history.replace({name: points for name, points in scraped.items() if points is not None})
        for name in self._failed.keys() - scraped.keys():
            del self._failed[name]

    async def _points(self, node: str, free: asyncio.Semaphore) -> Mapping[PointKey, Point] | None:
        async with free:
            try:
                async with asyncio.timeout(self._settings.timeout_s):
                    points = await self._read(node)
            except TimeoutError:
                self._note(node, f"no complete response within {self._settings.timeout_s:g} seconds")
            except (StatusError, Unusable, OSError) as error:
                self._note(node, str(error))
            else:
                self._failed.pop(node, None)
                return points
        return None

    def _note(self, node: str, text: str) -> None:
        """Log a failure when it is new, as scrapes repeat it."""
        if self._failed.get(node) != text:
            self._failed[node] = text
            _log.warning("cannot read the metrics of a node", extra={"node": node, "error": text})

    async def _read(self, node: str) -> Mapping[PointKey, Point]:
        """Return the points of one node. **Raises** `StatusError`, `OSError`, `Unusable`."""
        kubelet = self._upstreams.kubelets.of(node)
        target = ProxyTarget(kubelet.host, kubelet.port, PATH, "", kubelet.tls, way=kubelet.way)
        headers = {"host": target.netloc, "user-agent": "sampan", "accept": "text/plain", "accept-encoding": "identity"}
        exchange = await self._upstreams.kubelet_proxy.send(target, Outgoing("GET", headers))
        try:
            if exchange.response.status != 200:
                raise Unusable(f"{target.url} returned {exchange.response.status}")
            body = bytearray()
            async for piece in exchange:
                body += piece
                if len(body) > self._settings.body_bytes_max:
                    raise Unusable(f"{target.url} returned more than {self._settings.body_bytes_max} bytes")
        finally:
            await exchange.aclose()
        if len(body) < LARGE_BYTES:
            return read_points(bytes(body), unix_time())
        return await self._offload.run(len(body), read_points, bytes(body), unix_time())
