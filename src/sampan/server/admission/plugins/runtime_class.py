"""RuntimeClass: Pods take the overhead and the scheduling rules of their RuntimeClass.

Source: kubernetes plugin/pkg/admission/runtimeclass/admission.go (1.36).
"""

from typing import Any, ClassVar

import msgspec

from sampan.core.field import quote
from sampan.core.object import Object
from sampan.core.pods.tolerations import Toleration, merge_tolerations
from sampan.core.quota.usage import amounts
from sampan.registry.reader import CacheReader
from sampan.server.admission.chain import Attributes
from sampan.server.admission.derived_cache import DerivedCache
from sampan.server.admission.pods import POD_ONLY
from sampan.server.admission.refusal import refusal

_OTHERWISE = "pod rejected: Pod's Overhead doesn't match RuntimeClass's defined Overhead"
_WITHOUT_CLASS = "pod rejected: Pod Overhead set without corresponding RuntimeClass defined Overhead"


class RuntimeClass:
    """Admits new Pods."""

    name: ClassVar[str] = "RuntimeClass"
    operations: ClassVar[frozenset[str]] = frozenset({"CREATE"})
    resources: ClassVar[frozenset[tuple[str, str]] | None] = POD_ONLY

    def __init__(self, reader: CacheReader) -> None:
        self._classes = DerivedCache[Object](reader, "node.k8s.io", "runtimeclasses", lambda found: found)

    async def admit(self, attributes: Attributes) -> None:
        """Set overhead and scheduling. **Raises** 403 if the class does not exist or the Pod conflicts with it."""
        pod = attributes.obj
        if attributes.subresource or pod is None:
            return
        runtime_class = self._class_of(attributes, pod["spec"])
        if runtime_class is None:
            return
        _set_overhead(attributes, pod["spec"], _overhead(runtime_class))
        _set_scheduling(attributes, pod["spec"], runtime_class.get("scheduling"))

    async def validate(self, attributes: Attributes) -> None:
        """Check the overhead. **Raises** 403."""
        pod = attributes.obj
        if attributes.subresource or pod is None:
            return
        spec = pod["spec"]
        runtime_class = self._class_of(attributes, spec)
        overhead = None if runtime_class is None else _overhead(runtime_class)
        if overhead is None:
            if spec.get("overhead") is not None:
                raise refusal(attributes, _WITHOUT_CLASS)
        elif amounts(overhead) != amounts(spec.get("overhead")):
            raise refusal(attributes, _OTHERWISE)

    def _class_of(self, attributes: Attributes, spec: Object) -> Object | None:
        name = spec.get("runtimeClassName")
        if name is None:
            return None
        found = self._classes.get(name)
        if found is None:
            raise refusal(attributes, f"pod rejected: RuntimeClass {quote(name)} not found")
        return found


def _overhead(runtime_class: Object) -> dict[str, Any] | None:
    overhead = runtime_class.get("overhead")
    return None if overhead is None else overhead.get("podFixed") or {}


def _set_overhead(attributes: Attributes, spec: Object, overhead: dict[str, Any] | None) -> None:
    if overhead is None:
        return
    if spec.get("overhead") and amounts(spec["overhead"]) != amounts(overhead):
        raise refusal(attributes, _OTHERWISE)
    spec["overhead"] = dict(overhead)


def _set_scheduling(attributes: Attributes, spec: Object, scheduling: Object | None) -> None:
    if scheduling is None:
        return
    selector = dict(spec.get("nodeSelector") or {})
    for key, value in (scheduling.get("nodeSelector") or {}).items():
        if selector.get(key, value) != value:
            raise refusal(
                attributes,
                f"conflict: runtimeClass.scheduling.nodeSelector[{key}] = {value}; "
                f"pod.spec.nodeSelector[{key}] = {selector[key]}",
            )
        selector[key] = value
    if selector:
        spec["nodeSelector"] = selector
    more = scheduling.get("tolerations") or []
    if more:
        tolerations = msgspec.convert([*(spec.get("tolerations") or []), *more], list[Toleration])
        spec["tolerations"] = msgspec.to_builtins(merge_tolerations(tolerations))
