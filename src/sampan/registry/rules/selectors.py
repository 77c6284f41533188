"""Label selectors of workloads, which must select the pods of the workload's template."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any, Protocol

from sampan.core.field import Path, invalid, required
from sampan.core.label_selectors import selector_from_label_selector
from sampan.core.validation.names import label_value_errors, qualified_name_errors
from sampan.kinds import core_v1
from sampan.registry.rules.fields import Errors, check_label_selector


class LabelMatcher(Protocol):
    """Compiled label selector, with the operations that rules for a single object need."""

    @property
    def empty(self) -> bool:
        """Return True if the selector matches everything."""
        ...

    @property
    def matches(self) -> Matches:
        """Return the function that tests labels."""
        ...


class Matches(Protocol):
    """Function that returns True if labels are selected."""

    def __call__(self, labels: Mapping[str, str], /) -> bool: ...


class _Labels:
    """Selector with equality requirements only, which nearly all workloads use. It costs a tenth of the general
    selector.
    """

    __slots__ = ("_items", "empty")

    def __init__(self, labels: Mapping[str, str]) -> None:
        self._items = labels.items()
        self.empty = not labels

    def matches(self, labels: Mapping[str, str], /) -> bool:
        """Return True if all required labels are present."""
        return self._items <= labels.items()


def selector_or_none(selector: Mapping[str, Any] | None) -> LabelMatcher | None:
    """Return the compiled selector, or None if it is invalid."""
    if selector is not None and not selector.get("matchExpressions"):
        labels: Mapping[str, str] = selector.get("matchLabels") or {}
        for key, value in labels.items():
            if qualified_name_errors(key) or label_value_errors(value):
                return None
        return _Labels(labels)
    try:
        return selector_from_label_selector(selector)
    except ValueError:
        return None


def has_invalid_selector(selector: Mapping[str, Any] | None) -> bool:
    """Return True if a stored selector violates today's rules. If so, updates tolerate its values."""
    errors: Errors = []
    check_label_selector(selector, Path(), errors)
    return bool(errors)


def check_required_selector(spec: Mapping[str, Any], kind: str, path: Path, errors: Errors) -> None:
    """Check that `spec.selector` is present, valid and not empty. `kind` is the name of the object in the message."""
    selector = spec.get("selector")
    if selector is None:
        errors.append(required(path.child("selector")))
        return
    check_label_selector(selector, path.child("selector"), errors)
    if not selector.get("matchLabels") and not selector.get("matchExpressions"):
        errors.append(invalid(path.child("selector"), selector, f"empty selector is invalid for {kind}"))


def check_selects_template(
    selector: LabelMatcher, template: core_v1.PodTemplateSpec, path: Path, errors: Errors
) -> None:
    """Check that the labels of the template (at `path`) match the selector."""
    labels = template.get("metadata", {}).get("labels")
    if not selector.matches(labels or {}):
        errors.append(invalid(path, labels, "`selector` does not match template `labels`"))
