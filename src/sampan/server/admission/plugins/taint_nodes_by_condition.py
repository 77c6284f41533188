"""TaintNodesByCondition: a new Node gets no Pods before a controller finds it ready.

Source: kubernetes plugin/pkg/admission/nodetaint/admission.go (1.36).
"""

from typing import ClassVar, Final

from sampan.server.admission.chain import Attributes

_TAINT: Final = {"key": "node.kubernetes.io/not-ready", "effect": "NoSchedule"}


class TaintNodesByCondition:
    """Adds the taint not-ready, which the node lifecycle controller removes."""

    name: ClassVar[str] = "TaintNodesByCondition"
    operations: ClassVar[frozenset[str]] = frozenset({"CREATE"})
    resources: ClassVar[frozenset[tuple[str, str]] | None] = frozenset({("", "nodes")})

    async def admit(self, attributes: Attributes) -> None:
        """Add the taint. Never refuses."""
        if attributes.subresource or attributes.obj is None:
            return
        spec = attributes.obj.setdefault("spec", {})
        taints = spec.get("taints") or []
        if not any(each.get("key") == _TAINT["key"] and each.get("effect") == _TAINT["effect"] for each in taints):
            spec["taints"] = [*taints, dict(_TAINT)]
