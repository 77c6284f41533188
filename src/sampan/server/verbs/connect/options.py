"""Options, admission and authorization that connecting subresources share.

Source: apiserver pkg/endpoints/handlers/rest.go ConnectResource, apimachinery pkg/runtime/conversion.go, kubernetes
pkg/registry/core/pod/rest/authorize.go (1.36).
"""

from dataclasses import replace

from sampan.core import errors
from sampan.core.gvk import GroupResource, GroupVersionKind
from sampan.core.numbers.integers import parse_integer
from sampan.core.object import Object
from sampan.server.authorization.authorizer import Decision
from sampan.server.request import Request
from sampan.server.verbs.scope import RequestScope
from sampan.server.verbs.write.admit import admit_connect


async def admitted(scope: RequestScope, kind: str, options: Object) -> Object:
    """Return the options of a connection after admission. Raises `StatusError`: 400 for a dry run, or the refusal of
    admission.
    """
    if "dryRun" in scope.request.wire.query:
        raise errors.bad_request("dryRun is not supported")
    await admit_connect(scope, GroupVersionKind("", "v1", kind), options)
    return options


def options_of(scope: RequestScope, kind: str, **fields: object) -> Object:
    """Return an options object without false and empty fields."""
    return {"kind": kind, "apiVersion": "v1"} | {name: value for name, value in fields.items() if value}


async def require_create(scope: RequestScope) -> None:
    """Require the verb `create` for a WebSocket too, whose GET was authorized as `get`. Raises 403."""
    info, user = scope.request.info, scope.request.user
    if info.verb == "create" or user is None:
        return
    verdict = await scope.shared.authorizer.authorize(user, replace(info, verb="create"))
    if verdict.decision is not Decision.ALLOW:
        raise errors.forbidden(GroupResource(info.group, info.resource), info.name, verdict.reason)


def boolean(request: Request, name: str) -> bool:
    """Return True if the parameter is present and is not `0` or `false`."""
    values = request.wire.query.get(name)
    return bool(values) and values is not None and values[0] != "0" and values[0].lower() != "false"


def integer(request: Request, name: str) -> int | None:
    """Return a 64-bit number, or None if it is absent. Raises `StatusError` 400."""
    values = request.wire.query.get(name)
    if not values:
        return None
    text = values[0]
    try:
        return parse_integer(text)
    except ValueError as error:
        raise errors.bad_request(str(error)) from None
