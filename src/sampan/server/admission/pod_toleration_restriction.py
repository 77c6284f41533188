"""PodTolerationRestriction: which tolerations the Pods of a namespace get, and which they may have.

Source: kubernetes plugin/pkg/admission/podtolerationrestriction/admission.go (1.36).
"""

from typing import Any, ClassVar, Final, NamedTuple

import msgspec

from sampan.core.field import FieldError, Path
from sampan.core.object import Object
from sampan.core.quota.scopes import is_best_effort
from sampan.core.tolerations import Toleration, covers, merge_tolerations
from sampan.patch.go_text import json_kind
from sampan.registry.kinds.pod_spec.options import PodOptions
from sampan.registry.kinds.pod_spec.scheduling import validate_tolerations
from sampan.registry.reader import CacheReader
from sampan.schema.compile import DecodeError
from sampan.schema.decode import DecoderCompiler
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


class _Said(NamedTuple):
    """The two annotations of a namespace as they are written."""

    defaults: str | None
    whitelist: str | None


class PodTolerationRestriction:
    """Merges tolerations; then looks whether the whitelist of the namespace, or of the cluster, covers them."""

    name: ClassVar[str] = "PodTolerationRestriction"
    operations: ClassVar[frozenset[str]] = frozenset({"CREATE", "UPDATE"})
    resources: ClassVar[frozenset[tuple[str, str]] | None] = POD_ONLY

    def __init__(self, reader: CacheReader, configuration: Object) -> None:
        """Raises `ValueError` for a configuration that makes no sense."""
        faults: list[FieldError] = []
        for name in ("default", "whitelist"):
            place = Path("podtolerationrestriction", name)
            validate_tolerations(configuration.get(name) or [], place, faults, PodOptions())
        if faults:
            raise ValueError(f"invalid config: [{' '.join(map(str, faults))}]")
        self._defaults = _tolerations(configuration.get("default") or [])
        self._whitelist = _tolerations(configuration.get("whitelist") or [])
        self._said = DerivedCache(reader, "", "namespaces", _said)

    async def admit(self, attributes: Attributes) -> None:
        """Raises 500 with the texts that Kubernetes has for it."""
        pod = attributes.obj
        if attributes.subresource or pod is None:
            return
        extra: list[Toleration] = []
        if attributes.operation == "CREATE":
            said = self._said.get(attributes.namespace)
            defaults = None if said is None or said.defaults is None else _annotated(said.defaults)
            extra = list(self._defaults if defaults is None else defaults)
        if not is_best_effort(pod):
            extra.append(_MEMORY_PRESSURE)
        if extra:
            merged = merge_tolerations([*_tolerations(pod["spec"].get("tolerations") or []), *extra])
            pod["spec"]["tolerations"] = msgspec.to_builtins(merged)
        await self.validate(attributes)

    async def validate(self, attributes: Attributes) -> None:
        """Raises 500 with the texts that Kubernetes has for it."""
        pod = attributes.obj
        if attributes.subresource or pod is None or not pod["spec"].get("tolerations"):
            return
        said = self._said.get(attributes.namespace)
        scope, whitelist = "namespace", None if said is None or said.whitelist is None else _annotated(said.whitelist)
        if whitelist is None:
            scope, whitelist = "cluster", self._whitelist
        allowed = whitelist
        tolerations = _tolerations(pod["spec"]["tolerations"])
        if allowed and not all(any(covers(wide, each) for wide in allowed) for each in tolerations):
            text = "pod tolerations (possibly merged with namespace default tolerations) conflict with its"
            raise plain_error(f"{text} {scope} whitelist")


def _said(namespace: Object) -> _Said:
    annotations = annotations_of(namespace)
    return _Said(annotations.get(DEFAULTS_ANNOTATION), annotations.get(WHITELIST_ANNOTATION))


def _tolerations(said: list[Any]) -> list[Toleration]:
    return msgspec.convert(said, list[Toleration])


def _annotated(text: str) -> list[Toleration]:
    if not text:
        return []
    try:
        said = wire_json.decode(text.encode())
        if said is None:
            return []
        if not isinstance(said, list):
            raise plain_error(f"json: cannot unmarshal {json_kind(said)} into Go value of type []v1.Toleration")
        return _tolerations([_DECODE(each, []) for each in said])
    except (*UNREADABLE, DecodeError) as error:
        raise plain_error(str(error)) from None
