"""`NamespaceContent`: deletes all objects in a namespace, of every resource the server has.

Source: kube-controller-manager pkg/controller/namespace/deletion/namespaced_resources_deleter.go (1.36).

Unlike in Kubernetes, it sends no delete request for a resource without objects: a namespace has none of most resources.
The conditions count the remaining Pods too.
"""

import datetime as dt
from collections.abc import Sequence
from typing import Final

from sampan.client import Client, ClientError, DeleteOptions, MethodNotAllowed, NotFound
from sampan.client.discovery.discover import Discovered, discover
from sampan.client.discovery.rest_mapper import preferred
from sampan.component_base.resources import PODS
from sampan.component_base.views import POD_VIEW
from sampan.controllers.namespace.conditions import Findings
from sampan.core.time import Clock
from sampan.resource import ObjectMeta, ResourceInfo

FINALIZERS_ESTIMATE_S: Final = 15
"""Estimated seconds that finalizers take."""
_BACKGROUND: Final = DeleteOptions(propagation_policy="Background")


class NamespaceContent:
    """Deletes the content of namespaces."""

    def __init__(self, client: Client, clock: Clock) -> None:
        self._client = client
        self._clock = clock

    async def delete(self, namespace: str, deleted_at: dt.datetime) -> Findings:
        """Make one pass and return its findings: delete the Pods first, and everything else once no Pod remains."""
        findings = Findings()
        resources = _deletable(await self._discovered(findings))
        for info in (each for each in resources if each.gvr == PODS.gvr):
            await self._delete_pods(info, namespace, deleted_at, findings)
        if not findings.remaining:
            for info in (each for each in resources if each.gvr != PODS.gvr):
                await self._delete_all(info, namespace, 0, findings)
        return findings

    async def _discovered(self, findings: Findings) -> Discovered:
        """Discover the server's resources. A partial failure does not stop the deletion of the resources found."""
        try:
            found = await discover(self._client.rest)
        except ClientError as error:
            findings.discovery_failures, findings.is_discovery_partial = [str(error)], False
            return Discovered({})
        except ValueError as error:
            findings.version_failure = str(error)
            return Discovered({})
        findings.discovery_failures = [f"{group_version}: {error}" for group_version, error in found.failed.items()]
        return found

    async def _delete_pods(
        self, info: ResourceInfo, namespace: str, deleted_at: dt.datetime, findings: Findings
    ) -> None:
        try:
            grace_s = await self._grace_s(namespace, deleted_at)
        except ClientError as error:
            findings.content_failures.append(str(error))
            return
        await self._delete_all(info, namespace, grace_s, findings)

    async def _grace_s(self, namespace: str, deleted_at: dt.datetime) -> int:
        """Return the longest remaining grace period of the Pods in seconds; 0 if it is over."""
        pods = await self._client.resource(POD_VIEW, namespace=namespace).list()
        graces = [pod.spec.termination_grace_period_seconds or 0 for pod in pods if not pod.is_terminated]
        grace_s = max(graces, default=0)
        return 0 if (self._clock.now() - deleted_at).total_seconds() >= grace_s else grace_s

    async def _delete_all(self, info: ResourceInfo, namespace: str, estimate_s: int, findings: Findings) -> None:
        """Delete the objects of one resource and record in `findings` those that remain."""
        left: Sequence[ObjectMeta] = ()
        try:
            if await self._present(info, namespace):
                await self._delete_present(info, namespace)
                left = await self._present(info, namespace)
        except ClientError as error:
            findings.content_failures.append(str(error))
        if not left:
            return
        finalizers = [finalizer for metadata in left for finalizer in metadata.finalizers]
        findings.remaining[info.gvr] += len(left)
        findings.finalizers.update(finalizers)
        if not estimate_s and finalizers:
            estimate_s = FINALIZERS_ESTIMATE_S
        if not estimate_s:
            text = f"unexpected items still remain in namespace: {namespace} for gvr: {info.gvr}"
            findings.content_failures.append(text)
        findings.estimate_s = max(findings.estimate_s, estimate_s)

    async def _present(self, info: ResourceInfo, namespace: str) -> Sequence[ObjectMeta]:
        """Return the metadata of the current objects; an empty list if the resource cannot be listed."""
        if "list" not in info.verbs:
            return ()
        objects = self._client.resource(info, namespace=namespace).metadata_only()
        try:
            return [obj.metadata for obj in await objects.list_all()]
        except (NotFound, MethodNotAllowed):
            return ()

    async def _delete_present(self, info: ResourceInfo, namespace: str) -> None:
        objects = self._client.resource(info, namespace=namespace).metadata_only()
        if "deletecollection" in info.verbs:
            try:
                await objects.delete_collection(_BACKGROUND)
                return
            except (NotFound, MethodNotAllowed):
                pass
        for metadata in await self._present(info, namespace):
            try:
                await objects.delete(metadata.name, _BACKGROUND)
            except (NotFound, MethodNotAllowed):
                pass


def _deletable(discovered: Discovered) -> list[ResourceInfo]:
    """Return the namespaced resources that support deletion, each in its preferred version."""
    return [info for info in preferred(discovered) if info.namespaced and "delete" in info.verbs]
