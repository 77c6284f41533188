"""Validation of bound tokens: times, service account, and the objects to which the token is bound.

Source: kubernetes pkg/serviceaccount/claims.go (1.36).
"""

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any, NoReturn

from sampan.core.object import Object
from sampan.core.time import parse_time
from sampan.registry.strategy import ObjectReader
from sampan.server.authentication.authenticator import TokenError
from sampan.server.authentication.service_account.counts import TokenCounts
from sampan.server.authentication.service_account.user import ObjectRef, ServiceAccountInfo, credential_id_of

LEEWAY_S = 60.0
"""Tolerated clock difference in seconds. Tokens of a deleted object also stay valid for this time."""
_STALE_TOKEN = "authentication.k8s.io/stale-token"
_GONE = "service account token has been invalidated"


class NotInCache(TokenError):
    """An object that the token needs is not in the cache. It may exist in the store. `resource` is the object's
    resource.
    """

    def __init__(self, text: str, resource: str) -> None:
        super().__init__(text)
        self.resource = resource


@dataclass(frozen=True, slots=True)
class Valid:
    """Service account of a valid token, and the notes about the token."""

    account: ServiceAccountInfo
    annotations: Mapping[str, str] = field(default_factory=dict)
    warnings: tuple[str, ...] = ()
    secret: Object | None = None
    """Secret that contains the token. The use of the token is recorded in this Secret."""
    refusal: str = ""
    """Reason to refuse the token after its use is recorded."""


def validate_bound(reader: ObjectReader, claims: Mapping[str, Any], now_s: float, counts: TokenCounts) -> Valid:
    """Check the claims against the cache. Raises `TokenError`, `NotInCache`."""
    _check_times(claims, now_s)
    private = claims.get("kubernetes.io")
    if not isinstance(private, dict):
        private = {}
    namespace, account = _text(private, "namespace"), _ref(private, "serviceaccount") or ObjectRef("")
    deadline = now_s - LEEWAY_S
    _check_account(reader, namespace, account, deadline)
    pod, secret, node = _ref(private, "pod"), _ref(private, "secret"), _ref(private, "node")
    for resource, ref, place in (("secrets", secret, namespace), ("pods", pod, namespace)):
        if ref is not None:
            _check_bound(reader.get("", resource, place, ref.name), ref, resource, deadline)
    if node is not None and pod is None:
        _check_bound(reader.get("", "nodes", "", node.name), node, "nodes", deadline)
    jti = claims.get("jti")
    info = ServiceAccountInfo(
        namespace, account.name, account.uid, pod, node, credential_id_of(jti) if isinstance(jti, str) else ""
    )
    return Valid(info, _stale(private, claims, now_s, counts))


def _check_times(claims: Mapping[str, Any], now_s: float) -> None:
    not_before, expiry, issued = (_number(claims, name) for name in ("nbf", "exp", "iat"))
    if not_before is not None and now_s + LEEWAY_S < not_before:
        raise TokenError("service account token is not valid yet")
    if expiry is not None and now_s - LEEWAY_S > expiry:
        raise TokenError("service account token has expired")
    if issued is not None and now_s + LEEWAY_S < issued:
        raise TokenError("service account token is issued in the future")


def _check_account(reader: ObjectReader, namespace: str, ref: ObjectRef, deadline_s: float) -> None:
    if not ref.name:
        raise TokenError("resource name may not be empty")
    account = reader.get("", "serviceaccounts", namespace, ref.name) if namespace else None
    if account is None:
        raise NotInCache(f'serviceaccounts "{ref.name}" not found', "serviceaccounts")
    uid = account["metadata"]["uid"]
    if uid != ref.uid:
        raise TokenError(f"service account UID ({uid}) does not match claim ({ref.uid})")
    if _deleted_before(account, deadline_s):
        raise TokenError(f"service account {namespace}/{ref.name} has been deleted")


def _check_bound(obj: Object | None, ref: ObjectRef, resource: str, deadline_s: float) -> None:
    if obj is None:
        raise NotInCache(_GONE, resource)
    uid, kind = obj["metadata"]["uid"], resource[:-1]
    if uid != ref.uid:
        raise TokenError(f"{kind} UID ({uid}) does not match service account {kind} ref claim ({ref.uid})")
    if _deleted_before(obj, deadline_s):
        raise TokenError(_GONE)


def _deleted_before(obj: Object, deadline_s: float) -> bool:
    deleted = obj["metadata"].get("deletionTimestamp")
    return deleted is not None and parse_time(deleted).timestamp() < deadline_s


def _stale(private: Mapping[str, Any], claims: Mapping[str, Any], now_s: float, counts: TokenCounts) -> dict[str, str]:
    """Return the audit annotation for a token that should have been refreshed."""
    after = _number(private, "warnafter")
    if not after:
        return {}
    if now_s <= after:
        counts.valid.add(())
        return {}
    counts.stale.add(())
    seconds = int(now_s) - int(after)
    return {_STALE_TOKEN: f"subject: {claims.get('sub', '')}, seconds after warning threshold: {seconds}"}


def _ref(private: Mapping[str, Any], name: str) -> ObjectRef | None:
    value = private.get(name)
    if value is None:
        return None
    if not isinstance(value, dict):
        _malformed()
    return ObjectRef(_text(value, "name"), _text(value, "uid"))


def _text(value: Mapping[str, Any], name: str) -> str:
    found = value.get(name, "")
    if not isinstance(found, str):
        _malformed()
    return found


def _number(value: Mapping[str, Any], name: str) -> float | None:
    found = value.get(name)
    if found is None:
        return None
    if isinstance(found, bool) or not isinstance(found, int | float):
        _malformed()
    return found


def _malformed() -> NoReturn:
    raise TokenError("service account token claims could not be validated due to unexpected validation error")
