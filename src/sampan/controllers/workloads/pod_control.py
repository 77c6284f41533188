"""Creation and deletion of an owner's Pods, recorded as events.

Source: kube-controller-manager pkg/controller/controller_utils.go `RealPodControl`, `GetPodFromTemplate` (1.36).
"""

from __future__ import annotations

import copy
from collections.abc import Mapping
from typing import Any, Final

from sampan.client import ApiError, DeleteOptions, NotFound
from sampan.component_base.context import ControllerContext
from sampan.component_base.resources import PODS
from sampan.core.validation.names import dns1123_subdomain_errors
from sampan.kinds import core_v1, meta_v1
from sampan.operator.caches.cached_client import CachedResourceClient
from sampan.operator.events import EventRecorder
from sampan.operator.owners.references import set_controller_reference
from sampan.resource import meta

NAMESPACE_TERMINATING: Final = "NamespaceTerminating"
"""Cause of the error for creating an object in a namespace that is being deleted. Callers ignore that error."""


def pod_from_template(
    template: core_v1.PodTemplateSpec, owner: Mapping[str, Any], *, generate_name: str = ""
) -> core_v1.Pod:
    """Return the Pod that a template describes, controlled by `owner`. The server completes its generated name."""
    template_metadata = template.get("metadata") or {}
    metadata: meta_v1.ObjectMeta = {"generateName": generate_name or _prefix(meta(owner).name)}
    if template_metadata.get("labels"):
        metadata["labels"] = copy.copy(template_metadata["labels"])
    if template_metadata.get("annotations"):
        metadata["annotations"] = copy.copy(template_metadata["annotations"])
    if template_metadata.get("finalizers"):
        metadata["finalizers"] = copy.copy(template_metadata["finalizers"])
    pod: core_v1.Pod = {"apiVersion": "v1", "kind": "Pod", "metadata": metadata, "spec": copy.copy(template["spec"])}
    # After the copied fields: a template cannot choose another namespace than its owner's.
    metadata["namespace"] = meta(owner).namespace
    set_controller_reference(owner, pod)
    return pod


def _prefix(name: str) -> str:
    """Return the prefix of a Pod's name: the owner's name and a hyphen, or the name alone if that would be invalid."""
    prefix = f"{name}-"
    return name if dns1123_subdomain_errors(prefix, prefix=True) else prefix


class PodControl:
    """Creates and deletes Pods for a controller, and records events about these actions on the owner."""

    def __init__(self, context: ControllerContext, recorder: EventRecorder) -> None:
        pods: CachedResourceClient[Any] = context.manager.client.resource(PODS, namespace="")
        self._pods: CachedResourceClient[core_v1.Pod] = pods
        self._recorder = recorder

    async def create(self, pod: core_v1.Pod, owner: Mapping[str, Any]) -> core_v1.Pod | None:
        """Create a Pod; None if its namespace is being deleted. Raises `ApiError`, `TransportError`."""
        metadata = meta(pod)
        try:
            created = await self._pods.in_namespace(metadata.namespace).create(pod)
        except ApiError as error:
            # The namespace's deletion will remove the owner, too. A retry would fail until then.
            if error.has_cause(NAMESPACE_TERMINATING):
                return None
            self._recorder.warning(owner, "FailedCreate", f"Error creating: {error}")
            raise
        self._recorder.normal(owner, "SuccessfulCreate", f"Created pod: {meta(created).name}")
        return created

    async def delete(self, pod: Any, owner: Mapping[str, Any]) -> None:
        """Delete a Pod. Do nothing if it is gone.

        The UID guards against deleting a new Pod of the same name. Raises `ApiError`, `TransportError`.
        """
        metadata = meta(pod)
        try:
            await self._pods.in_namespace(metadata.namespace).delete(metadata.name, DeleteOptions(uid=metadata.uid))
        except NotFound:
            return
        except ApiError as error:
            self._recorder.warning(owner, "FailedDelete", f"Error deleting: {error}")
            raise
        self._recorder.normal(owner, "SuccessfulDelete", f"Deleted pod: {metadata.name}")
