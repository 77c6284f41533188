"""`set_up`: adds the sidecars of a driver to a manager.

Concurrency: each sidecar is a controller with its own workers. A failed call is repeated after a delay that grows with
each failure. Only the leader works.
"""

from __future__ import annotations

import logging
from collections.abc import Callable, Iterable
from typing import Any, Final

from sampan.component_base.context import ControllerContext
from sampan.component_base.resources import (
    CSI_NODES,
    CSI_STORAGE_CAPACITIES,
    NODES,
    PERSISTENT_VOLUME_CLAIMS,
    PERSISTENT_VOLUMES,
    STORAGE_CLASSES,
    VOLUME_ATTACHMENTS,
    VOLUME_ATTRIBUTES_CLASSES,
)
from sampan.csi.attachments import index_by_volume, volume_of
from sampan.csi.sidecar.attached_volumes import AttachedVolumes
from sampan.csi.sidecar.attacher import Attacher, attachment_changed
from sampan.csi.sidecar.claims import class_name, provisioner_of
from sampan.csi.sidecar.driver import Driver
from sampan.csi.sidecar.modifier import Modifier, claims_of_class, class_changed
from sampan.csi.sidecar.provisioning.capacity import CapacityPublisher
from sampan.csi.sidecar.provisioning.provisioner import Provisioner, no_refresh
from sampan.csi.sidecar.provisioning.reclaimer import Reclaimer
from sampan.csi.sidecar.resizing.resizer import Resizer, size_changed
from sampan.csi.sidecar.settings import SidecarSettings
from sampan.csi.sidecar.snapshots.binder import SnapshotBinder
from sampan.csi.sidecar.snapshots.kinds import VOLUME_SNAPSHOT_CONTENTS, VOLUME_SNAPSHOTS
from sampan.csi.sidecar.snapshots.snapshotter import Snapshotter, content_changed
from sampan.informer.ref import Ref
from sampan.kinds import core_v1
from sampan.operator.builder import Builder
from sampan.operator.predicates import LabelChanged, Predicate, PredicateFuncs, ResourceVersionChanged, matching
from sampan.operator.queue import ItemExponentialFailureRateLimiter
from sampan.operator.request import Request
from sampan.operator.source import PeriodicSource

_log = logging.getLogger("sampan.csi")

_APPEARANCE: Final[Predicate[Any]] = PredicateFuncs(None, lambda _, __: False)
"""Predicate that drops updates, because most of them are this process's own writes."""


def set_up(context: ControllerContext, driver: Driver, settings: SidecarSettings, *, snapshots: bool = False) -> None:
    """Add the sidecars that the driver has capabilities for.

    `snapshots`: the API server serves the kinds of snapshots.
    """
    index_by_volume(context.informer(VOLUME_ATTACHMENTS))
    _set_up_attacher(context, driver, settings)
    if "CREATE_DELETE_VOLUME" in driver.controller:
        _set_up_provisioner(context, driver, settings)
    if "EXPAND_VOLUME" in driver.controller | driver.node:
        _set_up_resizer(context, driver, settings)
    if "MODIFY_VOLUME" in driver.controller:
        _set_up_modifier(context, driver, settings)
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


def _set_up_capacity(
    context: ControllerContext, driver: Driver, settings: SidecarSettings
) -> Callable[[str, core_v1.PersistentVolume | None], None]:
    """Add the publisher of free storage, if it is enabled. Return the function that reports changes of volumes."""
    if not settings.enable_capacity:
        return no_refresh
    if "GET_CAPACITY" not in driver.controller:
        _log.warning("no free storage is published: the driver lacks GET_CAPACITY", extra={"driver": driver.name})
        return no_refresh
    publisher = CapacityPublisher(context, driver, settings)
    # One call at a time, as in external-provisioner: there may be as many segments as nodes.
    (
        Builder(context.manager)
        .named("csi-capacity")
        .for_(CSI_STORAGE_CAPACITIES, predicates=[matching(publisher.is_ours), _APPEARANCE])
        .watches(STORAGE_CLASSES, publisher.topology_changed)
        .watches(CSI_NODES, publisher.topology_changed, predicates=[ResourceVersionChanged()])
        .watches(NODES, publisher.topology_changed, predicates=[LabelChanged()])
        .watches_source(publisher.refreshes)
        .watches_source(PeriodicSource(publisher.requests, settings.capacity_poll_interval_s))
        .with_options(**_options(settings) | {"max_concurrent_reconciles": 1})
        .complete(publisher)
    )
    return publisher.volume_changed


def _set_up_provisioner(context: ControllerContext, driver: Driver, settings: SidecarSettings) -> None:
    volume_changed = _set_up_capacity(context, driver, settings)
    if driver.has_topology:
        context.informer(NODES)
        context.informer(CSI_NODES)
    (
        Builder(context.manager)
        .named("csi-provisioner")
        .for_(PERSISTENT_VOLUME_CLAIMS)
        .watches(STORAGE_CLASSES, _claims_of_class(context, driver))
        .with_options(**_options(settings))
        .complete(Provisioner(context, driver, settings, volume_changed))
    )
    (
        Builder(context.manager)
        .named("csi-reclaimer")
        .for_(PERSISTENT_VOLUMES)
        .watches(VOLUME_ATTACHMENTS, volume_of)
        .with_options(**_options(settings))
        .complete(Reclaimer(context, driver, volume_changed))
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


def _set_up_modifier(context: ControllerContext, driver: Driver, settings: SidecarSettings) -> None:
    context.informer(PERSISTENT_VOLUMES)
    (
        Builder(context.manager)
        .named("csi-modifier")
        .for_(PERSISTENT_VOLUME_CLAIMS, predicates=[class_changed()])
        .watches(VOLUME_ATTRIBUTES_CLASSES, claims_of_class(context))
        .with_options(**_options(settings))
        .complete(Modifier(context, driver, settings))
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
