"""Pods of 3 kB, in the format of lists and watches."""

from collections.abc import Iterable, Iterator
from typing import Final

from sampan.core.gvk import GroupVersionResource
from sampan.resource import Object, ObjectType, ResourceInfo, dynamic

PODS: Final[ObjectType[Object]] = dynamic(ResourceInfo(GroupVersionResource("", "v1", "pods"), "Pod", True))
SIZE_BYTES: Final = 3000
CHUNK_BYTES: Final = 64 * 1024
"""Number of bytes of a watch that are read at a time."""

_CONTAINER = (
    '{"name":"c%d","image":"registry.example.com/team/web:1.27","args":["--port=80","--verbose"],'
    '"ports":[{"containerPort":80,"name":"http","protocol":"TCP"}],'
    '"env":[{"name":"A","value":"1"},{"name":"POD","valueFrom":{"fieldRef":{"fieldPath":"metadata.name"}}}],'
    '"resources":{"requests":{"cpu":"100m","memory":"64Mi"},"limits":{"cpu":"500m","memory":"128Mi"}},'
    '"volumeMounts":[{"name":"data","mountPath":"/data"}],"imagePullPolicy":"IfNotPresent"}'
)
_CONTAINERS = ",".join(_CONTAINER % number for number in range(3))
_SPEC = f'"spec":{{"containers":[{_CONTAINERS}],"volumes":[{{"name":"data","emptyDir":{{}}}}],"nodeName":"node-7"}}'
_CONDITIONS = ",".join(
    f'{{"type":"{kind}","status":"True","lastProbeTime":null,"lastTransitionTime":"2026-01-01T00:00:00Z"}}'
    for kind in ("PodScheduled", "Initialized", "ContainersReady", "Ready")
)
_STATUS = f'"status":{{"phase":"Running","podIP":"10.0.0.1","conditions":[{_CONDITIONS}]}}'


def pod(number: int, version: int) -> bytes:
    """Return the Pod with this number at a resourceVersion, in one of 20 namespaces."""
    head = (
        f'{{"apiVersion":"v1","kind":"Pod","metadata":{{"name":"web-{number:08}","namespace":"ns-{number % 20}",'
        f'"uid":"0f4b1d2a-0000-4000-8000-{number:012}","resourceVersion":"{version}",'
        f'"creationTimestamp":"2026-01-01T00:00:00Z",'
        f'"labels":{{"app":"web-{number % 50}","tier":"front","pod-template-hash":"{number:08x}"}},'
        f'"ownerReferences":[{{"apiVersion":"apps/v1","kind":"ReplicaSet","name":"web","uid":"rs-{number % 50}",'
        f'"controller":true,"blockOwnerDeletion":true}}],"annotations":{{"example.com/text":"'
    )
    tail = f'"}}}},{_SPEC},{_STATUS}}}'
    return f"{head}{'x' * (SIZE_BYTES - len(head) - len(tail))}{tail}".encode()


def pod_list(count: int) -> bytes:
    """Return the body of a list of Pods, at resourceVersion `count`."""
    items = b",".join(pod(number, number + 1) for number in range(count))
    return b'{"kind":"PodList","apiVersion":"v1","metadata":{"resourceVersion":"%d"},"items":[%b]}' % (count, items)


def watch_chunks(events: Iterable[tuple[bytes, bytes]]) -> Iterator[bytes]:
    """Yield the body of a watch in chunks, as a socket may return them. An event is its type and its object."""
    body = b"".join(b'{"type":"%b","object":%b}\n' % event for event in events)
    return (body[begin : begin + CHUNK_BYTES] for begin in range(0, len(body), CHUNK_BYTES))
