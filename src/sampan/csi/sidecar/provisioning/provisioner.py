"""`Provisioner`: creates volumes for claims.

A volume has the name `pvc-<UID of the claim>` at each attempt, so the driver creates it only once. If the result of an
attempt is unknown, the attempt is repeated until the result is known, even if the claim was deleted. In that case, the
PersistentVolume is created, released and deleted in the usual way.

Source: external-provisioner pkg/controller/controller.go; sig-storage-lib-external-provisioner
controller/controller.go.
"""

from __future__ import annotations

import random
from collections.abc import Callable
from typing import Final, NamedTuple

import grpc

from sampan.client import AlreadyExists, ApiError, TransportError
from sampan.component_base.context import ControllerContext
from sampan.component_base.resources import PERSISTENT_VOLUME_CLAIMS, PERSISTENT_VOLUMES, STORAGE_CLASSES
from sampan.core.clock import unix_time
from sampan.csi.errors import CsiError
from sampan.csi.messages import AnyMessage
from sampan.csi.sidecar.claims import SELECTED_NODE, class_name, provisioner_of, volume_name
from sampan.csi.sidecar.driver import Driver
from sampan.csi.sidecar.provisioning.content_source import ForeignSource
from sampan.csi.sidecar.provisioning.created_volume import persistent_volume
from sampan.csi.sidecar.provisioning.plan import Planner, ProvisioningPlan
from sampan.csi.sidecar.provisioning.topology import TopologyUnknown
from sampan.csi.sidecar.settings import SidecarSettings
from sampan.kinds import core_v1, storage_v1
from sampan.operator.request import Request, Result, RetryLater
from sampan.resource import meta

_UNCERTAIN: Final = frozenset(
    {
        grpc.StatusCode.CANCELLED,
        grpc.StatusCode.DEADLINE_EXCEEDED,
        grpc.StatusCode.UNAVAILABLE,
        grpc.StatusCode.ABORTED,
    }
)
"""Codes after which the driver may still be creating the volume."""


def no_refresh(class_name: str, volume: core_v1.PersistentVolume | None) -> None:
    """Do nothing: the capacity is not published."""


class _Desired(NamedTuple):
    claim: core_v1.PersistentVolumeClaim
    storage_class: storage_v1.StorageClass


class Provisioner:
    """Reconciler of claims that name the driver as their provisioner."""

    def __init__(
        self,
        context: ControllerContext,
        driver: Driver,
        settings: SidecarSettings,
        volume_changed: Callable[[str, core_v1.PersistentVolume | None], None] = no_refresh,
    ) -> None:
        """`volume_changed` is called with the class and the volume; without the volume if its creation has failed."""
        client = context.manager.client
        self._claims = client.resource(PERSISTENT_VOLUME_CLAIMS, namespace="")
        self._volumes = client.resource(PERSISTENT_VOLUMES)
        self._classes = client.resource(STORAGE_CLASSES)
        self._recorder = context.recorder(f"{driver.name.lower()}/external-provisioner")
        self._driver = driver
        self._settings = settings
        self._planner = Planner(client, driver, settings)
        self._identity = f"{int(unix_time() * 1000)}-{random.randrange(10_000)}-{driver.name}"
        self._volume_changed = volume_changed
        self._started: dict[Request, _Desired] = {}
        """Claims whose volumes may exist in the driver, but have no object yet."""

    async def reconcile(self, request: Request) -> Result | None:
        """Reconcile one claim. Raises `ApiError`, `TransportError`, `RetryLater`."""
        claim = await self._claims.find(request)
        started = self._started.get(request)
        if started is not None and (claim is None or meta(claim).uid != meta(started.claim).uid):
            await self._provision(request, started)
        if claim is None or not self._is_ours(claim):
            return None
        storage_class = await self._classes.find(Request("", class_name(claim)))
        if storage_class is None:
            raise RetryLater(f'storageClass "{class_name(claim)}" not found')
        if storage_class.get("provisioner") != self._driver.name or _waits(claim, storage_class):
            return None
        return await self._provision(request, _Desired(claim, storage_class))

    def _is_ours(self, claim: core_v1.PersistentVolumeClaim) -> bool:
        """Return True if a claim waits for a volume of this driver."""
        if claim["spec"].get("volumeName") or provisioner_of(claim) != self._driver.name:
            return False
        return meta(claim).deletion_timestamp is None

    async def _provision(self, request: Request, desired: _Desired) -> Result | None:
        claim = desired.claim
        if await self._volumes.find(Request("", volume_name(claim))) is not None:
            self._started.pop(request, None)
            return None
        note = f'External provisioner is provisioning volume for claim "{request}"'
        self._recorder.normal(claim, "Provisioning", note)
        try:
            plan = await self._planner.plan(claim, desired.storage_class)
        except ForeignSource:
            note = "Assuming an external populator will provision the volume"
            self._recorder.normal(claim, "Provisioning", note)
            return None
        except (ValueError, TopologyUnknown, ApiError, TransportError) as error:
            self._recorder.warning(claim, "ProvisioningFailed", str(error))
            raise RetryLater(str(error)) from error
        self._started[request] = desired
        try:
            created = (await self._driver.call("CreateVolume", **plan.request)).volume
        except CsiError as error:
            self._volume_changed(class_name(claim), None)
            return await self._failed(request, claim, error)
        await self._check(claim, plan, created)
        await self._write(desired, plan, created)
        self._started.pop(request, None)
        return None

    async def _failed(self, request: Request, claim: core_v1.PersistentVolumeClaim, error: CsiError) -> Result:
        """Report a failed CreateVolume.

        Return the long delay after a permanent failure. Raise `RetryLater` for other failures.
        """
        note = str(error)
        if error.code not in _UNCERTAIN:
            self._started.pop(request, None)
        if error.code is grpc.StatusCode.INVALID_ARGUMENT:
            note = f"Volume provisioning failed with infeasible error. Retries will be delayed. {note}"
        self._recorder.warning(claim, "ProvisioningFailed", note)
        if error.code is grpc.StatusCode.INVALID_ARGUMENT:
            return Result(self._settings.retry_interval_max_s)
        if error.code is grpc.StatusCode.RESOURCE_EXHAUSTED:
            await self._reschedule(claim)
        raise RetryLater(str(error)) from error

    async def _reschedule(self, claim: core_v1.PersistentVolumeClaim) -> None:
        """Let the scheduler select another node for the Pod of a claim, if the failure depends on the node."""
        annotations = dict(meta(claim).annotations)
        if self._driver.has_topology and annotations.pop(SELECTED_NODE, None) is not None:
            client = self._claims.in_namespace(meta(claim).namespace)
            await client.update({**claim, "metadata": {**claim["metadata"], "annotations": annotations}})

    async def _check(self, claim: core_v1.PersistentVolumeClaim, plan: ProvisioningPlan, created: AnyMessage) -> None:
        """If a volume does not match the request, delete it and raise `RetryLater`."""
        desired = plan.request["capacity_range"]["required_bytes"]
        reason = ""
        if 0 < created.capacity_bytes < desired:
            reason = f"created volume capacity {created.capacity_bytes} less than requested capacity {desired}"
        elif "volume_content_source" in plan.request and not created.HasField("content_source"):
            reason = "volume content source missing"
        if not reason:
            return
        try:
            await self._driver.call(
                "DeleteVolume", volume_id=created.volume_id, secrets=plan.request.get("secrets") or {}
            )
        except CsiError as error:
            reason += f". Cleanup of volume {plan.request['name']} failed, volume is orphaned: {error}"
        self._recorder.warning(claim, "ProvisioningFailed", reason)
        raise RetryLater(reason)

    async def _write(self, desired: _Desired, plan: ProvisioningPlan, created: AnyMessage) -> None:
        claim, storage_class = desired
        volume = persistent_volume(claim, storage_class, plan, created, self._driver, self._identity)
        self._volume_changed(class_name(claim), volume)
        try:
            await self._volumes.create(volume)
        except AlreadyExists:
            return
        except ApiError as error:
            note = f"Error creating provisioned PV object for claim {meta(claim).namespace}/{meta(claim).name}: {error}"
            self._recorder.warning(claim, "ProvisioningFailed", note)
            raise
        note = f"Successfully provisioned volume {meta(volume).name}"
        self._recorder.normal(claim, "ProvisioningSucceeded", note)


def _waits(claim: core_v1.PersistentVolumeClaim, storage_class: storage_v1.StorageClass) -> bool:
    """Return True if the scheduler has to select a node first."""
    late = storage_class.get("volumeBindingMode") == "WaitForFirstConsumer"
    return late and not meta(claim).annotations.get(SELECTED_NODE)
