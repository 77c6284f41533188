"""Read-only views of the parts of claims, volumes and storage classes that the scheduler uses."""

import msgspec

from sampan.core.pods.node_affinity import NodeSelector
from sampan.resource.view import view_decoder
from sampan.scheduler.amounts import amount
from sampan.scheduler.views import Labels, Requirements

Quantities = dict[str, str | int | float]
_STORAGE = "storage"


class ClaimMeta(msgspec.Struct, rename="camel", gc=False):
    """Identity of a claim, its deletion, and the annotations by which the scheduler binds it."""

    name: str = ""
    namespace: str = ""
    uid: str = ""
    deletion_timestamp: str | None = None
    annotations: dict[str, str] = msgspec.field(default_factory=dict)


class ClaimSpec(msgspec.Struct, rename="camel", gc=False):
    """Bound volume of a claim, or the requirements for a new one."""

    volume_name: str = ""
    storage_class_name: str | None = None
    volume_attributes_class_name: str | None = None
    access_modes: list[str] = msgspec.field(default_factory=list)
    volume_mode: str = "Filesystem"
    resources: Requirements = msgspec.field(default_factory=Requirements)


class ClaimStatus(msgspec.Struct, gc=False):
    """Phase of a claim: "Pending", "Bound" or "Lost"."""

    phase: str = ""


class Claim(msgspec.Struct, gc=False):
    """Fields of a PersistentVolumeClaim that binding and placement read."""

    metadata: ClaimMeta
    spec: ClaimSpec = msgspec.field(default_factory=ClaimSpec)
    status: ClaimStatus = msgspec.field(default_factory=ClaimStatus)

    @property
    def is_bound(self) -> bool:
        """True if the binding of the claim is complete."""
        return bool(self.spec.volume_name) and "pv.kubernetes.io/bind-completed" in self.metadata.annotations

    @property
    def storage(self) -> int:
        """Requested size in bytes."""
        return amount(_STORAGE, self.spec.resources.requests.get(_STORAGE, 0))


class VolumeMeta(msgspec.Struct, rename="camel", gc=False):
    """Name of a volume, and the labels that claims select."""

    name: str = ""
    labels: Labels = msgspec.field(default_factory=dict)


class ClaimReference(msgspec.Struct, gc=False):
    """Reference from a volume to its claim."""

    namespace: str = ""
    name: str = ""
    uid: str = ""


class VolumeNodeAffinity(msgspec.Struct, gc=False):
    """Nodes that can access a volume."""

    required: NodeSelector | None = None


class CsiSource(msgspec.Struct, rename="camel", gc=False):
    """Source of a CSI volume."""

    driver: str = ""
    volume_handle: str = ""


class VolumeSpec(msgspec.Struct, rename="camel", gc=False):
    """Properties of a volume that are compared with a claim, and the Nodes that can reach it."""

    capacity: Quantities = msgspec.field(default_factory=dict)
    access_modes: list[str] = msgspec.field(default_factory=list)
    storage_class_name: str = ""
    volume_attributes_class_name: str | None = None
    volume_mode: str = "Filesystem"
    claim_ref: ClaimReference | None = None
    node_affinity: VolumeNodeAffinity | None = None
    csi: CsiSource | None = None


class VolumeStatus(msgspec.Struct, gc=False):
    """Phase of a volume: a "Released" or "Failed" one gets no new claim."""

    phase: str = ""


class PersistentVolume(msgspec.Struct, gc=False):
    """Fields of a PersistentVolume that binding and placement read."""

    metadata: VolumeMeta
    spec: VolumeSpec = msgspec.field(default_factory=VolumeSpec)
    status: VolumeStatus = msgspec.field(default_factory=VolumeStatus)

    @property
    def storage(self) -> int:
        """Size in bytes."""
        return amount(_STORAGE, self.spec.capacity.get(_STORAGE, 0))


class TopologyExpression(msgspec.Struct, gc=False):
    """Allowed values of a label."""

    key: str = ""
    values: list[str] = msgspec.field(default_factory=list)


class TopologyTerm(msgspec.Struct, rename="camel", gc=False):
    """Labels that a Node must have."""

    match_label_expressions: list[TopologyExpression] = msgspec.field(default_factory=list)

    def matches(self, labels: Labels) -> bool:
        """Return True if a Node has all of the labels."""
        return all(labels.get(each.key) in each.values for each in self.match_label_expressions)


class StorageClass(msgspec.Struct, rename="camel", gc=False):
    """Provisioner of a class, and the time and places of its provisioning."""

    provisioner: str = ""
    volume_binding_mode: str = "Immediate"
    allowed_topologies: list[TopologyTerm] = msgspec.field(default_factory=list)

    @property
    def waits_for_pod(self) -> bool:
        """True if claims are bound only after a Pod has a Node."""
        return self.volume_binding_mode == "WaitForFirstConsumer"

    @property
    def provisions(self) -> bool:
        """True if volumes are provisioned for claims."""
        return self.provisioner not in ("", "kubernetes.io/no-provisioner")


decode_claim = view_decoder(Claim)
decode_volume = view_decoder(PersistentVolume)
decode_storage_class = view_decoder(StorageClass)
