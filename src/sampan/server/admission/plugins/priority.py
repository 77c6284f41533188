"""Priority: sets the priority of Pods from their PriorityClass.

Source: kubernetes plugin/pkg/admission/priority/admission.go (1.36).
"""

from typing import Any, ClassVar, Final, NamedTuple

from sampan.core.object import Object
from sampan.registry.reader import CacheReader
from sampan.server.admission.chain import Attributes
from sampan.server.admission.derived_cache import DerivedCache, DerivedValue
from sampan.server.admission.pods import POD, POD_ONLY
from sampan.server.admission.refusal import refusal

_CLASSES: Final = ("scheduling.k8s.io", "priorityclasses")


class _Class(NamedTuple):
    """Fields of a PriorityClass that Pods take over."""

    name: str
    value: int
    preemption_policy: str | None


_NO_CLASS: Final = _Class("", 0, "PreemptLowerPriority")


class Priority:
    """Sets priorities, and allows only one default PriorityClass."""

    name: ClassVar[str] = "Priority"
    operations: ClassVar[frozenset[str]] = frozenset({"CREATE", "UPDATE"})
    resources: ClassVar[frozenset[tuple[str, str]] | None] = POD_ONLY | {_CLASSES}

    def __init__(self, reader: CacheReader) -> None:
        self._classes = DerivedCache(reader, *_CLASSES, _class)
        self._default = DerivedValue(reader, _CLASSES, _default_class)

    async def admit(self, attributes: Attributes) -> None:
        """Set the priority. **Raises** 403 if the class does not exist, or the Pod has a different priority."""
        pod = attributes.obj
        if attributes.subresource or pod is None or (attributes.gvr.group, attributes.gvr.resource) != POD:
            return
        spec = pod["spec"]
        if attributes.old is None:
            await self._fill_in(attributes, spec)
            return
        before = attributes.old.get("spec") or {}
        for field in ("priority", "preemptionPolicy"):
            if field not in spec and field in before:
                spec[field] = before[field]

    async def validate(self, attributes: Attributes) -> None:
        """Check PriorityClasses. **Raises** 403 for a second default class."""
        chosen = attributes.obj
        if attributes.subresource or chosen is None or (attributes.gvr.group, attributes.gvr.resource) != _CLASSES:
            return
        if not chosen.get("globalDefault"):
            return
        default = self._default.get()
        if default is not None and (attributes.old is None or default.name != chosen["metadata"]["name"]):
            text = f"PriorityClass {default.name} is already marked as default. Only one default can exist"
            raise refusal(attributes, text)

    async def _fill_in(self, attributes: Attributes, spec: Object) -> None:
        found = await self._class_of(attributes, spec.get("priorityClassName", ""))
        if found.name:
            spec["priorityClassName"] = found.name
        given: Any = spec.get("priority")
        if given is not None and given != found.value:
            raise refusal(
                attributes,
                f"the integer value of priority ({given}) must not be provided in pod spec; priority admission "
                f"controller computed {found.value} from the given PriorityClass name",
            )
        spec["priority"] = found.value
        if found.preemption_policy is None:
            return
        given = spec.get("preemptionPolicy")
        if given is not None and given != found.preemption_policy:
            raise refusal(
                attributes,
                f"the string value of PreemptionPolicy ({given}) must not be provided in pod spec; priority admission "
                f"controller computed {found.preemption_policy} from the given PriorityClass name",
            )
        spec["preemptionPolicy"] = found.preemption_policy

    async def _class_of(self, attributes: Attributes, name: str) -> _Class:
        if not name:
            return self._default.get() or _NO_CLASS
        found = await self._classes.find(name)
        if found is None:
            raise refusal(attributes, f"no PriorityClass with name {name} was found")
        return found


def _class(obj: Object) -> _Class:
    return _Class(obj["metadata"]["name"], obj.get("value", 0), obj.get("preemptionPolicy"))


def _default_class(objects: list[Object]) -> _Class | None:
    """Return the default class. If a race has created several, the lowest wins."""
    defaults = [_class(obj) for obj in objects if obj.get("globalDefault")]
    return min(defaults, key=lambda each: each.value, default=None)
