"""`ProvisioningPlan`: the request for a new volume, and the fields that its PersistentVolume takes from the class.

Source: external-provisioner pkg/controller/controller.go `prepareProvision`, `removePrefixedParameters`.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any, Final

from sampan.client import Client
from sampan.component_base.resources import CSI_NODES, NODES, VOLUME_ATTRIBUTES_CLASSES
from sampan.csi.capabilities import volume_capability
from sampan.csi.sidecar.claims import SELECTED_NODE, requested, volume_name
from sampan.csi.sidecar.driver import Driver
from sampan.csi.sidecar.provisioning.content_source import content_source
from sampan.csi.sidecar.provisioning.topology import TopologyOptions, accessibility_requirements
from sampan.csi.sidecar.secrets import PREFIX, USES, InvalidClass, secret_data, secret_keys, secret_reference
from sampan.csi.sidecar.settings import SidecarSettings
from sampan.kinds import core_v1, storage_v1
from sampan.operator.caches.cached_client import CachedClient
from sampan.resource import meta

_NO_CLASSES: Final = (
    "CSI driver does not support VolumeAttributesClass: controller MODIFY_VOLUME capability is not reported"
)
_FS_TYPE: Final = f"{PREFIX}fstype"
_OF_PROVISIONER: Final = frozenset({_FS_TYPE, *(key for use in ("", *USES) for key in secret_keys(use))})


@dataclass(frozen=True, slots=True)
class ProvisioningPlan:
    """Request for a volume, and references for its object."""

    request: dict[str, Any]
    """Fields of CreateVolumeRequest."""
    fs_type: str = ""
    secrets: Mapping[str, core_v1.SecretReference | None] = field(default_factory=dict)
    """References to Secrets by their use."""


class Planner:
    """Makes plans from claims, classes and nodes."""

    def __init__(self, client: CachedClient, driver: Driver, settings: SidecarSettings) -> None:
        self._client = client
        self._driver = driver
        self._settings = settings

    async def plan(
        self, claim: core_v1.PersistentVolumeClaim, storage_class: storage_v1.StorageClass
    ) -> ProvisioningPlan:
        """Return the plan for a claim.

        Raises `ValueError` for a wrong claim or class, `TopologyUnknown`, `ForeignSource`, `ApiError`,
        `TransportError`.
        """
        direct: Client = self._client.direct
        parameters: Mapping[str, str] = storage_class.get("parameters") or {}
        name = volume_name(claim)
        if claim["spec"].get("selector") is not None:
            raise InvalidClass("claim Selector is not supported")
        kind = fs_type(parameters, self._settings.default_fstype)
        secrets = {use: secret_reference(use, parameters, name, claim) for use in USES}
        request: dict[str, Any] = {
            "name": name,
            "capacity_range": {"required_bytes": requested(claim).value()},
            "volume_capabilities": self._capabilities(claim, storage_class, kind),
            "parameters": driver_parameters(parameters) | self._metadata(claim),
            "secrets": await secret_data(direct, secrets["provisioner"]),
            "volume_content_source": await content_source(direct, self._driver, claim),
            "accessibility_requirements": await self._requirements(claim, storage_class),
            "mutable_parameters": await self._mutable(direct, claim),
        }
        return ProvisioningPlan({key: value for key, value in request.items() if value}, kind, secrets)

    def _capabilities(
        self, claim: core_v1.PersistentVolumeClaim, storage_class: storage_v1.StorageClass, kind: str
    ) -> list[dict[str, Any]]:
        spec = {"volumeMode": claim["spec"].get("volumeMode"), "mountOptions": storage_class.get("mountOptions")}
        several = self._driver.writes_on_one_node
        modes = claim["spec"].get("accessModes") or ()
        return [volume_capability(spec, [mode], fs_type=kind, single_node_multi_writer=several) for mode in modes]

    def _metadata(self, claim: core_v1.PersistentVolumeClaim) -> dict[str, str]:
        if not self._settings.extra_create_metadata:
            return {}
        return {
            f"{PREFIX}pvc/name": meta(claim).name,
            f"{PREFIX}pvc/namespace": meta(claim).namespace,
            f"{PREFIX}pv/name": volume_name(claim),
        }

    async def _requirements(
        self, claim: core_v1.PersistentVolumeClaim, storage_class: storage_v1.StorageClass
    ) -> dict[str, Any] | None:
        if not self._driver.has_topology:
            return None
        nodes = {meta(node).name: meta(node).labels for node in await self._client.resource(NODES).list()}
        return accessibility_requirements(
            self._driver.name,
            meta(claim).name,
            storage_class.get("allowedTopologies") or (),
            meta(claim).annotations.get(SELECTED_NODE, ""),
            nodes,
            await self._client.resource(CSI_NODES).list(),
            TopologyOptions(self._settings.strict_topology, self._settings.immediate_topology),
        )

    async def _mutable(self, direct: Client, claim: core_v1.PersistentVolumeClaim) -> Mapping[str, str]:
        name = claim["spec"].get("volumeAttributesClassName")
        if not name:
            return {}
        if "MODIFY_VOLUME" not in self._driver.controller:
            raise InvalidClass(_NO_CLASSES)
        found = await direct.resource(VOLUME_ATTRIBUTES_CLASSES).get(name)
        if found["driverName"] != self._driver.name:
            text = f"VAC {name} referenced in PVC is for driver {found['driverName']} which does not match driver name"
            raise InvalidClass(f"{text} {self._driver.name}")
        parameters: Mapping[str, str] = found.get("parameters") or {}
        return parameters


def driver_parameters(parameters: Mapping[str, str]) -> dict[str, str]:
    """Return the parameters of a StorageClass without those of the provisioner.

    Raises `InvalidClass` for unknown parameters with the provisioner's prefix.
    """
    unknown = [key for key in parameters if key.startswith(PREFIX) and key not in _OF_PROVISIONER]
    if unknown:
        raise InvalidClass(
            f'failed to strip CSI Parameters of prefixed keys: found unknown parameter key "{unknown[0]}" '
            f"with reserved namespace {PREFIX}"
        )
    return {key: value for key, value in parameters.items() if key not in _OF_PROVISIONER}


def fs_type(parameters: Mapping[str, str], default: str) -> str:
    """Return the file system that a class names, or the default. Raises `InvalidClass` if it names two."""
    found = [value for key, value in parameters.items() if key == _FS_TYPE or key.lower() == "fstype"]
    if len(found) > 1:
        raise InvalidClass(f'fstype specified in parameters with both "fstype" and "{_FS_TYPE}" keys')
    return (found[0] if found else "") or default
