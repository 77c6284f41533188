"""Matching rules of webhooks and policies. Source: pkg/apis/admissionregistration/{v1,validation} (1.36)."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from typing import Any

from sampan.core.field import Path, duplicate, invalid, required, too_many
from sampan.core.object import Object
from sampan.core.validation.names import path_segment_errors
from sampan.kinds import admissionregistration_v1
from sampan.registry.rules.fields import Errors, check_label_selector, check_qualified_name, not_supported
from sampan.schema.cel import CelCompileError, Program
from sampan.schema.cel.admission import Expressions, Inputs
from sampan.schema.cel.types import BOOL

FAILURE_POLICIES = ("Fail", "Ignore")
MATCH_POLICIES = ("Equivalent", "Exact")
REINVOCATION_POLICIES = ("IfNeeded", "Never")
_OPERATIONS = ("*", "CONNECT", "CREATE", "DELETE", "UPDATE")
MUTATING_OPERATIONS = ("*", "CONNECT", "CREATE", "UPDATE")
_SCOPES = ("*", "Cluster", "Namespaced")
_CONDITIONS_MAX = 64
STATIC_SUFFIX = ".static.k8s.io"


def check_choice(value: str | None, known: tuple[str, ...], path: Path, errors: Errors) -> None:
    """Check that the value is absent or one of a closed set."""
    if value is not None and value not in known:
        errors.append(not_supported(path, value, known))


def default_rules(
    rules: Sequence[admissionregistration_v1.RuleWithOperations | admissionregistration_v1.NamedRuleWithOperations],
) -> None:
    """Set defaults: rules match both namespaced and cluster-scoped objects."""
    for rule in rules:
        rule.setdefault("scope", "*")


def default_match(match: admissionregistration_v1.MatchResources) -> None:
    """Set defaults: match all namespaces and all objects, in any version of the type."""
    match.setdefault("matchPolicy", "Equivalent")
    match.setdefault("namespaceSelector", {})
    match.setdefault("objectSelector", {})


def default_match_resources(match: admissionregistration_v1.MatchResources | None) -> None:
    """Set the defaults of `matchConstraints` and `matchResources`."""
    if match is not None:
        default_match(match)
        default_rules(match.get("resourceRules") or [])
        default_rules(match.get("excludeResourceRules") or [])


def _check_resources(resources: list[str], path: Path, errors: Errors) -> None:
    if not resources:
        errors.append(required(path))
    all_subresources: set[str] = set()
    of_all: set[str] = set()
    plain = False
    for index, entry in enumerate(resources):
        if not entry:
            errors.append(required(path.index(index)))
            continue
        resource, slash, sub = entry.partition("/")
        if not slash:
            plain = entry != "*"
            continue
        if resource in all_subresources:
            detail = f"if '{resource}/*' is present, must not specify {entry}"
            errors.append(invalid(path.index(index), entry, detail))
        if sub in of_all:
            errors.append(invalid(path.index(index), entry, f"if '*/{sub}' is present, must not specify {entry}"))
        if sub == "*":
            all_subresources.add(resource)
        if resource == "*":
            of_all.add(sub)
    if len(resources) > 1 and "*/*" in resources:
        errors.append(invalid(path, resources, "if '*/*' is present, must not specify other resources"))
    if "*" in resources and plain:
        detail = "if '*' is present, must not specify other resources without subresources"
        errors.append(invalid(path, resources, detail))


def _check_versions(rule: Mapping[str, Any], path: Path, errors: Errors) -> None:
    for name, shown in (("apiGroups", "API groups"), ("apiVersions", "API versions")):
        values, at = rule.get(name) or [], path.child(name)
        if not values:
            errors.append(required(at))
        if len(values) > 1 and "*" in values:
            errors.append(invalid(at, values, f"if '*' is present, must not specify other {shown}"))
    for index, version in enumerate(rule.get("apiVersions") or ()):
        if not version:
            errors.append(required(path.child("apiVersions").index(index)))


def check_rule(rule: admissionregistration_v1.RuleWithOperations, path: Path, errors: Errors) -> None:
    """Check the operations, groups, versions, resources and scope of a rule."""
    operations, at = rule.get("operations") or [], path.child("operations")
    if not operations:
        errors.append(required(at))
    if len(operations) > 1 and "*" in operations:
        errors.append(invalid(at, operations, "if '*' is present, must not specify other operations"))
    for index, operation in enumerate(operations):
        check_choice(operation, _OPERATIONS, at.index(index), errors)
    _check_versions(rule, path, errors)
    _check_resources(rule.get("resources") or [], path.child("resources"), errors)
    check_choice(rule.get("scope"), _SCOPES, path.child("scope"), errors)


def _check_named_rule(rule: admissionregistration_v1.NamedRuleWithOperations, path: Path, errors: Errors) -> None:
    names: set[str] = set()
    for index, name in enumerate(rule.get("resourceNames") or ()):
        at = path.child("resourceNames").index(index)
        errors.extend(invalid(at, name, text) for text in path_segment_errors(name))
        if name in names:
            errors.append(duplicate(at, name))
        names.add(name)
    check_rule(rule, path, errors)


def check_match_resources(match: admissionregistration_v1.MatchResources | None, path: Path, errors: Errors) -> None:
    """Check `matchConstraints` of a policy, or `matchResources` of a binding."""
    if match is None:
        return
    policy = match.get("matchPolicy")
    if policy is None:
        errors.append(required(path.child("matchPolicy")))
    check_choice(policy, MATCH_POLICIES, path.child("matchPolicy"), errors)
    for name in ("namespaceSelector", "objectSelector"):
        if name not in match:
            errors.append(required(path.child(name)))
        check_label_selector(match.get(name), path.child(name), errors)
    for list_name in ("resourceRules", "excludeResourceRules"):
        for index, rule in enumerate(match.get(list_name) or ()):
            _check_named_rule(rule, path.child(list_name).index(index), errors)


def check_mutating_operations(
    match: admissionregistration_v1.MatchResources | None, path: Path, errors: Errors
) -> None:
    """Check that no rule matches deletions, which cannot be mutated."""
    for rule in (match or {}).get("resourceRules") or ():
        for operation in rule.get("operations") or ():
            check_choice(operation, MUTATING_OPERATIONS, path.child("resourceRules", "operations"), errors)


def check_compiles(compile_: Callable[[str], Program], expression: str, path: Path, errors: Errors) -> None:
    """Add an error if the expression does not compile."""
    try:
        compile_(expression)
    except CelCompileError as error:
        errors.append(invalid(path, expression, str(error)))


def check_match_conditions(
    conditions: list[admissionregistration_v1.MatchCondition], path: Path, errors: Errors, *, params: bool = False
) -> None:
    """Check match conditions: valid expressions with unique names. With `params`, expressions may use `params`."""
    expressions = Expressions(Inputs(params=params, composed=False))
    if len(conditions) > _CONDITIONS_MAX:
        errors.append(too_many(path, len(conditions), _CONDITIONS_MAX))
    names: set[str] = set()
    for index, condition in enumerate(conditions):
        at, name = path.index(index), condition.get("name", "")
        expression = condition.get("expression", "").strip()
        if not expression:
            errors.append(required(at.child("expression")))
        else:
            check_compiles(lambda text: expressions.compile(text, (BOOL,)), expression, at.child("expression"), errors)
        if name:
            check_qualified_name(name, at.child("name"), errors)
        else:
            errors.append(required(at.child("name")))
        if name and name in names:
            errors.append(duplicate(at.child("name"), name))
        names.add(name)


def static_suffix_warnings(obj: Object) -> list[str]:
    """Warn about names that are reserved for configurations from files."""
    if not obj["metadata"].get("name", "").endswith(STATIC_SUFFIX):
        return []
    return [
        f'metadata.name: names ending with "{STATIC_SUFFIX}" are reserved for static manifest-based configurations '
        "and cannot be managed via the API"
    ]
