"""POST of access reviews: return whether a user may perform an action. Nothing is stored.

Source: kubernetes pkg/registry/authorization (1.36).
"""

from collections.abc import Awaitable, Callable
from typing import Any, Final

from sampan.core import errors
from sampan.core.event_loop.offload import note_size, offloaded
from sampan.core.field import FieldError, bounded
from sampan.core.gvk import GroupKind
from sampan.core.object import Object
from sampan.core.policy_rules import Rule, strings
from sampan.registry.rest.metadata import match_namespace, metadata_of, wipe_system_fields
from sampan.registry.write.changes.options import WriteOptions
from sampan.server.authorization.authorizer import Decision, RuleResolver, RulesFound
from sampan.server.authorization.review import reviewed_request, reviewed_user
from sampan.server.authorization.review_validation import local_review_faults, review_faults
from sampan.server.authorization.union import aggregated
from sampan.server.request import Response, UserInfo
from sampan.server.verbs.create import track_new
from sampan.server.verbs.options import write_options
from sampan.server.verbs.representations.respond import dict_response
from sampan.server.verbs.scope import RequestScope
from sampan.server.verbs.write.admit import admit, validate
from sampan.server.verbs.write.body import decoded_body

_NO_KIND = GroupKind("authorization.k8s.io", "")
"""Empty kind, as in the errors of Kubernetes: its internal objects have none."""

_RULE_BYTES: Final = 100
"""Typical size of a rule in bytes, to estimate the size of the response."""

Review = Callable[[RequestScope, Object], Awaitable[Object]]


async def subject_access_review(scope: RequestScope) -> Response:
    """Handle POST subjectaccessreviews, for any user."""
    return await _review_response(scope, _subject)


async def local_subject_access_review(scope: RequestScope) -> Response:
    """Handle POST localsubjectaccessreviews, for any user in one namespace."""
    return await _review_response(scope, _local)


async def self_subject_access_review(scope: RequestScope) -> Response:
    """Handle POST selfsubjectaccessreviews, for the user of the request (`kubectl auth can-i`)."""
    return await _review_response(scope, _own)


async def self_subject_rules_review(scope: RequestScope) -> Response:
    """Handle POST selfsubjectrulesreviews: return the user's rules in a namespace (`kubectl auth can-i --list`)."""
    return await _review_response(scope, _rules)


async def _review_response(scope: RequestScope, review: Review) -> Response:
    """Return 201 with the review and its status, after all admission."""
    request = scope.request
    options = write_options(request, "CreateOptions")
    obj = await decoded_body(scope, options)
    await offloaded(_settle, scope, obj, options)
    obj = await admit(scope, "CREATE", obj, None, options.dry_run)
    response = await review(scope, obj)
    await validate(scope, "CREATE", obj, None, options.dry_run)
    return await offloaded(dict_response, request, response, 201)


def _settle(scope: RequestScope, obj: Object, options: WriteOptions) -> None:
    """Drop fields that only the server sets, and record the client. Raises 400 for another namespace."""
    metadata = metadata_of(obj)
    wipe_system_fields(metadata)
    match_namespace(scope.endpoint.definition, scope.ctx.namespace, metadata)
    track_new(scope, obj, options)


async def _subject(scope: RequestScope, review: Object) -> Object:
    await offloaded(_check, lambda: review_faults(review, own=False))
    return await _reviewed(scope, review, reviewed_user(review["spec"]))


async def _local(scope: RequestScope, review: Object) -> Object:
    await offloaded(_check, lambda: local_review_faults(review))
    return await _reviewed(scope, review, reviewed_user(review["spec"]))


async def _own(scope: RequestScope, review: Object) -> Object:
    await offloaded(_check, lambda: review_faults(review, own=True))
    return await _reviewed(scope, review, _requester(scope))


async def _reviewed(scope: RequestScope, review: Object, user: UserInfo) -> Object:
    info, faults = await offloaded(reviewed_request, review["spec"])
    verdict = await scope.shared.authorizer.authorize(user, info)
    status: dict[str, Any] = {"allowed": verdict.decision is Decision.ALLOW}
    if verdict.decision is Decision.DENY:
        status["denied"] = True
    if verdict.reason:
        status["reason"] = verdict.reason
    texts = [verdict.error, *faults] if verdict.error else faults
    if texts:
        status["evaluationError"] = "; ".join(texts)
    head = {name: review[name] for name in ("kind", "apiVersion", "metadata", "spec")}
    return {**head, "status": status}


async def _rules(scope: RequestScope, review: Object) -> Object:
    namespace = (review.get("spec") or {}).get("namespace")
    if not namespace:
        raise errors.bad_request("no namespace on request")
    authorizer, user = scope.shared.authorizer, _requester(scope)
    found = (
        authorizer.rules_for(user, namespace) if isinstance(authorizer, RuleResolver) else RulesFound(incomplete=True)
    )
    note_size(len(found.rules) * _RULE_BYTES)
    status = await offloaded(_rules_status, found)
    if found.errors:
        status["evaluationError"] = aggregated(found.errors)
    head = {"kind": "SelfSubjectRulesReview", "apiVersion": scope.endpoint.api_version}
    return {**head, "metadata": {}, "spec": {}, "status": status}


def _rules_status(found: RulesFound) -> dict[str, Any]:
    return {
        "resourceRules": [_resource_rule(rule) for rule in found.rules if strings(rule, "resources")],
        "nonResourceRules": [_path_rule(rule) for rule in found.rules if strings(rule, "nonResourceURLs")],
        "incomplete": found.incomplete,
    }


def _resource_rule(rule: Rule) -> dict[str, Any]:
    return {
        name: list(strings(rule, name))
        for name in ("verbs", "apiGroups", "resources", "resourceNames")
        if name == "verbs" or strings(rule, name)
    }


def _path_rule(rule: Rule) -> dict[str, Any]:
    return {name: list(strings(rule, name)) for name in ("verbs", "nonResourceURLs")}


def _requester(scope: RequestScope) -> UserInfo:
    user = scope.request.user
    if user is None:
        raise errors.bad_request("no user present on request")
    return user


def _check(check: Callable[[], list[FieldError]]) -> None:
    faults = bounded(check)
    if faults:
        raise errors.invalid(_NO_KIND, "", faults)
