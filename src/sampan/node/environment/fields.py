"""Fields and resources of a Pod, as texts: the downward API.

Source: kubernetes pkg/fieldpath/fieldpath.go, pkg/kubelet/kubelet_pods.go `podFieldSelectorRuntimeValue`,
pkg/api/v1/resource/helpers.go `ExtractContainerResourceValue` (1.36).
"""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from typing import Final

from sampan.core.numbers.quantity import Quantity, parse
from sampan.node.views.pod import Pod
from sampan.node.views.volume_sources import ResourcePath

_ESCAPES: Final = {
    "\a": "\\a",
    "\b": "\\b",
    "\f": "\\f",
    "\n": "\\n",
    "\r": "\\r",
    "\t": "\\t",
    "\v": "\\v",
    "\\": "\\\\",
    '"': '\\"',
}
_LIMITED: Final = ("cpu", "memory", "ephemeral-storage")


@dataclass(frozen=True, slots=True)
class PodPlace:
    """A Pod, together with facts from its node."""

    pod: Pod
    host_ips: tuple[str, ...]
    """Addresses of the node; the first one is its main address."""
    addresses: Sequence[str] = ()
    """Addresses of the Pod; those of the node for a Pod with hostNetwork. Empty until it has a sandbox."""
    allocatable: Mapping[str, str] = field(default_factory=dict)
    """Allocatable resources of the node: the limits of a container that sets none."""


def field_value(place: PodPlace, path: str) -> str:
    """Return the value of a field as text. Raises `ValueError` for an unsupported path."""
    pod = place.pod
    match path:
        case "metadata.name":
            return pod.metadata.name
        case "metadata.namespace":
            return pod.metadata.namespace
        case "metadata.uid":
            return pod.metadata.uid
        case "metadata.labels":
            return formatted(pod.metadata.labels)
        case "metadata.annotations":
            return formatted(pod.metadata.annotations)
        case "spec.nodeName":
            return pod.spec.node_name
        case "spec.serviceAccountName":
            return pod.spec.service_account_name
        case "status.hostIP":
            return place.host_ips[0]
        case "status.hostIPs":
            return ",".join(place.host_ips)
        case "status.podIP":
            return next(iter(place.addresses), "")
        case "status.podIPs":
            return ",".join(place.addresses)
    return _subscript(pod, path)


def _subscript(pod: Pod, path: str) -> str:
    name, opened, rest = path.partition("['")
    if not (opened and name and rest.endswith("']")):
        raise ValueError(f"unsupported fieldPath: {path}")
    key = rest[:-2]
    match name:
        case "metadata.labels":
            return pod.metadata.labels.get(key, "")
        case "metadata.annotations":
            return pod.metadata.annotations.get(key, "")
    raise ValueError(f'fieldPath "{path}" does not support subscript')


def formatted(texts: Mapping[str, str]) -> str:
    """Return labels or annotations as sorted lines `name="value"`."""
    return "\n".join(f"{name}={_quoted(text)}" for name, text in sorted(texts.items()))


def _quoted(text: str) -> str:
    """Quote a text as Go's `%q` does."""
    return '"' + "".join(_ESCAPES.get(each) or _shown(each) for each in text) + '"'


def _shown(character: str) -> str:
    if character.isprintable():
        return character
    code = ord(character)
    if code < 0x80:
        return f"\\x{code:02x}"
    return f"\\u{code:04x}" if code < 0x10000 else f"\\U{code:08x}"


def resource_value(place: PodPlace, desired: ResourcePath, container: str) -> str:
    """Return a request or limit in units of the divisor, rounded up. `container` applies if the path names none.

    Raises `ValueError`.
    """
    kind, _, resource = desired.resource.partition(".")
    if kind not in ("limits", "requests") or not (resource in _LIMITED or resource.startswith("hugepages-")):
        raise ValueError(f"unsupported container resource : {desired.resource}")
    name = desired.container_name or container
    try:
        details = place.pod.spec.container(name)
    except KeyError:
        raise ValueError(f"container {name} not found") from None
    quantity = (details.resources.limits if kind == "limits" else details.resources.requests).get(resource)
    amount = parse(str(quantity)) if quantity is not None else Quantity(0)
    if not amount and kind == "limits" and resource in _LIMITED:
        amount = parse(place.allocatable.get(resource, "0"))
    divisor = parse(str(desired.divisor or "1"))
    scale = -3 if resource == "cpu" else 0
    units = (divisor if divisor else Quantity(1)).scaled_value(scale)
    return str(-(-amount.scaled_value(scale) // units))
