"""Tables of storage.k8s.io."""

from sampan.core.object import Object
from sampan.registry.columns.age import Ages
from sampan.registry.columns.cells import EMPTY, NAME, NONE, UNSET, at, boolean, column, count, integer, name_of
from sampan.registry.columns.tables import Tables

_DEFAULT_CLASS = (
    "storageclass.kubernetes.io/is-default-class",
    "storageclass.beta.kubernetes.io/is-default-class",
)


def _class_name(storage_class: Object) -> str:
    annotations = storage_class["metadata"].get("annotations", EMPTY)
    default = any(annotations.get(key) == "true" for key in _DEFAULT_CLASS)
    return f"{name_of(storage_class)} (default)" if default else name_of(storage_class)


def _token_requests(driver: Object) -> str:
    requests = driver.get("spec", EMPTY).get("tokenRequests")
    return UNSET if requests is None else ",".join(request.get("audience", "") for request in requests)


def storage_tables(ages: Ages) -> Tables:
    """Tables of storage.k8s.io."""
    age = ages.column
    return {
        ("storage.k8s.io", "storageclasses", "v1"): (
            column("Name", _class_name, format="name"),
            column("Provisioner", at("provisioner")),
            column("ReclaimPolicy", at("reclaimPolicy", default="Delete")),
            column("VolumeBindingMode", at("volumeBindingMode", default="Immediate")),
            column("AllowVolumeExpansion", at("allowVolumeExpansion", default=False)),
            age,
        ),
        ("storage.k8s.io", "volumeattributesclasses", "v1"): (NAME, column("DriverName", at("driverName")), age),
        ("storage.k8s.io", "volumeattachments", "v1"): (
            NAME,
            column("Attacher", at("spec", "attacher"), format="name"),
            column("PV", at("spec", "source", "persistentVolumeName")),
            column("Node", at("spec", "nodeName")),
            boolean("Attached", at("status", "attached", default=False)),
            age,
        ),
        ("storage.k8s.io", "csinodes", "v1"): (NAME, integer("Drivers", count("spec", "drivers")), age),
        ("storage.k8s.io", "csidrivers", "v1"): (
            NAME,
            boolean("AttachRequired", at("spec", "attachRequired", default=True)),
            boolean("PodInfoOnMount", at("spec", "podInfoOnMount", default=False)),
            boolean("StorageCapacity", at("spec", "storageCapacity", default=False)),
            column("TokenRequests", _token_requests),
            boolean("RequiresRepublish", at("spec", "requiresRepublish", default=False)),
            column("Modes", lambda obj: ",".join(obj.get("spec", EMPTY).get("volumeLifecycleModes", ())) or NONE),
            age,
        ),
    }
