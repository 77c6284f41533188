"""Scheduling constraints of a pod: node selectors, affinity, tolerations, topology spread.

Source: pkg/apis/core/validation/validation.go (1.36).
"""

from __future__ import annotations

from typing import Final

from sampan.core.field import FieldError, Path, duplicate, forbidden, invalid, required
from sampan.core.numbers.integers import parse_integer
from sampan.core.validation.names import (
    dns1123_label_errors,
    dns1123_subdomain_errors,
    label_value_errors,
    qualified_name_errors,
)
from sampan.core.validation.values import decimal_integer_errors
from sampan.kinds import core_v1, meta_v1
from sampan.registry.kinds.pod_spec.options import PodOptions
from sampan.registry.rules.fields import check_label_selector, check_qualified_name, not_supported

Errors = list[FieldError]
_REQUIRED: Final = "requiredDuringSchedulingIgnoredDuringExecution"
_PREFERRED: Final = "preferredDuringSchedulingIgnoredDuringExecution"
_EFFECTS = ("NoSchedule", "PreferNoSchedule", "NoExecute")
_INVALID_OPERATOR = "not a valid selector operator"
_BOTH_KEYS = "exists in both matchLabelKeys and labelSelector"
_ACTIONS = ("DoNotSchedule", "ScheduleAnyway")
_INT64_MAX = 2**63 - 1


def check_node_selector(
    selector: core_v1.NodeSelector, path: Path, errors: Errors, *, allow_invalid_values: bool = False
) -> None:
    """Check a NodeSelector, which has at least one term."""
    terms = selector.get("nodeSelectorTerms") or []
    at = path.child("nodeSelectorTerms")
    if not terms:
        errors.append(required(at, "must have at least one node selector term"))
    for i, term in enumerate(terms):
        _check_term(term, at.index(i), errors, allow_invalid_values)


def _check_term(term: core_v1.NodeSelectorTerm, path: Path, errors: Errors, allow_invalid_values: bool) -> None:
    for j, requirement in enumerate(term.get("matchExpressions", ())):
        _check_expression(requirement, path.child("matchExpressions").index(j), errors, allow_invalid_values)
    for j, requirement in enumerate(term.get("matchFields", ())):
        _check_field(requirement, path.child("matchFields").index(j), errors)


def _check_expression(
    requirement: core_v1.NodeSelectorRequirement, path: Path, errors: Errors, allow_invalid_values: bool
) -> None:
    operator, values = requirement.get("operator", ""), requirement.get("values") or []
    at = path.child("values")
    if operator in ("In", "NotIn"):
        if not values:
            errors.append(required(at, "must be specified when `operator` is 'In' or 'NotIn'"))
    elif operator in ("Exists", "DoesNotExist"):
        if values:
            errors.append(forbidden(at, "may not be specified when `operator` is 'Exists' or 'DoesNotExist'"))
    elif operator in ("Gt", "Lt"):
        if len(values) != 1:
            errors.append(required(at, "must be specified single value when `operator` is 'Lt' or 'Gt'"))
    else:
        errors.append(invalid(path.child("operator"), operator, _INVALID_OPERATOR))
    check_qualified_name(requirement.get("key", ""), path.child("key"), errors)
    if not allow_invalid_values:
        for i, value in enumerate(values):
            errors.extend(invalid(at.index(i), value, text) for text in label_value_errors(value))


def _check_field(requirement: core_v1.NodeSelectorRequirement, path: Path, errors: Errors) -> None:
    operator, values = requirement.get("operator", ""), requirement.get("values") or []
    if operator not in ("In", "NotIn"):
        errors.append(invalid(path.child("operator"), operator, _INVALID_OPERATOR))
    elif len(values) != 1:
        text = "must be only one value when `operator` is 'In' or 'NotIn' for node field selector"
        errors.append(required(path.child("values"), text))
    key = requirement.get("key", "")
    if key != "metadata.name":
        errors.append(invalid(path.child("key"), key, "not a valid field selector key"))
        return
    for i, value in enumerate(values):
        texts = dns1123_subdomain_errors(value)
        errors.extend(invalid(path.child("values").index(i), value, text) for text in texts)


def validate_affinity(affinity: core_v1.Affinity, path: Path, errors: Errors, options: PodOptions) -> None:
    """Check all three kinds of affinity."""
    node = affinity.get("nodeAffinity")
    if node is not None:
        at = path.child("nodeAffinity")
        if node.get(_REQUIRED) is not None:
            allow = options.allow_invalid_affinity_values
            check_node_selector(node[_REQUIRED], at.child(_REQUIRED), errors, allow_invalid_values=allow)
        for i, preferred in enumerate(node.get(_PREFERRED) or ()):
            where = at.child(_PREFERRED).index(i)
            _check_weight(preferred, where, errors)
            _check_term(preferred.get("preference") or {}, where.child("preference"), errors, True)
    for kind in ("podAffinity", "podAntiAffinity"):
        rules = affinity.get(kind)
        if rules is None:
            continue
        at = path.child(kind)
        for i, term in enumerate(rules.get(_REQUIRED) or ()):
            _check_pod_term(term, at.child(_REQUIRED).index(i), errors, options)
        for i, weighted in enumerate(rules.get(_PREFERRED) or ()):
            where = at.child(_PREFERRED).index(i)
            _check_weight(weighted, where, errors)
            _check_pod_term(weighted.get("podAffinityTerm") or {}, where.child("podAffinityTerm"), errors, options)


def _check_weight(
    term: core_v1.WeightedPodAffinityTerm | core_v1.PreferredSchedulingTerm, path: Path, errors: Errors
) -> None:
    weight = term.get("weight", 0)
    if not 0 < weight <= 100:
        errors.append(invalid(path.child("weight"), weight, "must be in the range 1-100"))


def _check_pod_term(term: core_v1.PodAffinityTerm, path: Path, errors: Errors, options: PodOptions) -> None:
    allow = options.allow_invalid_selector_values
    for name in ("labelSelector", "namespaceSelector"):
        check_label_selector(term.get(name), path.child(name), errors, allow_invalid_values=allow)
    for namespace in term.get("namespaces") or ():
        texts = dns1123_label_errors(namespace)
        errors.extend(invalid(path.child("namespace"), namespace, text) for text in texts)
    match, mismatch = term.get("matchLabelKeys") or [], term.get("mismatchLabelKeys") or []
    _check_label_keys(match, mismatch, term.get("labelSelector"), path, errors)
    key = term.get("topologyKey", "")
    if not key:
        errors.append(required(path.child("topologyKey"), "can not be empty"))
    check_qualified_name(key, path.child("topologyKey"), errors)


def _check_label_keys(
    match: list[str], mismatch: list[str], selector: meta_v1.LabelSelector | None, path: Path, errors: Errors
) -> None:
    for name, keys in (("matchLabelKeys", match), ("mismatchLabelKeys", mismatch)):
        if keys and selector is None:
            errors.append(forbidden(path.child(name), "must not be specified when labelSelector is not set"))
        elif keys:
            for i, key in enumerate(keys):
                check_qualified_name(key, path.child(name).index(i), errors)
    if selector is not None and match:
        positions = {key: i for i, key in enumerate(match)}
        seen = set(selector.get("matchLabels") or ())
        for requirement in selector.get("matchExpressions", ()):
            key = requirement.get("key", "")
            if key in positions and key in seen:
                errors.append(invalid(path.index(positions[key]), key, _BOTH_KEYS))
            seen.add(key)
    for i, key in enumerate(match):
        if key in mismatch:
            text = "exists in both matchLabelKeys and mismatchLabelKeys"
            errors.append(invalid(path.child("matchLabelKeys").index(i), key, text))


def validate_tolerations(
    tolerations: list[core_v1.Toleration], path: Path, errors: Errors, options: PodOptions
) -> None:
    """Check tolerations of taints. `path` is the path of the list."""
    for i, toleration in enumerate(tolerations):
        key, value = toleration.get("key", ""), toleration.get("value", "")
        operator, effect = toleration.get("operator", ""), toleration.get("effect", "")
        if key:
            if texts := qualified_name_errors(key):
                errors.extend(invalid(path.index(i).child("key"), key, text) for text in texts)
        elif operator != "Exists":
            text = 'operator must be Exists when `key` is empty, which means "match all values and all keys"'
            errors.append(invalid(path.index(i).child("operator"), operator, text))
        if "tolerationSeconds" in toleration and effect != "NoExecute":
            text = "effect must be 'NoExecute' when `tolerationSeconds` is set"
            errors.append(invalid(path.index(i).child("effect"), effect, text))
        if operator in ("", "Equal"):
            texts = label_value_errors(value)
            if texts:
                errors.append(invalid(path.index(i).child("operator"), value, ";".join(texts)))
        elif operator == "Exists":
            if value:
                text = "value must be empty when `operator` is 'Exists'"
                errors.append(invalid(path.index(i).child("operator"), value, text))
        else:
            _check_comparison(operator, value, path.index(i), errors, options)
        if effect and effect not in _EFFECTS:
            errors.append(not_supported(path.index(i).child("effect"), effect, _EFFECTS))


def _check_comparison(operator: str, value: str, path: Path, errors: Errors, options: PodOptions) -> None:
    if operator not in ("Lt", "Gt"):
        errors.append(not_supported(path.child("operator"), operator, ("Equal", "Exists")))
    elif not options.allow_comparison_tolerations:
        errors.append(not_supported(path.child("operator"), operator, ("Equal", "Exists", "Lt", "Gt")))
    else:
        texts = decimal_integer_errors(value)
        errors.extend(invalid(path.child("value"), value, text) for text in texts)
        try:
            parse_integer(value)
        except ValueError as error:
            errors.append(invalid(path.child("value"), value, str(error)))


def check_taint_effect(effect: str, path: Path, errors: Errors) -> None:
    """Check the effect of a taint, which is required."""
    if not effect:
        errors.append(required(path))
    elif effect not in _EFFECTS:
        errors.append(not_supported(path, effect, _EFFECTS))


def validate_spread(
    constraints: list[core_v1.TopologySpreadConstraint], path: Path, errors: Errors, options: PodOptions
) -> None:
    """Check the topologySpreadConstraints. `path` is the path of the list."""
    last = {(each.get("topologyKey", ""), each.get("whenUnsatisfiable", "")): i for i, each in enumerate(constraints)}
    for i, constraint in enumerate(constraints):
        at = path.index(i)
        skew, key = constraint.get("maxSkew", 0), constraint.get("topologyKey", "")
        action = constraint.get("whenUnsatisfiable", "")
        if skew <= 0:
            errors.append(invalid(at.child("maxSkew"), skew, "must be greater than zero"))
        if not key:
            errors.append(required(at.child("topologyKey"), "can not be empty"))
        if action not in _ACTIONS:
            errors.append(not_supported(at.child("whenUnsatisfiable"), action, _ACTIONS))
        if last[key, action] > i:
            errors.append(duplicate(at.child("{topologyKey, whenUnsatisfiable}"), f"{{{key}, {action}}}"))
        _check_domains(constraint.get("minDomains"), action, at.child("minDomains"), errors)
        for name in ("nodeAffinityPolicy", "nodeTaintsPolicy"):
            policy = constraint.get(name)
            if policy is not None and policy not in ("Honor", "Ignore"):
                errors.append(not_supported(at.child(name), policy, ("Honor", "Ignore")))
        _check_spread_keys(constraint, at, errors, options)
        if not options.allow_invalid_spread_selector:
            check_label_selector(constraint.get("labelSelector"), at.child("labelSelector"), errors)


def _check_domains(domains: int | None, action: str, path: Path, errors: Errors) -> None:
    if domains is None:
        return
    if domains <= 0:
        errors.append(invalid(path, domains, "must be greater than zero"))
    if action != "DoNotSchedule":
        text = f"can only use minDomains if whenUnsatisfiable=DoNotSchedule, not {action}"
        errors.append(invalid(path, domains, text))


def _check_spread_keys(
    constraint: core_v1.TopologySpreadConstraint, path: Path, errors: Errors, options: PodOptions
) -> None:
    keys, selector = constraint.get("matchLabelKeys") or [], constraint.get("labelSelector")
    if not options.old_spread_violates_keys:
        _check_label_keys(keys, [], selector, path, errors)
        return
    if not keys:
        return
    at = path.child("matchLabelKeys")
    if selector is None:
        errors.append(forbidden(at, "must not be specified when labelSelector is not set"))
    known = {*((selector or {}).get("matchLabels") or ())}
    known |= {r.get("key", "") for r in (selector or {}).get("matchExpressions", ())}
    for i, key in enumerate(keys):
        check_qualified_name(key, at.index(i), errors)
        if key in known:
            errors.append(invalid(at.index(i), key, _BOTH_KEYS))
