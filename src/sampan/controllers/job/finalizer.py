"""Removal of the tracking finalizer from Pods."""

import asyncio
from collections.abc import Sequence

from sampan.client import ClientError, Conflict, NotFound, StrategicMergePatch
from sampan.component_base.context import ControllerContext
from sampan.component_base.views import POD_VIEW, Pod
from sampan.controllers.job.state import TRACKING_FINALIZER, is_tracked


class FinalizerRemoval:
    """Removes the tracking finalizer from Pods, each identified by its UID."""

    def __init__(self, context: ControllerContext) -> None:
        self._pods = context.manager.client.resource(POD_VIEW, namespace="")

    async def release(self, pod: Pod, *, unchanged: bool = False) -> None:
        """Remove the finalizer from one Pod; do nothing if the Pod is gone.

        With `unchanged`, the patch applies only to the version that was read.

        Raises `Conflict` if the Pod has changed, `ClientError` for other failures.
        """
        if not is_tracked(pod):
            return
        metadata = pod.metadata
        change = {"uid": metadata.uid, "$deleteFromPrimitiveList/finalizers": [TRACKING_FINALIZER]}
        if unchanged:
            change["resourceVersion"] = metadata.resource_version
        try:
            await self._pods.in_namespace(metadata.namespace).patch(
                metadata.name, StrategicMergePatch({"metadata": change})
            )
        except NotFound:
            pass
        except Conflict:
            # If another Pod has the name by now, this Pod is gone.
            if await self._exists(pod):
                raise

    async def release_all(self, pods: Sequence[Pod]) -> tuple[set[str], ClientError | None]:
        """Remove the finalizer from Pods. Return the UIDs of those that have none now, and the first error, if any."""
        results = await asyncio.gather(*map(self.release, pods), return_exceptions=True)
        released: set[str] = set()
        failure: ClientError | None = None
        for pod, result in zip(pods, results, strict=True):
            if result is None:
                released.add(pod.metadata.uid)
            elif isinstance(result, ClientError):
                failure = failure or result
            else:
                raise result
        return released, failure

    async def _exists(self, pod: Pod) -> bool:
        try:
            found = await self._pods.in_namespace(pod.metadata.namespace).get(pod.metadata.name)
        except NotFound:
            return False
        return found.metadata.uid == pod.metadata.uid
