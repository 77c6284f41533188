"""Common columns of workloads."""

from sampan.core.object import Object
from sampan.registry.columns.age import Ages
from sampan.registry.columns.cells import EMPTY, NAME, at, container_columns, integer
from sampan.registry.definition import Column


def ready_of_desired(obj: Object) -> str:
    """Return `ready/desired` replicas."""
    ready = obj.get("status", EMPTY).get("readyReplicas", 0)
    return f"{ready}/{obj.get('spec', EMPTY).get('replicas', 0)}"


def replica_columns(ages: Ages) -> tuple[Column, ...]:
    """Return the columns of ReplicaSets and ReplicationControllers, without the selector."""
    return (
        NAME,
        integer("Desired", at("spec", "replicas", default=0)),
        integer("Current", at("status", "replicas", default=0)),
        integer("Ready", at("status", "readyReplicas", default=0)),
        ages.column,
        *container_columns("spec", "template"),
    )
