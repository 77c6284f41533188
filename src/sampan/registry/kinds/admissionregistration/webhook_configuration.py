"""Webhook configurations. Source: pkg/registry/admissionregistration, pkg/apis/admissionregistration (1.36)."""

from typing import Final

from sampan.core.field import Path, duplicate, invalid, required
from sampan.core.object import Object
from sampan.core.validation.domains import fully_qualified_name_errors
from sampan.core.validation.names import dns1035_label_errors
from sampan.registry.columns.age import Ages
from sampan.registry.columns.cells import NAME, count, integer
from sampan.registry.definition import Column
from sampan.registry.kind import Kind
from sampan.registry.kinds.admissionregistration.rules import (
    FAILURE_POLICIES,
    MATCH_POLICIES,
    REINVOCATION_POLICIES,
    check_choice,
    check_match_conditions,
    check_rule,
    default_match,
    default_rules,
    static_suffix_warnings,
)
from sampan.registry.old_versions.webhooks import webhook_configuration
from sampan.registry.rules.fields import Errors, check_label_selector
from sampan.registry.rules.selectors import has_invalid_selector
from sampan.registry.rules.webhook_client import check_webhook_client
from sampan.registry.strategy import Context, Strategy

_WEBHOOKS = Path("webhooks")
_REVIEW_VERSIONS = ("v1", "v1beta1")
_NO_SIDE_EFFECTS = ("None", "NoneOnDryRun")
_SIDE_EFFECTS = ("None", "NoneOnDryRun", "Some", "Unknown")
_SELECTORS = ("namespaceSelector", "objectSelector")


def _check_review_versions(versions: list[str], known_required: bool, path: Path, errors: Errors) -> None:
    if not versions:
        errors.append(required(path, "must specify one of v1, v1beta1"))
        return
    for index, version in enumerate(versions):
        at = path.index(index)
        if version in versions[:index]:
            errors.append(invalid(at, version, "duplicate version"))
        else:
            errors.extend(invalid(at, version, text) for text in dns1035_label_errors(version))
    if known_required and not set(versions) & set(_REVIEW_VERSIONS):
        errors.append(invalid(path, versions, "must include at least one of v1, v1beta1"))


class _Tolerance:
    """Faults that an update may keep because the stored object has them."""

    def __init__(self, hooks: list[Object], old: list[Object] | None) -> None:
        names = [hook.get("name") for hook in old or ()]
        self.side_effects = any(hook.get("sideEffects") not in _NO_SIDE_EFFECTS for hook in old or ())
        self.names_twice = len(set(names)) < len(names)
        self.unknown_versions = any(
            versions and not set(versions) & set(_REVIEW_VERSIONS)
            for versions in (hook.get("admissionReviewVersions") for hook in old or ())
        )
        self.selectors = any(has_invalid_selector(hook.get(name)) for hook in old or () for name in _SELECTORS)
        self.conditions = (
            old is not None
            and len(old) == len(hooks)
            and all(
                hook.get("matchConditions") == before.get("matchConditions")
                for hook, before in zip(hooks, old, strict=True)
            )
        )


def _check_hook(hook: Object, tolerance: _Tolerance, path: Path, errors: Errors) -> None:
    errors.extend(fully_qualified_name_errors(path.child("name"), hook.get("name", "")))
    for index, rule in enumerate(hook.get("rules") or ()):
        check_rule(rule, path.child("rules").index(index), errors)
    check_choice(hook.get("failurePolicy"), FAILURE_POLICIES, path.child("failurePolicy"), errors)
    check_choice(hook.get("matchPolicy"), MATCH_POLICIES, path.child("matchPolicy"), errors)
    allowed = _SIDE_EFFECTS if tolerance.side_effects else _NO_SIDE_EFFECTS
    effects = hook.get("sideEffects")
    if effects is None:
        errors.append(required(path.child("sideEffects"), f"must specify one of {', '.join(allowed)}"))
    check_choice(effects, allowed, path.child("sideEffects"), errors)
    timeout_s = hook.get("timeoutSeconds")
    if timeout_s is not None and not 1 <= timeout_s <= 30:
        detail = "the timeout value must be between 1 and 30 seconds"
        errors.append(invalid(path.child("timeoutSeconds"), timeout_s, detail))
    for name in _SELECTORS:
        check_label_selector(hook.get(name), path.child(name), errors, allow_invalid_values=tolerance.selectors)
    check_choice(hook.get("reinvocationPolicy"), REINVOCATION_POLICIES, path.child("reinvocationPolicy"), errors)
    check_webhook_client(hook.get("clientConfig", {}), path.child("clientConfig"), errors)
    if not tolerance.conditions:
        check_match_conditions(hook.get("matchConditions") or [], path.child("matchConditions"), errors)


class WebhookConfigurationStrategy(Strategy):
    """Defaults and rules of validating and mutating webhooks."""

    standard_finalizers = False
    allow_unconditional_update = False

    def __init__(self, *, mutating: bool) -> None:
        self._mutating = mutating

    def default(self, obj: Object) -> None:
        """Set defaults: a call times out after ten seconds, and a failing webhook rejects the request."""
        for hook in obj.get("webhooks") or ():
            hook.setdefault("failurePolicy", "Fail")
            default_match(hook)
            hook.setdefault("timeoutSeconds", 10)
            if self._mutating:
                hook.setdefault("reinvocationPolicy", "Never")
            default_rules(hook.get("rules") or [])
            service = hook.get("clientConfig", {}).get("service")
            if service is not None:
                service.setdefault("port", 443)

    def check(self, ctx: Context, obj: Object, errors: Errors) -> None:
        self._check(obj, None, errors)

    def check_update(self, ctx: Context, obj: Object, old: Object, errors: Errors) -> None:
        """Check an update. Some faults of the stored object are tolerated."""
        self._check(obj, old.get("webhooks") or [], errors)

    def _check(self, obj: Object, old: list[Object] | None, errors: Errors) -> None:
        hooks = obj.get("webhooks") or []
        tolerance = _Tolerance(hooks, old)
        names: set[str] = set()
        for index, hook in enumerate(hooks):
            path, name = _WEBHOOKS.index(index), hook.get("name", "")
            _check_hook(hook, tolerance, path, errors)
            versions = hook.get("admissionReviewVersions") or []
            at = path.child("admissionReviewVersions")
            _check_review_versions(versions, not tolerance.unknown_versions, at, errors)
            if name and name in names and not tolerance.names_twice:
                errors.append(duplicate(path.child("name"), name))
            names.add(name)

    def warnings_on_create(self, ctx: Context, obj: Object) -> list[str]:
        """Warn about names that are reserved for configurations from files."""
        return static_suffix_warnings(obj)


def _columns(ages: Ages) -> tuple[Column, ...]:
    return NAME, integer("Webhooks", count("webhooks")), ages.column


KINDS: Final = (
    Kind(
        "admissionregistration.k8s.io",
        "validatingwebhookconfigurations",
        WebhookConfigurationStrategy(mutating=False),
        old_versions={"admissionregistration.k8s.io/v1beta1": webhook_configuration},
        columns=_columns,
    ),
    Kind(
        "admissionregistration.k8s.io",
        "mutatingwebhookconfigurations",
        WebhookConfigurationStrategy(mutating=True),
        old_versions={"admissionregistration.k8s.io/v1beta1": webhook_configuration},
        columns=_columns,
    ),
)
