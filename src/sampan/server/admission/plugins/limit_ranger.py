"""LimitRanger: sets default requests and limits of containers, and enforces the bounds of LimitRanges.

Source: kubernetes plugin/pkg/admission/limitranger/admission.go (1.36).
"""

from collections.abc import Iterator, Mapping
from typing import Any, ClassVar, Final, NamedTuple

from sampan.core.numbers.quantity import Quantity
from sampan.core.object import Object
from sampan.core.quota.pod_usage import pod_limits, pod_requests
from sampan.core.quota.usage import ZERO, Usage, amounts
from sampan.registry.reader import CacheReader
from sampan.server.admission.chain import Attributes
from sampan.server.admission.derived_cache import DerivedCache
from sampan.server.admission.pods import POD_ONLY
from sampan.server.admission.refusal import refusal

ANNOTATION: Final = "kubernetes.io/limit-ranger"
_CLAIM: Final = ("", "persistentvolumeclaims")
_MILLI: Final = -3
_MILLI_MAX: Final = (2**63 - 1) // 1000
"""Maximum for comparisons in thousandths. Kubernetes compares larger numbers in whole units."""


class Limit(NamedTuple):
    """Item of a LimitRange."""

    type: str
    min: Usage
    max: Usage
    ratio: Usage


class LimitRange(NamedTuple):
    """Parsed LimitRange. The defaults keep their original text, by resource name."""

    limits: tuple[Limit, ...]
    default_requests: Mapping[str, Any]
    default_limits: Mapping[str, Any]


class LimitRanger:
    """Admits new Pods, Pod resizes and PersistentVolumeClaims."""

    name: ClassVar[str] = "LimitRanger"
    operations: ClassVar[frozenset[str]] = frozenset({"CREATE", "UPDATE"})
    resources: ClassVar[frozenset[tuple[str, str]] | None] = POD_ONLY | {_CLAIM}
    configured_by: ClassVar[tuple[tuple[str, str], ...]] = (("", "limitranges"),)

    def __init__(self, reader: CacheReader) -> None:
        self._ranges = DerivedCache(reader, "", "limitranges", read_limit_range)

    def is_configured(self) -> bool:
        """Return True if a LimitRange exists in any namespace."""
        return bool(self._ranges.list())

    async def admit(self, attributes: Attributes) -> None:
        """Set the defaults. Never refuses."""
        if not _may_change_resources(attributes) or attributes.gvr.resource != "pods" or attributes.obj is None:
            return
        for limit_range in self._ranges.list(attributes.namespace):
            _fill_in(attributes.obj, limit_range)

    async def validate(self, attributes: Attributes) -> None:
        """Check the bounds. **Raises** 403 with all violations of one LimitRange."""
        if not _may_change_resources(attributes) or attributes.obj is None:
            return
        faults = pod_faults if attributes.gvr.resource == "pods" else claim_faults
        for limit_range in self._ranges.list(attributes.namespace):
            texts = [text for limit in limit_range.limits for text in faults(limit, attributes.obj)]
            if texts:
                raise refusal(attributes, *texts)


def _may_change_resources(attributes: Attributes) -> bool:
    """Return False for requests that cannot change resources. Containers of a Pod change only with the subresource
    resize.
    """
    if attributes.old is not None and attributes.old["metadata"].get("deletionTimestamp"):
        return False
    if attributes.subresource:
        return attributes.subresource == "resize" and attributes.operation == "UPDATE"
    return attributes.operation == "CREATE" or attributes.gvr.resource != "pods"


def read_limit_range(obj: Object) -> LimitRange:
    """Parse the fields that the plug-in needs."""
    limits = []
    requests: dict[str, Any] = {}
    defaults: dict[str, Any] = {}
    for item in (obj.get("spec") or {}).get("limits") or ():
        ratio = amounts(item.get("maxLimitRequestRatio"))
        limits.append(Limit(item.get("type", ""), amounts(item.get("min")), amounts(item.get("max")), ratio))
        if item.get("type") == "Container":
            requests |= item.get("defaultRequest") or {}
            defaults |= item.get("default") or {}
    return LimitRange(tuple(limits), requests, defaults)


def _fill_in(pod: Object, limit_range: LimitRange) -> None:
    if not limit_range.default_requests and not limit_range.default_limits:
        return
    texts: list[str] = []
    for field, kind in (("containers", "container"), ("initContainers", "init container")):
        for container in pod["spec"].get(field) or ():
            resources = container.get("resources") or {}
            name = container.get("name", "")
            for part, word, defaults in (
                ("requests", "request", limit_range.default_requests),
                ("limits", "limit", limit_range.default_limits),
            ):
                given = resources.get(part) or {}
                missing = sorted(defaults.keys() - given.keys())
                if missing:
                    resources[part] = {**given, **{each: defaults[each] for each in missing}}
                    texts.append(f"{', '.join(missing)} {word} for {kind} {name}")
            container["resources"] = resources
    if texts:
        metadata = pod["metadata"]
        text = f"LimitRanger plugin set: {'; '.join(texts)}"
        metadata["annotations"] = {**(metadata.get("annotations") or {}), ANNOTATION: text}


def pod_faults(limit: Limit, pod: Object) -> Iterator[str]:
    """Yield the violations of one item by a Pod."""
    spec = pod["spec"]
    if limit.type == "Container":
        for container in (*(spec.get("containers") or ()), *(spec.get("initContainers") or ())):
            resources = container.get("resources") or {}
            yield from _faults(limit, amounts(resources.get("requests")), amounts(resources.get("limits")))
    elif limit.type == "Pod":
        yield from _faults(limit, pod_requests(pod, overhead=False), pod_limits(pod, overhead=False))


def claim_faults(limit: Limit, claim: Object) -> Iterator[str]:
    """Yield the violations of one item by a PersistentVolumeClaim, which has only requests."""
    if limit.type != "PersistentVolumeClaim":
        return
    requests = amounts(((claim.get("spec") or {}).get("resources") or {}).get("requests"))
    for name, bound in limit.min.items():
        yield from _below(limit, name, bound, requests, {})
    for name, bound in limit.max.items():
        about = f"maximum {name} usage per {limit.type} is {bound}"
        if name not in requests:
            yield f"{about}.  No request is specified"
        elif _exceeds(requests[name], bound, requests[name]):
            yield f"{about}, but request is {requests[name]}"


def _faults(limit: Limit, requests: Usage, limits: Usage) -> Iterator[str]:
    for name, bound in limit.min.items():
        yield from _below(limit, name, bound, requests, limits)
    for name, bound in limit.max.items():
        yield from _above(limit, name, bound, requests, limits)
    for name, bound in limit.ratio.items():
        yield from _apart(limit, name, bound, requests, limits)


def _below(limit: Limit, name: str, bound: Quantity, requests: Usage, limits: Usage) -> Iterator[str]:
    about = f"minimum {name} usage per {limit.type} is {bound}"
    request, maximum = requests.get(name), limits.get(name)
    if request is None:
        yield f"{about}.  No request is specified"
    elif _exceeds(bound, request, request, maximum):
        yield f"{about}, but request is {request}"
    elif maximum is not None and _exceeds(bound, maximum, request, maximum):
        yield f"{about}, but limit is {maximum}"


def _above(limit: Limit, name: str, bound: Quantity, requests: Usage, limits: Usage) -> Iterator[str]:
    about = f"maximum {name} usage per {limit.type} is {bound}"
    request, maximum = requests.get(name), limits.get(name)
    if maximum is None:
        yield f"{about}.  No limit is specified"
    elif _exceeds(maximum, bound, request, maximum):
        yield f"{about}, but limit is {maximum}"
    elif request is not None and _exceeds(request, bound, request, maximum):
        yield f"{about}, but request is {request}"


def _apart(limit: Limit, name: str, bound: Quantity, requests: Usage, limits: Usage) -> Iterator[str]:
    about = f"{name} max limit to request ratio per {limit.type} is {bound}"
    scale = _common_scale(bound, requests.get(name), limits.get(name))
    request, maximum = (each.get(name, ZERO).scaled_value(scale) for each in (requests, limits))
    if not request:
        yield f"{about}, but no request is specified or request is 0"
    elif not maximum:
        yield f"{about}, but no limit is specified or limit is 0"
    else:
        milli = bound.value() <= _MILLI_MAX
        ratio = maximum / request
        if ratio * (1000 if milli else 1) > (bound.scaled_value(_MILLI) if milli else bound.value()):
            yield f"{about}, but provided ratio is {ratio:f}"


def _exceeds(one: Quantity, other: Quantity, *beside: Quantity | None) -> bool:
    """Return True if `one` is greater. Compares thousandths if all numbers allow it, else whole units."""
    scale = _common_scale(one, other, *beside)
    return one.scaled_value(scale) > other.scaled_value(scale)


def _common_scale(*quantities: Quantity | None) -> int:
    fits = all(each is None or each.value() <= _MILLI_MAX for each in quantities)
    return _MILLI if fits else 0
