"""Pods come in thousands from one template: what was found sound once need not be looked at again.

A verdict is kept under the exact bytes of all that it depends on, so it can never be another's; only "no fault" and "no
warning" are kept.
"""

from collections import OrderedDict

import orjson

from sampan.core.object import Object

_KEPT_MAX = 512
_KEY_BYTES_MAX = 16 << 10


class SoundPods:
    """The specs (with labels and annotations) of pods that had no fault; the least recently seen ones are forgotten."""

    def __init__(self) -> None:
        self._known: OrderedDict[bytes, None] = OrderedDict()

    def key(self, pod: Object) -> bytes | None:
        """Under what a verdict on this pod is kept. None: it depends on the pod's name too, or the pod is large."""
        spec, metadata = pod["spec"], pod["metadata"]
        if "resourceClaims" in spec or any("ephemeral" in volume for volume in spec.get("volumes") or ()):
            return None
        try:
            found = orjson.dumps((spec, metadata.get("labels"), metadata.get("annotations")))
        except orjson.JSONEncodeError:
            return None
        return found if len(found) <= _KEY_BYTES_MAX else None

    def knows(self, key: bytes | None) -> bool:
        """Whether a pod of this key was found sound before."""
        if key is None or key not in self._known:
            return False
        self._known.move_to_end(key)
        return True

    def keep(self, key: bytes | None) -> None:
        """A pod of this key is sound."""
        if key is not None:
            self._known[key] = None
            if len(self._known) > _KEPT_MAX:
                self._known.popitem(last=False)
