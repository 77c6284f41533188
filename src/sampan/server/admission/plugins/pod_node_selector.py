"""PodNodeSelector: namespaces restrict the Nodes of their Pods.

Source: kubernetes plugin/pkg/admission/podnodeselector/admission.go (1.36).
"""

from collections.abc import Mapping
from typing import ClassVar, Final

from sampan.core.errors import StatusError, forbidden
from sampan.core.object import Object
from sampan.registry.reader import CacheReader
from sampan.server.admission.chain import Attributes
from sampan.server.admission.derived_cache import DerivedCache
from sampan.server.admission.pods import POD_ONLY, annotations_of
from sampan.server.admission.refusal import plain_error

ANNOTATION: Final = "scheduler.alpha.kubernetes.io/node-selector"
_CLUSTER_DEFAULT: Final = "clusterDefaultNodeSelector"
_CONFIGURATION: Final = "podNodeSelectorPluginConfig"
_CONFLICT: Final = "pod node label selector conflicts with its namespace node label selector"
_NOT_ALLOWED: Final = "pod node label selector labels conflict with its namespace whitelist"


class PodNodeSelector:
    """Adds the selector of the namespace, or the cluster's default, to new Pods."""

    name: ClassVar[str] = "PodNodeSelector"
    operations: ClassVar[frozenset[str]] = frozenset({"CREATE"})
    resources: ClassVar[frozenset[tuple[str, str]] | None] = POD_ONLY

    def __init__(self, reader: CacheReader, configuration: Object) -> None:
        """Read the configuration. **Raises** `ValueError` if it is invalid."""
        selectors = configuration.get(_CONFIGURATION) or {}
        self._selectors = {name: _labels(text) for name, text in selectors.items()}
        self._annotations = DerivedCache(reader, "", "namespaces", lambda obj: annotations_of(obj).get(ANNOTATION))

    async def admit(self, attributes: Attributes) -> None:
        """Add the selector. **Raises** 403."""
        if attributes.subresource or attributes.obj is None:
            return
        spec = attributes.obj["spec"]
        selector = self._selector_of(attributes.namespace)
        own = spec.get("nodeSelector") or {}
        if _conflict(selector, own):
            raise _refusal(attributes, _CONFLICT)
        merged = {**selector, **own}
        if merged:
            spec["nodeSelector"] = merged
        self._check_allowed(attributes, merged)

    async def validate(self, attributes: Attributes) -> None:
        """Check the selector. **Raises** 403."""
        if attributes.subresource or attributes.obj is None:
            return
        selector = attributes.obj["spec"].get("nodeSelector") or {}
        if _conflict(self._selector_of(attributes.namespace), selector):
            raise _refusal(attributes, _CONFLICT)
        self._check_allowed(attributes, selector)

    def _selector_of(self, namespace: str) -> Mapping[str, str]:
        annotation = self._annotations.get(namespace)
        if annotation is None:
            return self._selectors.get(_CLUSTER_DEFAULT, {})
        try:
            return _labels(annotation)
        except ValueError as error:
            raise plain_error(str(error)) from None

    def _check_allowed(self, attributes: Attributes, selector: Mapping[str, str]) -> None:
        allowed = self._selectors.get(attributes.namespace, {})
        if allowed and any(allowed.get(key) != value for key, value in selector.items()):
            raise _refusal(attributes, _NOT_ALLOWED)


def _refusal(attributes: Attributes, text: str) -> StatusError:
    assert attributes.obj is not None
    return forbidden(attributes.gvr.group_resource, attributes.obj["metadata"].get("name", ""), text)


def _labels(text: str) -> dict[str, str]:
    """Parse `a=b,c=d` as labels. **Raises** `ValueError`."""
    labels = {}
    for part in text.split(",") if text else ():
        sides = part.split("=")
        if len(sides) != 2:
            raise ValueError(f"invalid selector: [{' '.join(sides)}]")
        labels[sides[0].strip()] = sides[1].strip()
    return labels


def _conflict(one: Mapping[str, str], other: Mapping[str, str]) -> bool:
    return any(other.get(key, value) != value for key, value in one.items())
