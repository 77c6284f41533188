"""`IdentityLease`: a Lease in kube-system for each API server; expired Leases are removed.

Concurrency: `run` is one task, which ends by cancellation.
Source: kubernetes pkg/controlplane/apiserver/server.go, pkg/controlplane/controller/apiserverleasegc (1.36).
"""

import asyncio
import base64
import datetime
import hashlib
import logging
import uuid
from collections.abc import Awaitable, Callable
from typing import Final, NamedTuple

from sampan.core.object import Object
from sampan.core.time import Clock, add_seconds, format_micro_time, parse_micro_time
from sampan.registry.rest.metadata import fill_system_fields
from sampan.registry.rest.store import ResourceStore
from sampan.server.post_start_hooks.api_servers.keys import ANNOTATION, ServerKeys, annotation_of, differences, keys_of
from sampan.storage.encoding import decode, encode
from sampan.storage.records import Record
from sampan.storage.store import Conflict, KeyExists

DURATION_S: Final = 3600
RENEW_INTERVAL_S: Final = 10.0
COLLECT_INTERVAL_S: Final = 3600.0
NAMESPACE: Final = "kube-system"
COMPONENT_LABEL: Final = "apiserver.kubernetes.io/identity"
COMPONENT: Final = "kube-apiserver"
LATELY: Final = datetime.timedelta(seconds=3 * RENEW_INTERVAL_S)
"""Time since the last renewal of its Lease after which a server is considered stopped."""
_HOSTNAME_LABEL: Final = "kubernetes.io/hostname"
_log = logging.getLogger(__name__)


class ServerName(NamedTuple):
    """Identifies a server: the name of the host, and the port, because several servers may run on one host."""

    hostname: str
    port: int

    @property
    def lease(self) -> str:
        """Return the name of the server's Lease."""
        digest = hashlib.sha256(f"{self.hostname}:{self.port}".encode()).digest()[:16]
        return f"apiserver-{base64.b32encode(digest).decode().rstrip('=').lower()}"


class IdentityLease:
    """Keeps this server's Lease. Compares this server's `keys` with those in the Leases of running servers."""

    def __init__(self, leases: ResourceStore, clock: Clock, name: ServerName, keys: ServerKeys | None = None) -> None:
        self._leases = leases
        self._clock = clock
        self._name = name
        self._keys = keys or {}
        self._warned: set[str] = set()
        self._began = clock.now()
        self._holder = f"{name.lease}_{uuid.uuid4()}"

    async def run(self, sleep: Callable[[float], Awaitable[object]] = asyncio.sleep) -> None:
        """Renew the Lease, and remove expired ones every hour, until cancelled."""
        per_collection = int(COLLECT_INTERVAL_S / RENEW_INTERVAL_S)
        times = 0
        while True:
            try:
                await self.renew()
                self.compare()
                if times % per_collection == 0:
                    await self.collect()
            except Exception as error:
                _log.warning("cannot renew the identity Lease of this server; retrying", extra={"error": str(error)})
            times += 1
            await sleep(RENEW_INTERVAL_S)

    async def renew(self) -> None:
        """Create or renew the Lease."""
        store = self._leases.store
        key = self._leases.key(NAMESPACE, self._name.lease)
        row = await store.get(key)
        try:
            if row is None:
                await store.create(key, encode(self._made()))
            else:
                await store.update(key, encode(self._renewed(decode(row.value))), row.mod_revision)
        except (Conflict, KeyExists):
            return  # another server with this name wrote the Lease; the next call succeeds

    async def remove(self) -> None:
        """Delete the Lease if this server is still its holder."""
        row = await self._leases.store.get(self._leases.key(NAMESPACE, self._name.lease))
        if row is None or decode(row.value)["spec"].get("holderIdentity") != self._holder:
            return
        await self._delete(row.key, row.mod_revision)

    async def collect(self) -> None:
        """Delete expired Leases."""
        for record in self._present():
            if self._expired(decode(record.value)):
                await self._delete(record.key, record.revision)

    def compare(self) -> list[str]:
        """Compare the keys with those of the other running servers. Log each difference once, and return all
        differences.
        """
        found: list[str] = []
        for record in self._present():
            lease = decode(record.value)
            if record.name != self._name.lease and self._renewed_lately(lease):
                other = keys_of((lease["metadata"].get("annotations") or {}).get(ANNOTATION, ""))
                found += [f"{record.name}: {text}" for text in differences(self._keys, other)]
        for text in found:
            if text not in self._warned:
                _log.error("clients of this server are unknown to the server %s (docs/etcd.md)", text)
        self._warned.update(found)
        return found

    def _present(self) -> list[Record]:
        """Return the Leases of all servers."""
        cache = self._leases.cache
        cache.poll_events()
        records = cache.list(self._leases.scope_prefix(NAMESPACE)).records
        return [record for record in records if record.labels.get(COMPONENT_LABEL) == COMPONENT]

    async def _delete(self, key: str, revision: int) -> None:
        try:
            await self._leases.store.delete(key, revision)
        except Conflict:
            return  # the Lease was renewed, or another server removed it

    def _expired(self, lease: Object) -> bool:
        spec = lease.get("spec") or {}
        if not spec.get("renewTime") or not spec.get("leaseDurationSeconds"):
            return True
        return add_seconds(parse_micro_time(spec["renewTime"]), spec["leaseDurationSeconds"]) < self._clock.now()

    def _renewed_lately(self, lease: Object) -> bool:
        renewed = (lease.get("spec") or {}).get("renewTime")
        # A snapshot contains the Leases of the servers that ran when it was saved, also of this one with another port.
        # A server that runs renews its Lease again after this one has started.
        return renewed is not None and self._clock.now() - LATELY < parse_micro_time(renewed) > self._began

    def _made(self) -> Object:
        metadata: Object = {"name": self._name.lease, "namespace": NAMESPACE, "labels": self._labels()}
        if self._keys:
            metadata["annotations"] = self._annotations()
        fill_system_fields(metadata, self._clock)
        return {"kind": "Lease", "apiVersion": "coordination.k8s.io/v1", "metadata": metadata, "spec": self._spec()}

    def _renewed(self, lease: Object) -> Object:
        metadata = lease["metadata"]
        labels = {**(metadata.get("labels") or {}), **self._labels()}
        metadata = {**metadata, "labels": labels}
        if self._keys:
            metadata["annotations"] = {**(metadata.get("annotations") or {}), **self._annotations()}
        return {**lease, "metadata": metadata, "spec": {**lease["spec"], **self._spec()}}

    def _annotations(self) -> dict[str, str]:
        return {ANNOTATION: annotation_of(self._keys)}

    def _labels(self) -> dict[str, str]:
        return {COMPONENT_LABEL: COMPONENT, _HOSTNAME_LABEL: self._name.hostname}

    def _spec(self) -> Object:
        renewed = format_micro_time(self._clock.now())
        return {"holderIdentity": self._holder, "leaseDurationSeconds": DURATION_S, "renewTime": renewed}
