"""Authorization checks: `authorizer.group('apps').resource('deployments').check('create').allowed()`.

The value of `authorizer` contains the function that decides, so an expression can only use the authorizer that its
environment provides.
Source: apiserver pkg/cel/library/authz.go (1.36).
"""

import math
from collections.abc import Callable
from dataclasses import dataclass, replace
from typing import Any, NamedTuple

from sampan.core.validation.names import dns1123_label_errors, dns1123_subdomain_errors
from sampan.schema.cel.declarations import (
    LIST_CREATE_COST,
    SELECTOR_REQUIREMENT_COST,
    SELECTOR_REQUIREMENT_LENGTH_MIN,
    Library,
    member,
    traversal,
    with_cost,
)
from sampan.schema.cel.errors import CelRuntimeError
from sampan.schema.cel.types import BOOL, STRING, struct
from sampan.schema.cel.values import LibraryValue

CHECK_COST = 350_000
AUTHORIZER = struct("kubernetes.authorization.Authorizer")
PATH_CHECK = struct("kubernetes.authorization.PathCheck")
GROUP_CHECK = struct("kubernetes.authorization.GroupCheck")
RESOURCE_CHECK = struct("kubernetes.authorization.ResourceCheck")
DECISION = struct("kubernetes.authorization.Decision")


class AuthorizationCheck(NamedTuple):
    """Authorization check: a verb on a path, or on a resource.

    `service_account` is (namespace, name), or None for the user of the request.
    """

    verb: str
    path: str = ""
    group: str = ""
    resource: str = ""
    subresource: str = ""
    namespace: str = ""
    name: str = ""
    field_selector: str = ""
    label_selector: str = ""
    service_account: tuple[str, str] | None = None


class Decided(NamedTuple):
    """Decision of the authorizer. `error` is "" if there was none."""

    allowed: bool
    reason: str = ""
    error: str = ""


Decide = Callable[[AuthorizationCheck], Decided]
"""Function that decides a check synchronously. Errors other than `CelRuntimeError` end the evaluation."""


@dataclass(frozen=True, slots=True)
class AuthorizerValue(LibraryValue):
    """CEL's variable `authorizer`: checks the rights of the user of a request, or of a service account."""

    decide: Decide
    service_account: tuple[str, str] | None = None
    type_name = AUTHORIZER.name


@dataclass(frozen=True, slots=True)
class PathCheckValue(LibraryValue):
    """Result of `authorizer.path('/healthz')`."""

    authorizer: AuthorizerValue
    path: str
    type_name = PATH_CHECK.name


@dataclass(frozen=True, slots=True)
class GroupCheckValue(LibraryValue):
    """Result of `authorizer.group('apps')`."""

    authorizer: AuthorizerValue
    group: str
    type_name = GROUP_CHECK.name


@dataclass(frozen=True, slots=True)
class ResourceCheckValue(LibraryValue):
    """Result of `authorizer.group('apps').resource('deployments')`, with its restrictions."""

    authorizer: AuthorizerValue
    question: AuthorizationCheck
    type_name = RESOURCE_CHECK.name


@dataclass(frozen=True, slots=True)
class DecisionValue(LibraryValue):
    """Result of `check`."""

    decided: Decided
    type_name = DECISION.name


def _path(authorizer: AuthorizerValue, path: str) -> PathCheckValue:
    if not path.strip():
        raise CelRuntimeError("path must not be empty")
    return PathCheckValue(authorizer, path)


def _service_account(authorizer: AuthorizerValue, namespace: str, name: str) -> AuthorizerValue:
    if dns1123_subdomain_errors(name):
        raise CelRuntimeError("Invalid service account name")
    if dns1123_label_errors(namespace):
        raise CelRuntimeError("Invalid service account namespace")
    return replace(authorizer, service_account=(namespace, name))


def _resource(check: GroupCheckValue, resource: str) -> ResourceCheckValue:
    if not resource.strip():
        raise CelRuntimeError("resource must not be empty")
    account = check.authorizer.service_account
    question = AuthorizationCheck("", group=check.group, resource=resource, service_account=account)
    return ResourceCheckValue(check.authorizer, question)


def _narrowing(field: str) -> Callable[[ResourceCheckValue, str], ResourceCheckValue]:
    def narrow(check: ResourceCheckValue, value: str) -> ResourceCheckValue:
        return ResourceCheckValue(check.authorizer, AuthorizationCheck(**{**check.question._asdict(), field: value}))

    return narrow


def _check_path(check: PathCheckValue, verb: str) -> DecisionValue:
    question = AuthorizationCheck(verb, check.path, service_account=check.authorizer.service_account)
    return DecisionValue(check.authorizer.decide(question))


def _check_resource(check: ResourceCheckValue, verb: str) -> DecisionValue:
    return DecisionValue(check.authorizer.decide(check.question._replace(verb=verb)))


_CHECKED = (RESOURCE_CHECK, STRING)


def _selector_cost(args: tuple[Any, ...], result: Any) -> int:
    """Return the cost of parsing a selector: of its text, and of as many requirements as its length allows."""
    length = len(args[1])
    requirements = math.ceil(length / SELECTOR_REQUIREMENT_LENGTH_MIN)
    return LIST_CREATE_COST + traversal(length) + requirements * SELECTOR_REQUIREMENT_COST


AUTHORIZATION = Library(
    (
        member("path", "authorizer_path", (AUTHORIZER, STRING), PATH_CHECK, _path),
        member("group", "authorizer_group", (AUTHORIZER, STRING), GROUP_CHECK, GroupCheckValue),
        member(
            "serviceAccount", "authorizer_serviceaccount", (AUTHORIZER, STRING, STRING), AUTHORIZER, _service_account
        ),
        member("resource", "groupcheck_resource", (GROUP_CHECK, STRING), RESOURCE_CHECK, _resource),
        member("subresource", "resourcecheck_subresource", _CHECKED, RESOURCE_CHECK, _narrowing("subresource")),
        member("namespace", "resourcecheck_namespace", _CHECKED, RESOURCE_CHECK, _narrowing("namespace")),
        member("name", "resourcecheck_name", _CHECKED, RESOURCE_CHECK, _narrowing("name")),
        *with_cost(
            _selector_cost,
            (
                member(
                    "fieldSelector", "authorizer_fieldselector", _CHECKED, RESOURCE_CHECK, _narrowing("field_selector")
                ),
                member(
                    "labelSelector", "authorizer_labelselector", _CHECKED, RESOURCE_CHECK, _narrowing("label_selector")
                ),
            ),
        ),
        *with_cost(
            CHECK_COST,
            (
                member("check", "pathcheck_check", (PATH_CHECK, STRING), DECISION, _check_path),
                member("check", "resourcecheck_check", _CHECKED, DECISION, _check_resource),
            ),
        ),
        member("errored", "decision_errored", (DECISION,), BOOL, lambda value: bool(value.decided.error)),
        member("error", "decision_error", (DECISION,), STRING, lambda value: value.decided.error),
        member("allowed", "decision_allowed", (DECISION,), BOOL, lambda value: value.decided.allowed),
        member("reason", "decision_reason", (DECISION,), STRING, lambda value: value.decided.reason),
    ),
    (AUTHORIZER, PATH_CHECK, GROUP_CHECK, RESOURCE_CHECK, DECISION),
)
