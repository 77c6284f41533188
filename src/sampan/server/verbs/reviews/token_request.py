"""POST serviceaccounts/NAME/token: issue a token for a service account, optionally bound to an object.

Source: kubernetes pkg/registry/core/serviceaccount/storage/token.go, pkg/apis/authentication/validation (1.36).
"""

import datetime
from typing import Any

from sampan.core import errors
from sampan.core.event_loop.offload import offloaded
from sampan.core.field import FieldError, Path, invalid, quote
from sampan.core.gvk import GroupKind, GroupResource, GroupVersionKind
from sampan.core.object import Object
from sampan.core.time import format_time, parse_time, timestamp
from sampan.patch.managed_fields.field_manager import FieldManager
from sampan.registry.write.changes.options import WriteOptions
from sampan.server.authentication.service_account.issuer import (
    UNBOUND,
    WARN_ONLY_EXPIRATION_S,
    Bound,
    Grant,
    TokenIssuer,
)
from sampan.server.authentication.service_account.user import ISSUED_CREDENTIAL_ID, credential_id_of
from sampan.server.authentication.token_service import TokenService
from sampan.server.request import Response
from sampan.server.verbs.options import write_options
from sampan.server.verbs.representations.respond import dict_response
from sampan.server.verbs.scope import RequestScope
from sampan.server.verbs.write.admit import attributes_of
from sampan.server.verbs.write.body import decoded_kind

EXPIRATION_DEFAULT_S = 3600
EXPIRATION_MIN_S = 600
_EXPIRATION_MAX_S = 1 << 32
_GVK = GroupVersionKind("authentication.k8s.io", "v1", "TokenRequest")
_KIND = GroupKind(_GVK.group, _GVK.kind)
_BOUND = {"Pod": "pods", "Secret": "secrets", "Node": "nodes"}
_ACCOUNTS = GroupResource("", "serviceaccounts")


async def create_token(scope: RequestScope) -> Response:
    """Return 201 with the request and the token in its status."""
    identity = scope.shared.identity
    if identity.issuer is None:
        raise errors.StatusError(errors.Reason.NOT_FOUND, 404, "the server could not find the requested resource")
    name = scope.request.info.name
    options = write_options(scope.request, "CreateOptions")
    request = await decoded_kind(scope, _GVK, options, default=_default)
    _track(scope, request, options)
    attributes = attributes_of(scope, "CREATE", request, None, options.dry_run)
    attributes.gvk = _GVK
    await scope.admission.admit(attributes)
    assert attributes.obj is not None
    request = attributes.obj
    account = await _account(scope, name, request)
    _complete(request, account, identity, timestamp(scope.clock))
    faults = _faults(request)
    if faults:
        raise errors.invalid(_KIND, "", faults)
    await scope.admission.validate(attributes)
    bound = await _bound(scope, name, request["spec"].get("boundObjectRef"))
    request["status"] = _issue(scope, identity.issuer, account, request["spec"], bound)
    request["spec"] = {"audiences": [], "expirationSeconds": 0, "boundObjectRef": None, **request["spec"]}
    return await offloaded(dict_response, scope.request, request, 201)


def _track(scope: RequestScope, request: Object, options: WriteOptions) -> None:
    """Record the client in the managedFields of the request."""
    schemas = scope.cluster.schemas
    manager = FieldManager(schema_for=lambda api_version: schemas.schema_for_kind(_GVK), convert=lambda obj, to: obj)
    manager.update(
        None,
        request,
        manager=options.field_manager,
        api_version=_GVK.api_version,
        subresource=scope.request.info.subresource,
        now=timestamp(scope.clock),
    )


def _default(request: Object) -> None:
    request.setdefault("metadata", {})
    request.setdefault("spec", {}).setdefault("expirationSeconds", EXPIRATION_DEFAULT_S)


async def _account(scope: RequestScope, name: str, request: Object) -> Object:
    """Return the ServiceAccount, after checking that URL and request agree."""
    metadata = request["metadata"]
    given = metadata.get("name")
    if given and given != name:
        text = "must match the service account name if specified"
        raise errors.invalid(_KIND, name, [invalid(Path("metadata", "name"), given, text)])
    account = await scope.cluster.reader.find("", "serviceaccounts", scope.ctx.namespace, name)
    if account is None:
        raise errors.not_found(_ACCOUNTS, name)
    uid, present = metadata.get("uid"), account["metadata"]["uid"]
    if uid and uid != present:
        text = f"the UID in the token request ({uid}) does not match the UID of the service account ({present})"
        raise errors.conflict(GroupResource(_GVK.group, _GVK.kind), name, text)
    return account


def _complete(request: Object, account: Object, identity: TokenService, now: str) -> None:
    metadata, spec = request["metadata"], request["spec"]
    for field in ("name", "namespace", "uid"):
        metadata[field] = account["metadata"][field]
    metadata["creationTimestamp"] = now
    if not spec.get("audiences"):
        spec["audiences"] = list(identity.api_audiences)
    request.pop("status", None)


def _faults(request: Object) -> list[FieldError]:
    path, seconds = Path("spec", "expirationSeconds"), request["spec"]["expirationSeconds"]
    if seconds < EXPIRATION_MIN_S:
        return [invalid(path, seconds, "may not specify a duration less than 10 minutes")]
    if seconds > _EXPIRATION_MAX_S:
        return [invalid(path, seconds, "may not specify a duration larger than 2^32 seconds")]
    return []


async def _bound(scope: RequestScope, account: str, ref: dict[str, Any] | None) -> Bound:
    """Return the current object that the token is bound to. Raises 400, 404, 409."""
    if ref is None:
        return UNBOUND
    api_version, kind, name = ref.get("apiVersion", ""), ref.get("kind", ""), ref.get("name", "")
    group = api_version.partition("/")[0] if "/" in api_version else ""
    resource = _BOUND.get(kind, "")
    if group or not resource:
        version = api_version.rpartition("/")[2]
        raise errors.bad_request(f"cannot bind token to object of type {group}/{version}, Kind={kind}")
    if not name:
        raise errors.bad_request("Name parameter required.")
    obj = await scope.cluster.reader.find("", resource, "" if kind == "Node" else scope.ctx.namespace, name)
    if obj is None:
        raise errors.not_found(GroupResource("", resource), name)
    if kind == "Pod" and (obj.get("spec") or {}).get("serviceAccountName", "") != account:
        raise errors.bad_request(
            f"cannot bind token for serviceaccount {quote(account)} to pod running with different serviceaccount name."
        )
    uid, present = ref.get("uid"), obj["metadata"]["uid"]
    if uid and uid != present:
        text = (
            f"the UID in the bound object reference ({uid}) does not match the UID in record. "
            "The object might have been deleted and then recreated"
        )
        raise errors.conflict(GroupResource("", kind), name, text)
    if kind == "Pod":
        return Bound(pod=obj, node=await _node_of(scope, obj))
    return Bound(secret=obj) if kind == "Secret" else Bound(node=obj)


async def _node_of(scope: RequestScope, pod: Object) -> Object | None:
    """Return the node of a Pod. If it does not exist, return only its name."""
    name = (pod.get("spec") or {}).get("nodeName")
    if not name:
        return None
    return await scope.cluster.reader.find("", "nodes", "", name) or {"metadata": {"name": name}}


def _issue(scope: RequestScope, issuer: TokenIssuer, account: Object, spec: Object, bound: Bound) -> Object:
    """Return the status. A Pod's token with the default lifetime is extended, and marked as stale after that time."""
    policy, identity = issuer.policy, scope.shared.identity
    seconds, longest = spec["expirationSeconds"], policy.expiration_max_s
    if longest and seconds > longest:
        text = f"requested expiration of {seconds} seconds shortened to {longest} seconds"
        scope.request.warnings.append(text)
        seconds = spec["expirationSeconds"] = longest
    expiration_s, warn_after_s = seconds, 0
    usual = seconds == WARN_ONLY_EXPIRATION_S and set(spec["audiences"]) <= set(identity.api_audiences)
    if policy.extend and bound.pod is not None and usual:
        expiration_s, warn_after_s = policy.extended_s(), seconds
    created = parse_time(timestamp(scope.clock))
    grant = Grant(spec["audiences"], expiration_s, warn_after_s, bound)
    token, identifier = issuer.issue(account, grant, int(created.timestamp()))
    scope.request.annotations[ISSUED_CREDENTIAL_ID] = credential_id_of(identifier)
    expires = format_time(created + datetime.timedelta(seconds=seconds))
    return {"token": token, "expirationTimestamp": expires}
