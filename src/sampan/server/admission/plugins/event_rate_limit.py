"""EventRateLimit: refuses Events with 429 beyond a rate for the server, a namespace, a user or a source.

Source: kubernetes plugin/pkg/admission/eventratelimit/ (1.36).
"""

from collections import OrderedDict
from collections.abc import Callable
from typing import ClassVar, Final

from sampan.core.errors import Reason, StatusError
from sampan.core.field import FieldError, Path, aggregate, invalid, not_supported
from sampan.core.object import Object
from sampan.server.admission.chain import Attributes

_SERVER: Final = "Server"
_CACHE_SIZE: Final = 4096


class _Bucket:
    """Token bucket."""

    def __init__(self, qps: int, burst: int, now: float) -> None:
        self._qps = qps
        self._burst = burst
        self._tokens = float(burst)
        self._at = now

    def take(self, now: float) -> bool:
        """Take a token; return False if there is none."""
        self._tokens = min(float(self._burst), self._tokens + (now - self._at) * self._qps)
        self._at = now
        if self._tokens < 1:
            return False
        self._tokens -= 1
        return True


class _Limit:
    """One limit, with a bucket for each key. At its maximum size the least recently used bucket is dropped."""

    def __init__(self, given: Object) -> None:
        self.type: str = given["type"]
        self._qps: int = given["qps"]
        self._burst: int = given["burst"]
        self._size: int = given.get("cacheSize") or _CACHE_SIZE
        self._buckets: OrderedDict[str, _Bucket] = OrderedDict()

    def refuses(self, attributes: Attributes, now: float) -> str:
        """Return the reason for a refusal; empty if there is none."""
        key = _KEYS[self.type](attributes)
        bucket = self._buckets.pop(key, None) or _Bucket(self._qps, self._burst, now)
        self._buckets[key] = bucket
        if len(self._buckets) > self._size:
            self._buckets.popitem(last=False)
        return "" if bucket.take(now) else f"limit reached on type {self.type} for key {key}"


class EventRateLimit:
    """Limits Events by server, namespace, user, or source and object."""

    name: ClassVar[str] = "EventRateLimit"
    operations: ClassVar[frozenset[str]] = frozenset({"CREATE", "UPDATE"})
    resources: ClassVar[frozenset[tuple[str, str]] | None] = frozenset({("", "events"), ("events.k8s.io", "events")})

    def __init__(self, configuration: Object, monotonic: Callable[[], float]) -> None:
        """Read the limits. **Raises** `ValueError` if the configuration is invalid."""
        faults = _faults(configuration)
        if faults:
            raise ValueError(aggregate(faults))
        self._limits = [_Limit(given) for given in configuration["limits"]]
        self._monotonic = monotonic

    async def validate(self, attributes: Attributes) -> None:
        """Take a token from each limit. **Raises** 429 without Retry-After, because Events may be lost."""
        if attributes.dry_run:
            return
        now = self._monotonic()
        texts = [text for limit in self._limits if (text := limit.refuses(attributes, now))]
        if texts:
            text = texts[0] if len(texts) == 1 else f"[{', '.join(texts)}]"
            raise StatusError(Reason.TOO_MANY_REQUESTS, 429, f"Too many requests: {text}")


def _faults(configuration: Object) -> list[FieldError]:
    limits, path = configuration.get("limits"), Path("limits")
    faults = [] if limits else [invalid(path, limits, "must not be empty")]
    for index, given in enumerate(limits or ()):
        at = path.index(index)
        if given.get("type") not in _KEYS:
            faults.append(not_supported(at.child("type"), given.get("type", ""), tuple(_KEYS)))
        wrong = [field for field in ("burst", "qps") if (given.get(field) or 0) <= 0]
        faults += [invalid(at.child(field), given.get(field, 0), "must be positive") for field in wrong]
        if given.get("type") != _SERVER and (given.get("cacheSize") or 0) < 0:
            faults.append(invalid(at.child("cacheSize"), given["cacheSize"], "must not be negative"))
    return faults


def _source_and_object(attributes: Attributes) -> str:
    event = attributes.obj or {}
    source, about = event.get("source") or {}, event.get("involvedObject") or {}
    fields = ("kind", "namespace", "name", "uid", "apiVersion")
    return "".join((source.get("component", ""), source.get("host", ""), *(about.get(field, "") for field in fields)))


_KEYS: Final[dict[str, Callable[[Attributes], str]]] = {
    _SERVER: lambda attributes: "",
    "Namespace": lambda attributes: attributes.namespace,
    "User": lambda attributes: attributes.user.name if attributes.user is not None else "",
    "SourceAndObject": _source_and_object,
}
