"""Cache of valid pods: workloads create many equal pods from one template, which need not be validated again.

The key is the exact bytes of all that the result depends on, so pods that differ never share a result. Only the results
"no fault" and "no warning" are cached.
"""

from collections import OrderedDict

import orjson

from sampan.core.object import Object

_KEYS_MAX = 512
_KEY_BYTES_MAX = 16 << 10


class ValidPodCache:
    """Specs (with labels and annotations) of pods without faults. The least recently used ones are evicted."""

    def __init__(self) -> None:
        self._keys: OrderedDict[bytes, None] = OrderedDict()

    def key(self, pod: Object) -> bytes | None:
        """Return the cache key of a pod. None if the result depends on the pod's name too, or if the pod is large."""
        spec, metadata = pod["spec"], pod["metadata"]
        if "resourceClaims" in spec or any("ephemeral" in volume for volume in spec.get("volumes") or ()):
            return None
        try:
            found = orjson.dumps((spec, metadata.get("labels"), metadata.get("annotations")))
        except orjson.JSONEncodeError:
            return None
        return found if len(found) <= _KEY_BYTES_MAX else None

    def contains(self, key: bytes | None) -> bool:
        """Return True if the key is in the cache."""
        if key is None or key not in self._keys:
            return False
        self._keys.move_to_end(key)
        return True

    def add(self, key: bytes | None) -> None:
        """Add the key of a valid pod."""
        if key is not None:
            self._keys[key] = None
            if len(self._keys) > _KEYS_MAX:
                self._keys.popitem(last=False)
