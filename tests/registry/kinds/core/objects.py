"""Valid objects of the core group, mutations that break them, and the texts of their faults."""

import copy
from collections.abc import Callable
from typing import Any

from sampan.core.object import Object
from sampan.registry.strategy import Context, Strategy
from tests.registry.kinds.cases import STRATEGIES

CONTEXT = Context(user="tester", namespace="default")
Mutation = Callable[[Any], None]


def container(**more: Any) -> Object:
    return {"name": "app", "image": "nginx:1.25", **more}


def pod(**spec: Any) -> Object:
    return {
        "apiVersion": "v1",
        "kind": "Pod",
        "metadata": {"name": "web-0", "namespace": "default", "creationTimestamp": "2026-01-01T00:00:00Z"},
        "spec": {"serviceAccountName": "default", "containers": [container()], **spec},
    }


def named(kind: str, **more: Any) -> Object:
    return {"apiVersion": "v1", "kind": kind, "metadata": {"name": "thing", "namespace": "default"}, **more}


def service(**spec: Any) -> Object:
    ports = [{"port": 80}]
    return named("Service", spec={"selector": {"app": "web"}, "ports": ports, "clusterIP": "None", **spec})


def volume(**spec: Any) -> Object:
    source = {"hostPath": {"path": "/data"}}
    return named(
        "PersistentVolume", spec={"capacity": {"storage": "1Gi"}, "accessModes": ["ReadWriteOnce"], **source, **spec}
    )


def claim(**spec: Any) -> Object:
    resources = {"requests": {"storage": "1Gi"}}
    return named("PersistentVolumeClaim", spec={"accessModes": ["ReadWriteOnce"], "resources": resources, **spec})


def controller(**spec: Any) -> Object:
    template = {"metadata": {"labels": {"app": "web"}}, "spec": {"containers": [container()]}}
    return named("ReplicationController", spec={"selector": {"app": "web"}, "template": template, **spec})


def strategy(resource: str) -> Strategy:
    return STRATEGIES["", resource]


def created(resource: str, obj: Object) -> Object:
    """Return the object as it would be stored, defaulted and prepared."""
    made = copy.deepcopy(obj)
    strategy(resource).default(made)
    strategy(resource).prepare_for_create(CONTEXT, made)
    return made


def faults(resource: str, obj: Object) -> list[str]:
    """Return the texts of the faults of a new object."""
    return [str(error) for error in strategy(resource).validate(CONTEXT, created(resource, obj))]


def update_faults(resource: str, old: Object, change: Mutation) -> list[str]:
    """Return the texts of the faults of an update that `change` makes to a stored object."""
    stored = created(resource, old)
    obj = copy.deepcopy(stored)
    change(obj)
    strategy(resource).default(obj)
    strategy(resource).prepare_for_update(CONTEXT, obj, stored)
    return [str(error) for error in strategy(resource).validate_update(CONTEXT, obj, stored)]


def status_faults(resource: str, old: Object, change: Mutation) -> list[str]:
    """Return the texts of the faults of an update of the status."""
    stored = created(resource, old)
    obj = copy.deepcopy(stored)
    change(obj)
    strategy(resource).default(obj)
    strategy(resource).keep_for_status_update(obj, stored)
    strategy(resource).prepare_for_status_update(CONTEXT, obj, stored)
    return [str(error) for error in strategy(resource).validate_status_update(CONTEXT, obj, stored)]


def put(path: str, value: Any) -> Mutation:
    """Return a mutation that sets a dotted path. Numbers are indexes of lists."""

    def mutate(obj: Any) -> None:
        *way, last = path.split(".")
        for part in way:
            obj = obj[int(part)] if isinstance(obj, list) else obj.setdefault(part, {})
        if isinstance(obj, list):
            obj[int(last)] = value
        else:
            obj[last] = value

    return mutate


def drop(path: str) -> Mutation:
    """Return a mutation that removes a dotted path."""

    def mutate(obj: Any) -> None:
        *way, last = path.split(".")
        for part in way:
            obj = obj[int(part)] if isinstance(obj, list) else obj[part]
        del obj[int(last) if isinstance(obj, list) else last]

    return mutate
