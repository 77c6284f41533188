"""`PolicyStatus`: writes type warnings to the status of each ValidatingAdmissionPolicy.

Concurrency: `run` is one task with one watch of the policies, which is buffered in the watch cache. Policies are
checked in sequence, once for each generation. As in Kubernetes, a changed CRD does not repeat the check. Ends by
cancellation.

Source: kubernetes pkg/controller/validatingadmissionpolicystatus/controller.go (1.36).
"""

import asyncio
import logging
from typing import Final

from sampan.core.errors import Reason, StatusError
from sampan.core.object import Object
from sampan.core.time import timestamp
from sampan.registry.cluster import Cluster
from sampan.registry.strategy import Context
from sampan.registry.write.own import UpdateOptions, update
from sampan.registry.write.write import Part
from sampan.server.admission.matching.forms import normalise
from sampan.server.admission.policy.type_checking import TypeChecker
from sampan.storage.encoding import decode
from sampan.storage.records import CacheReset, WatcherTooSlow
from sampan.storage.store import STORE_ERRORS

MANAGER: Final = "validatingadmissionpolicy-status"
RETRY_S: Final = 1.0
_GROUP: Final = "admissionregistration.k8s.io"
_RESOURCE: Final = "validatingadmissionpolicies"

_log = logging.getLogger("sampan.admission")


class PolicyStatus:
    """Loop of one server. Several servers on one store write the same status."""

    def __init__(self, cluster: Cluster) -> None:
        self._cluster = cluster
        self._checker = TypeChecker(cluster)

    async def run(self) -> None:
        """Keep the statuses current, until cancelled."""
        while True:
            try:
                await self._follow()
                await asyncio.sleep(RETRY_S)
            except (CacheReset, WatcherTooSlow):
                _log.info("watch of %s ended; listing again", _RESOURCE)

    async def _follow(self) -> None:
        """Check each policy that exists or changes. Return after a failed write, so that all policies are checked
        again.
        """
        definition = self._cluster.registry.get(_GROUP, _RESOURCE)
        assert definition is not None
        cache = self._cluster.caches[definition.storage_prefix]
        failed = False
        async with cache.watch(cache.prefix, initial=True) as watcher:
            while not failed:
                for kind, event in (await watcher.next(None)).events:
                    if kind != "DELETED":
                        failed |= not await self._settle(decode(event.record.value))

    async def _settle(self, policy: Object) -> bool:
        """Write the status of a policy if the status is of an older generation. Return False if the write failed."""
        if not _is_behind(policy):
            return True
        name = policy["metadata"]["name"]
        try:
            await self._write(name, policy, await self._checker.check(policy))
        except (StatusError, *STORE_ERRORS) as error:
            if isinstance(error, StatusError) and error.reason is Reason.NOT_FOUND:
                return True
            _log.warning("cannot write the status of ValidatingAdmissionPolicy %s: %s; retrying", name, error)
            return False
        return True

    async def _write(self, name: str, policy: Object, warnings: list[Object]) -> None:
        endpoint = self._cluster.endpoint(_GROUP, "v1", _RESOURCE)
        assert endpoint is not None
        metadata = policy["metadata"]
        config: Object = {
            "apiVersion": endpoint.api_version,
            "kind": endpoint.definition.kind,
            "metadata": {"name": name},
            "status": {
                "observedGeneration": metadata["generation"],
                "typeChecking": {"expressionWarnings": warnings} if warnings else {},
            },
        }

        def edit(obj: Object, old: Object) -> Object:
            current = obj["metadata"]
            if (current["uid"], current.get("generation")) != (metadata["uid"], metadata["generation"]):
                return obj  # the event of its newest generation will follow
            applied = endpoint.field_manager("status").apply(
                endpoint.from_hub(obj),
                config,
                manager=MANAGER,
                api_version=endpoint.api_version,
                subresource="status",
                force=True,
                now=timestamp(self._cluster.clock),
            )
            normalise(applied, endpoint)
            return endpoint.to_hub(applied)

        context = Context(user="system:apiserver", groups=("system:masters",), name=name)
        options = UpdateOptions(part=Part.STATUS, keeps_managed_fields=True)
        await update(endpoint.store, context, edit, self._cluster.clock, options)


def _is_behind(policy: Object) -> bool:
    observed = (policy.get("status") or {}).get("observedGeneration", 0)
    return bool(policy["metadata"].get("generation", 0) > observed)
