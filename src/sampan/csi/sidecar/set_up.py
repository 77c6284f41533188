"""`set_up`: adds the sidecars of a driver to a manager.

Concurrency: each sidecar is a controller with its own workers. A failed call is repeated after a delay that grows with
each failure. Only the leader works.
"""

import logging
from collections.abc import Callable, Iterable
from typing import Any

from sampan.csi.attachments import index_by_volume, volume_of
from sampan.csi.sidecar.attached_volumes import AttachedVolumes
from sampan.csi.sidecar.attacher import Attacher, attachment_changed
from sampan.csi.sidecar.claims import class_name, provisioner_of
from sampan.csi.sidecar.driver import Driver
from sampan.csi.sidecar.provisioner import Provisioner
from sampan.csi.sidecar.reclaimer import Reclaimer
from sampan.csi.sidecar.resizer import Resizer, size_changed
from sampan.csi.sidecar.settings import SidecarSettings
from sampan.csi.sidecar.snapshot_binder import SnapshotBinder
from sampan.csi.sidecar.snapshots import VOLUME_SNAPSHOT_CONTENTS, VOLUME_SNAPSHOTS
from sampan.csi.sidecar.snapshotter import Snapshotter, content_changed
from sampan.informer.ref import Ref
from sampan.loops.context import ControllerContext
from sampan.loops.resources import (
    CSI_NODES,
    NODES,
    PERSISTENT_VOLUME_CLAIMS,
    PERSISTENT_VOLUMES,
    STORAGE_CLASSES,
    VOLUME_ATTACHMENTS,
)
from sampan.operator.builder import Builder
from sampan.operator.queue import ItemExponentialFailureRateLimiter
from sampan.operator.request import Request

_log = logging.getLogger("sampan.csi")


def set_up(context: ControllerContext, driver: Driver, settings: SidecarSettings, *, snapshots: bool = False) -> None:
    """Add the sidecars that the driver has capabilities for. `snapshots`: the server has the kinds of snapshots."""
    index_by_volume(context.informer(VOLUME_ATTACHMENTS))
    _set_up_attacher(context, driver, settings)
    if "CREATE_DELETE_VOLUME" in driver.controller:
        _set_up_provisioner(context, driver, settings)
    if "EXPAND_VOLUME" in driver.controller | driver.node:
        _set_up_resizer(context, driver, settings)
    if snapshots and "CREATE_DELETE_SNAPSHOT" in driver.controller:
        _set_up_snapshotter(context, driver, settings)
    capabilities = ", ".join(sorted(driver.controller)) or "none"
    _log.info("storage driver connected", extra={"driver": driver.name, "capabilities": capabilities})


def _options(settings: SidecarSettings) -> dict[str, Any]:
    limiter = ItemExponentialFailureRateLimiter(settings.retry_interval_start_s, settings.retry_interval_max_s)
    return {"max_concurrent_reconciles": settings.worker_threads, "rate_limiter": limiter}


def _set_up_attacher(context: ControllerContext, driver: Driver, settings: SidecarSettings) -> None:
    context.informer(CSI_NODES)
    (
        Builder(context.manager)
        .named("csi-attacher")
        .for_(VOLUME_ATTACHMENTS, predicates=[attachment_changed()])
        .with_options(**_options(settings))
        .complete(Attacher(context, driver, settings))
    )
    (
        Builder(context.manager)
        .named("csi-attached-volumes")
        .for_(PERSISTENT_VOLUMES)
        .watches(VOLUME_ATTACHMENTS, volume_of)
        .with_options(**_options(settings))
        .complete(AttachedVolumes(context, driver))
    )


def _set_up_provisioner(context: ControllerContext, driver: Driver, settings: SidecarSettings) -> None:
    if driver.has_topology:
        context.informer(NODES)
        context.informer(CSI_NODES)
    (
        Builder(context.manager)
        .named("csi-provisioner")
        .for_(PERSISTENT_VOLUME_CLAIMS)
        .watches(STORAGE_CLASSES, _claims_of_class(context, driver))
        .with_options(**_options(settings))
        .complete(Provisioner(context, driver, settings))
    )
    (
        Builder(context.manager)
        .named("csi-reclaimer")
        .for_(PERSISTENT_VOLUMES)
        .watches(VOLUME_ATTACHMENTS, volume_of)
        .with_options(**_options(settings))
        .complete(Reclaimer(context, driver))
    )


def _set_up_resizer(context: ControllerContext, driver: Driver, settings: SidecarSettings) -> None:
    context.informer(PERSISTENT_VOLUMES)
    (
        Builder(context.manager)
        .named("csi-resizer")
        .for_(PERSISTENT_VOLUME_CLAIMS, predicates=[size_changed()])
        .with_options(**_options(settings))
        .complete(Resizer(context, driver, settings))
    )


def _set_up_snapshotter(context: ControllerContext, driver: Driver, settings: SidecarSettings) -> None:
    (
        Builder(context.manager)
        .named("csi-snapshotter")
        .for_(VOLUME_SNAPSHOT_CONTENTS, predicates=[content_changed()])
        .with_options(**_options(settings))
        .complete(Snapshotter(context, driver, settings))
    )
    if not settings.snapshot_controller:
        return
    (
        Builder(context.manager)
        .named("csi-snapshot-binder")
        .for_(VOLUME_SNAPSHOTS)
        .watches(VOLUME_SNAPSHOT_CONTENTS, _snapshot_of_content)
        .with_options(**_options(settings))
        .complete(SnapshotBinder(context, driver))
    )


def _snapshot_of_content(ref: Ref[Any]) -> Iterable[Request]:
    reference = ref.decode()["spec"].get("volumeSnapshotRef") or {}
    return (Request(reference["namespace"], reference["name"]),) if reference.get("name") else ()


def _claims_of_class(context: ControllerContext, driver: Driver) -> Callable[[Ref[Any]], Iterable[Request]]:
    """Return a map from classes to the claims that wait for this driver."""
    claims = context.informer(PERSISTENT_VOLUME_CLAIMS).indexer

    def requests(ref: Ref[Any]) -> Iterable[Request]:
        waiting = [each for each in claims.refs() if b'"volumeName"' not in each.raw]
        decoded = [(each, each.decode()) for each in waiting]
        return [
            Request.of_key(each.key)
            for each, claim in decoded
            if provisioner_of(claim) == driver.name and class_name(claim) == ref.name
        ]

    return requests
