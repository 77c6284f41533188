"""`Storage`: reads claims, volumes and classes from the stores of informers."""

from typing import Any

from sampan.core.label_selectors import Selector
from sampan.core.pods.node_affinity import term_selects
from sampan.informer.store.indexer import Indexer
from sampan.scheduler.framework.cycle import Unschedulable
from sampan.scheduler.pod_info import PodInfo
from sampan.scheduler.views import Labels
from sampan.scheduler.volumes.capacity import decode_capacity, decode_driver, with_room
from sampan.scheduler.volumes.views import (
    Claim,
    PersistentVolume,
    StorageClass,
    decode_claim,
    decode_storage_class,
    decode_volume,
)


class Storage:
    """Reads and decodes objects. Nothing is cached, because few Pods have claims."""

    def __init__(
        self,
        claims: Indexer[Any],
        volumes: Indexer[Any],
        classes: Indexer[Any],
        drivers: Indexer[Any],
        capacities: Indexer[Any],
    ) -> None:
        self._claims = claims
        self._volumes = volumes
        self._classes = classes
        self._drivers = drivers
        self._capacities = capacities

    def claim(self, namespace: str, name: str) -> Claim | None:
        """Return a claim from the cache; None if it does not exist."""
        ref = self._claims.get(f"{namespace}/{name}")
        return None if ref is None else decode_claim(ref.raw)

    def volume(self, name: str) -> PersistentVolume | None:
        """Return a volume from the cache; None if it does not exist."""
        ref = self._volumes.get(name)
        return None if ref is None else decode_volume(ref.raw)

    def volumes(self) -> list[PersistentVolume]:
        """Return the volumes of the cluster, bound and unbound ones."""
        return [decode_volume(ref.raw) for ref in self._volumes.refs()]

    def storage_class(self, name: str) -> StorageClass | None:
        """Return a storage class from the cache; None if it does not exist."""
        ref = self._classes.get(name)
        return None if ref is None else decode_storage_class(ref.raw)

    def room(self, provisioner: str, storage_class: str, size: int) -> list[Selector] | None:
        """Return the Nodes where a new volume fits; None for all Nodes, if the driver does not report its capacity."""
        ref = self._drivers.get(provisioner)
        if ref is None or not decode_driver(ref.raw).has_capacity:
            return None
        return with_room((decode_capacity(each.raw) for each in self._capacities.refs()), storage_class, size)

    def claims_of(self, pod: PodInfo, plugin: str) -> list[Claim]:
        """Return the claims of a Pod. Raises `Unschedulable` with the plugin's name if one is unusable."""
        return [self._usable(pod, name, is_own=is_own, plugin=plugin) for name, is_own in claim_names(pod)]

    def _usable(self, pod: PodInfo, name: str, *, is_own: bool, plugin: str) -> Claim:
        claim = self.claim(pod.namespace, name)
        if claim is None and is_own:
            text = f'waiting for ephemeral volume controller to create the persistentvolumeclaim "{name}"'
            raise Unschedulable(plugin, text)
        if claim is None:
            raise Unschedulable(plugin, f'persistentvolumeclaim "{name}" not found')
        if claim.status.phase == "Lost":
            text = f'persistentvolumeclaim "{name}" bound to non-existent persistentvolume "{claim.spec.volume_name}"'
            raise Unschedulable(plugin, text)
        if claim.metadata.deletion_timestamp is not None:
            raise Unschedulable(plugin, f'persistentvolumeclaim "{name}" is being deleted')
        return claim


def claim_names(pod: PodInfo) -> list[tuple[str, bool]]:
    """Return the names of a Pod's claims, each with True if it belongs to an ephemeral volume of the Pod."""
    names: list[tuple[str, bool]] = []
    for volume in pod.constraints.volumes:
        if volume.persistent_volume_claim is not None:
            names.append((volume.persistent_volume_claim.claim_name, False))
        elif volume.ephemeral is not None:
            names.append((f"{pod.name}-{volume.name}", True))
    return names


def reaches(volume: PersistentVolume, node_name: str, labels: Labels) -> bool:
    """Return True if a Node can access a volume."""
    affinity = volume.spec.node_affinity
    if affinity is None or affinity.required is None:
        return True
    return any(term_selects(term, node_name, labels) for term in affinity.required.node_selector_terms)


def fits(volume: PersistentVolume, claim: Claim) -> bool:
    """Return True if a free volume matches a claim."""
    reference, spec = volume.spec.claim_ref, volume.spec
    if reference is not None and (reference.namespace, reference.name) != (
        claim.metadata.namespace,
        claim.metadata.name,
    ):
        return False
    return (
        volume.status.phase in ("Available", "Pending", "")
        and spec.storage_class_name == (claim.spec.storage_class_name or "")
        and (spec.volume_attributes_class_name or "") == (claim.spec.volume_attributes_class_name or "")
        and spec.volume_mode == claim.spec.volume_mode
        and set(claim.spec.access_modes) <= set(spec.access_modes)
        and volume.storage >= claim.storage
    )
