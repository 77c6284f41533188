"""Bindings of admission policies. Source: pkg/apis/admissionregistration/{v1,validation} (1.36)."""

from typing import Final

from sampan.core.field import Path, duplicate, forbidden, invalid, required
from sampan.core.object import Object
from sampan.core.validation.names import path_segment_errors
from sampan.registry.columns.age import Ages
from sampan.registry.columns.cells import EMPTY, NAME, UNSET, at, column, selector_or_none
from sampan.registry.definition import Column
from sampan.registry.kind import Kind
from sampan.registry.kinds.admissionregistration.rules import (
    check_choice,
    check_match_resources,
    check_mutating_operations,
    default_match_resources,
    static_suffix_warnings,
)
from sampan.registry.rules.fields import Errors, check_label_selector, check_subdomain, not_supported
from sampan.registry.strategy import Context, Strategy

_SPEC = Path("spec")
_ACTIONS = ("Audit", "Deny", "Warn")
_EXCLUSIVE = "name and selector are mutually exclusive"
_REPEATED = (
    "must not contain both Deny and Warn (repeating the same validation failure information in the API response and "
    "headers serves no purpose)"
)


def _check_param_ref(reference: Object, path: Path, errors: Errors) -> None:
    name, selector = reference.get("name", ""), reference.get("selector")
    if name:
        errors.extend(invalid(path.child("name"), name, text) for text in path_segment_errors(name))
        if selector is not None:
            errors.append(forbidden(path.child("name"), _EXCLUSIVE))
    if selector is not None:
        check_label_selector(selector, path.child("selector"), errors)
        if name:
            errors.append(forbidden(path.child("selector"), _EXCLUSIVE))
    if not name and selector is None:
        errors.append(required(path, "one of name or selector must be specified"))
    action, at = reference.get("parameterNotFoundAction"), path.child("parameterNotFoundAction")
    if not action:
        errors.append(required(at))
    else:
        check_choice(action, ("Deny", "Allow"), at, errors)


def _check_actions(actions: list[str], path: Path, errors: Errors) -> None:
    for index, action in enumerate(actions):
        if action not in _ACTIONS:
            errors.append(not_supported(path.index(index), action, _ACTIONS))
        if action in actions[:index]:
            errors.append(duplicate(path.index(index), action))
    if "Deny" in actions and "Warn" in actions:
        errors.append(invalid(path, actions, _REPEATED))
    if not actions:
        errors.append(required(path, "at least one validation action is required"))


class PolicyBindingStrategy(Strategy):
    """Defaults and rules of bindings of validating and mutating policies."""

    standard_finalizers = False
    allow_unconditional_update = False

    def __init__(self, *, mutating: bool) -> None:
        self._mutating = mutating

    def default(self, obj: Object) -> None:
        """Set defaults: the binding applies to all requests that match the policy."""
        default_match_resources(obj.setdefault("spec", {}).get("matchResources"))

    def check(self, ctx: Context, obj: Object, errors: Errors) -> None:
        spec = obj.get("spec", {})
        policy, match = spec.get("policyName", ""), spec.get("matchResources")
        if policy:
            check_subdomain(policy, _SPEC.child("policyName"), errors)
        else:
            errors.append(required(_SPEC.child("policyName")))
        if "paramRef" in spec:
            _check_param_ref(spec["paramRef"], _SPEC.child("paramRef"), errors)
        check_match_resources(match, _SPEC.child("matchResources"), errors)
        if self._mutating:
            check_mutating_operations(match, _SPEC.child("matchResources"), errors)
        else:
            _check_actions(spec.get("validationActions") or [], _SPEC.child("validationActions"), errors)

    def warnings_on_create(self, ctx: Context, obj: Object) -> list[str]:
        """Warn about names that are reserved for configurations from files."""
        return static_suffix_warnings(obj)


def _param_ref(binding: Object) -> str:
    reference = binding.get("spec", EMPTY).get("paramRef", EMPTY)
    if reference.get("name"):
        return f"{reference.get('namespace') or '*'}/{reference['name']}"
    return selector_or_none(reference["selector"]) if "selector" in reference else UNSET


def _columns(ages: Ages) -> tuple[Column, ...]:
    return NAME, column("PolicyName", at("spec", "policyName")), column("ParamRef", _param_ref), ages.column


KINDS: Final = (
    Kind(
        "admissionregistration.k8s.io",
        "validatingadmissionpolicybindings",
        PolicyBindingStrategy(mutating=False),
        columns=_columns,
    ),
    Kind(
        "admissionregistration.k8s.io",
        "mutatingadmissionpolicybindings",
        PolicyBindingStrategy(mutating=True),
        columns=_columns,
    ),
)
