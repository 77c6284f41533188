"""DefaultTolerationSeconds: Pods stay five minutes on a Node that is not ready or unreachable.

Source: kubernetes plugin/pkg/admission/defaulttolerationseconds/admission.go (1.36).
"""

from typing import ClassVar, Final

from sampan.server.admission.chain import Attributes
from sampan.server.admission.pods import POD_ONLY

TOLERATION_S: Final = 300
_KEYS: Final = ("node.kubernetes.io/not-ready", "node.kubernetes.io/unreachable")
_EFFECT: Final = "NoExecute"


class DefaultTolerationSeconds:
    """Adds tolerations for the taints not-ready and unreachable, unless the Pod has its own."""

    name: ClassVar[str] = "DefaultTolerationSeconds"
    operations: ClassVar[frozenset[str]] = frozenset({"CREATE", "UPDATE"})
    resources: ClassVar[frozenset[tuple[str, str]] | None] = POD_ONLY

    async def admit(self, attributes: Attributes) -> None:
        """Add the tolerations. Never refuses."""
        if attributes.subresource or attributes.obj is None:
            return
        spec = attributes.obj["spec"]
        tolerations = spec.get("tolerations") or []
        tolerated = {each.get("key", "") for each in tolerations if each.get("effect", "") in ("", _EFFECT)}
        if "" in tolerated:
            return
        missing = [key for key in _KEYS if key not in tolerated]
        if missing:
            added = [
                {"key": key, "operator": "Exists", "effect": _EFFECT, "tolerationSeconds": TOLERATION_S}
                for key in missing
            ]
            spec["tolerations"] = [*tolerations, *added]
