"""`DefaultSelectors`: selectors of the Pods with the same Services and controller, for default spread constraints.

Source: pkg/scheduler/framework/plugins/helper/spread.go (1.36).
"""

from collections.abc import Callable, Mapping
from itertools import chain
from typing import Any, Final

import msgspec

from sampan.core.label_selectors import Selector, selector_from_label_selector, selector_from_labels
from sampan.core.recent import Recent
from sampan.informer.ref import Ref
from sampan.informer.store.indexer import NAMESPACE_INDEX, Indexer
from sampan.resource.view import view_decoder
from sampan.scheduler.pod_info import PodInfo

_KEPT_MAX: Final = 4096
_UNUSED_MAX_S: Final = 300.0
"""Time in seconds after its last use for which a parsed selector is kept."""


class _LabelsSpec(msgspec.Struct, gc=False):
    selector: dict[str, str] | None = None


class _SelectsByLabels(msgspec.Struct, gc=False):
    spec: _LabelsSpec = msgspec.field(default_factory=_LabelsSpec)


class _SelectorSpec(msgspec.Struct, gc=False):
    selector: dict[str, Any] | None = None


class _SelectsBySelector(msgspec.Struct, gc=False):
    spec: _SelectorSpec = msgspec.field(default_factory=_SelectorSpec)


_by_labels = view_decoder(_SelectsByLabels)
_by_selector = view_decoder(_SelectsBySelector)


class DefaultSelectors:
    """Reads the stores of informers. Parsed selectors are cached until their object changes."""

    def __init__(self, services: Indexer[Any], controllers: Mapping[str, Indexer[Any]]) -> None:
        """Create the selectors. `controllers` has the keys ReplicationController, ReplicaSet and StatefulSet."""
        self._services = services
        self._controllers = controllers
        self._read: Recent[tuple[str, object], Selector] = Recent(_KEPT_MAX, _UNUSED_MAX_S)

    def selector_for(self, pod: PodInfo) -> Selector:
        """Return the selector of the Pods with the same Services and controller; an empty one if there are none."""
        found: list[Selector] = []
        for ref in self._services.by_index(NAMESPACE_INDEX, pod.namespace):
            service = self._selector(ref, _of_labels)
            if not service.empty and service.matches(pod.labels):
                found.append(service)
        owner = pod.controller
        if owner is not None and owner.kind in self._controllers:
            controller = self._controllers[owner.kind].get(f"{pod.namespace}/{owner.name}")
            if controller is not None and controller.uid == owner.uid:
                read = _of_labels if owner.kind == "ReplicationController" else _of_selector
                found.append(self._selector(controller, read))
        return found[0] if len(found) == 1 else Selector(dict.fromkeys(chain(*(each.requirements for each in found))))

    def _selector(self, ref: Ref[Any], read: Callable[[bytes], Selector]) -> Selector:
        key = (ref.uid, ref.generation or ref.resource_version)
        found = self._read.get(key)
        if found is None:
            found = read(ref.raw)
            self._read.put(key, found)
        return found


def _of_labels(raw: bytes) -> Selector:
    return selector_from_labels(_by_labels(raw).spec.selector)


def _of_selector(raw: bytes) -> Selector:
    try:
        return selector_from_label_selector(_by_selector(raw).spec.selector)
    except ValueError:
        return Selector()
