"""`set_up`: adds a DNS server to a manager.

Concurrency: the manager runs the server, the publication of its address, and one search for a forwarding loop.
"""

import asyncio
import logging
from collections.abc import Sequence
from typing import Final

from sampan.component_base.context import ControllerContext
from sampan.component_base.resources import NAMESPACES
from sampan.dns.forwarder import Forwarder
from sampan.dns.names import parse_name
from sampan.dns.objects import SERVICE_VIEW, SLICE_VIEW, ClusterObjects
from sampan.dns.publication import Publication
from sampan.dns.resolver import Resolver
from sampan.dns.server import DnsServer
from sampan.dns.settings import DnsSettings
from sampan.dns.upstreams import Nameserver, Upstreams
from sampan.dns.zone import ClusterZone
from sampan.operator.manager import Group

RETRY_S: Final = 30.0

_log = logging.getLogger("sampan.dns")


def set_up(
    context: ControllerContext, settings: DnsSettings, own_address: str, *, keeps_running: bool = False
) -> DnsServer:
    """Add a DNS server, and return it.

    `own_address` is the machine's address; the server listens there unless `bind` is set. `keeps_running`: if the
    server cannot listen, log the error and retry, because other components of the process must continue.
    """
    hosts = settings.bind or (own_address,)
    services = context.informer(SERVICE_VIEW)
    namespaces = context.manager.informers.metadata_informer_for(NAMESPACES)
    objects = ClusterObjects(services, context.informer(SLICE_VIEW), namespaces)
    synced = asyncio.Event()

    def servers() -> list[str]:
        found = objects.service("kube-system", "kube-dns")
        return list(hosts) if found is None else found.addresses

    def serial() -> int:
        version = services.last_resource_version
        return int(version) & 0xFFFFFFFF if version.isdecimal() else 1

    zone = ClusterZone(objects, parse_name(settings.domain), ttl_s=settings.ttl_s, servers=servers, serial=serial)
    own = frozenset(Nameserver(host, settings.port) for host in hosts)
    forwarder = Forwarder(Upstreams(settings.forward, settings.resolv_conf, own))
    # Next to a server, the address has one option; `sampan dns` has two.
    options = "--dns-address HOST:PORT" if keeps_running else "another --bind or --port"
    server = DnsServer(Resolver(zone, forwarder, synced.is_set), hosts, settings.port, options=options)

    async def start() -> None:
        await objects.synced()
        synced.set()
        await server.ready()
        await forwarder.detect_loop()

    async def serving() -> None:
        await synced.wait()
        await server.ready()

    context.manager.add(_KeptRunning(server) if keeps_running else server, group=Group.OTHERS)
    context.manager.add(start, group=Group.OTHERS)
    if settings.publish:
        client = context.manager.client.direct
        published = _published(hosts, own_address)
        publication = Publication(
            client, published, lambda: server.port, serving=serving, cluster_ip=settings.cluster_ip
        )
        context.manager.add(publication, group=Group.OTHERS)
    return server


def _published(hosts: Sequence[str], own_address: str) -> list[str]:
    """Return the addresses for the EndpointSlices; a wildcard address is replaced by the machine's own address."""
    return list(dict.fromkeys(own_address if host in ("0.0.0.0", "::") else host for host in hosts))


class _KeptRunning:
    """Runs a server again after a failure."""

    def __init__(self, server: DnsServer) -> None:
        self._server = server

    def __str__(self) -> str:
        return str(self._server)

    async def run(self) -> None:
        """Run until cancelled."""
        while True:
            try:
                await self._server.run()
            except OSError as error:
                _log.error("DNS server ended, retrying: %s", error, extra={"seconds": RETRY_S})
                await asyncio.sleep(RETRY_S)
