"""A kopf operator for gadgets, run by the tests as `kopf run`.

What its handlers have done can be seen in the objects: in the status of a gadget, in its child ConfigMap and in Events.
"""

import os
from typing import Any

import kopf
from kubernetes import client, config
from kubernetes.client.exceptions import ConflictException

from tests.e2e.python.objects import GADGET_ANNOTATION, GROUP, Json, config_map

RETRY_S = 0.1
TICK_S = 0.1
TICKS = 3


@kopf.on.startup()
def begin(settings: kopf.OperatorSettings, **_: Any) -> None:
    """Be quick, and list as the test wants it."""
    config.load_kube_config()
    settings.watching.initial_streaming = os.environ.get("STREAMING") == "yes"
    settings.watching.chunk_size = 2
    settings.posting.loggers = True
    settings.background.cancellation_polling = 1
    settings.queueing.exit_timeout = 0.3


def put(namespace: str | None, manifest: Json) -> None:
    """Create a ConfigMap if it is not there: a handler may be called again for what it has done."""
    try:
        client.CoreV1Api().create_namespaced_config_map(namespace, manifest)
    except ConflictException:
        pass


@kopf.on.create(GROUP, "gadgets")
def create(spec: kopf.Spec, name: str, namespace: str | None, retry: int, body: kopf.Body, **_: Any) -> dict[str, Any]:
    """Make the child; the first attempt fails if the spec of the gadget demands it."""
    if spec.get("fails") == "once" and retry == 0:
        raise kopf.TemporaryError("not yet", delay=RETRY_S)
    if spec.get("fails") == "always":
        raise kopf.PermanentError("never")
    child = config_map(f"child-of-{name}", {"colour": spec.get("colour", "none")})
    kopf.adopt(child, body)
    put(namespace, child)
    kopf.info(body, reason="ChildCreated", message=f"made {child['metadata']['name']}")
    return {"child": child["metadata"]["name"], "attempts": retry + 1}


@kopf.on.update(GROUP, "gadgets")
def update(spec: kopf.Spec, name: str, namespace: str | None, diff: kopf.Diff, patch: kopf.Patch, **_: Any) -> None:
    """Bring the child into line."""
    colour = {"data": {"colour": spec.get("colour", "none")}}
    client.CoreV1Api().patch_namespaced_config_map(f"child-of-{name}", namespace, colour)
    patch.status["updated"] = [[operation, ".".join(field)] for operation, field, *_ in diff]


@kopf.on.field(GROUP, "gadgets", field="spec.colour")
def colour(old: Any, new: Any, patch: kopf.Patch, **_: Any) -> None:
    """Note how the colour has changed."""
    patch.status["colours"] = [old, new]


@kopf.on.resume(GROUP, "gadgets")
def resume(patch: kopf.Patch, **_: Any) -> None:
    """Note that the operator has found the gadget when it began."""
    patch.status["resumed"] = True


@kopf.on.delete(GROUP, "gadgets")
def delete(name: str, namespace: str | None, **_: Any) -> None:
    """Leave a ConfigMap behind; the finalizer keeps the gadget until then."""
    put(namespace, config_map(f"farewell-of-{name}"))


# Only for gadgets with the label: an operator that ends waits for a timer that has just begun.
@kopf.timer(
    GROUP,
    "gadgets",
    interval=TICK_S,
    labels={"timed": "yes"},
    when=lambda status, **_: status.get("ticks", 0) < TICKS,
)
def tick(status: kopf.Status, patch: kopf.Patch, **_: Any) -> None:
    """Count a little."""
    patch.status["ticks"] = status.get("ticks", 0) + 1


@kopf.daemon(GROUP, "gadgets", labels={"guarded": "yes"})
def guard(name: str, namespace: str | None, stopped: kopf.DaemonStopped, **_: Any) -> None:
    """Stay until the gadget goes."""
    put(namespace, config_map(f"guard-of-{name}"))
    stopped.wait()
    client.CoreV1Api().delete_namespaced_config_map(f"guard-of-{name}", namespace)


@kopf.on.event("v1", "configmaps", labels={"observed": kopf.PRESENT})
def observe(event: kopf.RawEvent, annotations: kopf.Annotations, patch: kopf.Patch, **_: Any) -> None:
    """Mark what was seen, of a resource that has nothing of the operator in it."""
    if event["type"] != "DELETED" and GADGET_ANNOTATION not in annotations:
        patch.metadata.annotations[GADGET_ANNOTATION] = "yes"
