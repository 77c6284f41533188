"""POST tokenreviews: return the user of a token.

Source: kubernetes pkg/registry/authentication/tokenreview/storage.go (1.36).
"""

from typing import Any

from sampan.core import errors
from sampan.core.event_loop.offload import offloaded
from sampan.core.object import Object
from sampan.registry.rest.metadata import match_namespace
from sampan.server.authentication.authenticator import TokenError
from sampan.server.authentication.token_service import AudienceError
from sampan.server.request import Response, UserInfo
from sampan.server.verbs.create import tracked
from sampan.server.verbs.options import write_options
from sampan.server.verbs.representations.respond import dict_response
from sampan.server.verbs.scope import RequestScope
from sampan.server.verbs.write.admit import admit, validate
from sampan.server.verbs.write.body import decoded_body


async def create_token_review(scope: RequestScope) -> Response:
    """Return 201 with the review and its status."""
    request, endpoint = scope.request, scope.endpoint
    options = write_options(request, "CreateOptions")
    review = await decoded_body(scope, options)
    match_namespace(endpoint.definition, scope.ctx.namespace, review["metadata"])
    await tracked(scope, review, options)
    review = await admit(scope, "CREATE", review, None, options.dry_run)
    spec = review.get("spec") or {}
    if not spec.get("token"):
        raise errors.bad_request("token is required for TokenReview in authentication")
    await validate(scope, "CREATE", review, None, options.dry_run)
    status = await _status(scope, spec, review.get("status") or {})
    head = {name: review[name] for name in ("kind", "apiVersion", "metadata")}
    return await offloaded(dict_response, request, {**head, "spec": spec, "status": status}, 201)


async def _status(scope: RequestScope, spec: Object, given: Object) -> Object:
    """Return the status of the review. Fields that the client set in `given` are kept if they have no result."""
    audiences = tuple(spec.get("audiences") or ())
    try:
        found = await scope.shared.identity.review(spec["token"], audiences)
    except TokenError as error:
        kept = {name: value for name, value in given.items() if name != "authenticated"}
        return {"user": {}, **kept, "error": str(error)}
    except AudienceError:
        raise errors.internal_error("error validating audiences") from None
    status: Object = {"authenticated": True, "user": user_info(found.user)}
    if found.audiences:
        status["audiences"] = list(found.audiences)
    if given.get("error"):
        status["error"] = given["error"]
    return status


def user_info(user: UserInfo) -> dict[str, Any]:
    """Return a user as reviews show it."""
    info: dict[str, Any] = {"username": user.name}
    if user.uid:
        info["uid"] = user.uid
    if user.groups:
        info["groups"] = list(user.groups)
    if user.extra:
        info["extra"] = {name: list(values) for name, values in user.extra.items()}
    return info
