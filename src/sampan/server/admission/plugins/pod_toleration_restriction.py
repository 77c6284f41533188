"""PodTolerationRestriction: default and allowed tolerations of the Pods in a namespace.

Source: kubernetes plugin/pkg/admission/podtolerationrestriction/admission.go (1.36).
"""

from typing import Any, ClassVar, Final, NamedTuple

import msgspec

from sampan.core.field import FieldError, Path
from sampan.core.go_text import unmarshal_text
from sampan.core.object import Object
from sampan.core.pods.tolerations import Toleration, covers, merge_tolerations
from sampan.core.quota.scopes import is_best_effort
from sampan.registry.kinds.pod_spec.options import PodOptions
from sampan.registry.kinds.pod_spec.scheduling import validate_tolerations
from sampan.registry.reader import CacheReader
from sampan.schema.compile import DecodeError
from sampan.schema.decoding.decode import DecoderCompiler
from sampan.server.admission.chain import Attributes
from sampan.server.admission.configuration import TOLERATION
from sampan.server.admission.derived_cache import DerivedCache
from sampan.server.admission.pods import POD_ONLY, annotations_of
from sampan.server.admission.refusal import plain_error
from sampan.wire import json as wire_json
from sampan.wire.json import UNREADABLE

DEFAULTS_ANNOTATION: Final = "scheduler.alpha.kubernetes.io/defaultTolerations"
WHITELIST_ANNOTATION: Final = "scheduler.alpha.kubernetes.io/tolerationsWhitelist"
_DECODE: Final = DecoderCompiler().compile(TOLERATION)
_MEMORY_PRESSURE: Final = Toleration("node.kubernetes.io/memory-pressure", "Exists", "", "NoSchedule")


class _Annotations(NamedTuple):
    """The two annotations of a namespace, not parsed."""

    defaults: str | None
    whitelist: str | None


class PodTolerationRestriction:
    """Merges tolerations, and checks them against the whitelist of the namespace or the cluster."""

    name: ClassVar[str] = "PodTolerationRestriction"
    operations: ClassVar[frozenset[str]] = frozenset({"CREATE", "UPDATE"})
    resources: ClassVar[frozenset[tuple[str, str]] | None] = POD_ONLY

    def __init__(self, reader: CacheReader, configuration: Object) -> None:
        """Read the configuration. **Raises** `ValueError` if it is invalid."""
        faults: list[FieldError] = []
        for name in ("default", "whitelist"):
            place = Path("podtolerationrestriction", name)
            validate_tolerations(configuration.get(name) or [], place, faults, PodOptions())
        if faults:
            raise ValueError(f"invalid config: [{' '.join(map(str, faults))}]")
        self._defaults = _tolerations(configuration.get("default") or [])
        self._whitelist = _tolerations(configuration.get("whitelist") or [])
        self._annotations = DerivedCache(reader, "", "namespaces", _annotations)

    async def admit(self, attributes: Attributes) -> None:
        """Merge tolerations. **Raises** 500 with Kubernetes' messages."""
        pod = attributes.obj
        if attributes.subresource or pod is None:
            return
        extra: list[Toleration] = []
        if attributes.operation == "CREATE":
            given = self._annotations.get(attributes.namespace)
            defaults = None if given is None or given.defaults is None else _annotated(given.defaults)
            extra = list(self._defaults if defaults is None else defaults)
        if not is_best_effort(pod):
            extra.append(_MEMORY_PRESSURE)
        if extra:
            merged = merge_tolerations([*_tolerations(pod["spec"].get("tolerations") or []), *extra])
            pod["spec"]["tolerations"] = msgspec.to_builtins(merged)
        await self.validate(attributes)

    async def validate(self, attributes: Attributes) -> None:
        """Check the tolerations. **Raises** 500 with Kubernetes' messages."""
        pod = attributes.obj
        if attributes.subresource or pod is None or not pod["spec"].get("tolerations"):
            return
        given = self._annotations.get(attributes.namespace)
        scope, whitelist = (
            "namespace",
            None if given is None or given.whitelist is None else _annotated(given.whitelist),
        )
        if whitelist is None:
            scope, whitelist = "cluster", self._whitelist
        allowed = whitelist
        tolerations = _tolerations(pod["spec"]["tolerations"])
        if allowed and not all(any(covers(wide, each) for wide in allowed) for each in tolerations):
            text = "pod tolerations (possibly merged with namespace default tolerations) conflict with its"
            raise plain_error(f"{text} {scope} whitelist")


def _annotations(namespace: Object) -> _Annotations:
    annotations = annotations_of(namespace)
    return _Annotations(annotations.get(DEFAULTS_ANNOTATION), annotations.get(WHITELIST_ANNOTATION))


def _tolerations(given: list[Any]) -> list[Toleration]:
    return msgspec.convert(given, list[Toleration])


def _annotated(text: str) -> list[Toleration]:
    if not text:
        return []
    try:
        given = wire_json.decode(text.encode())
        if given is None:
            return []
        if not isinstance(given, list):
            raise plain_error(unmarshal_text(given, "[]v1.Toleration"))
        return _tolerations([_DECODE(each, []) for each in given])
    except (*UNREADABLE, DecodeError) as error:
        raise plain_error(str(error)) from None
