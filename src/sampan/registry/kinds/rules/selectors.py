"""Label selectors of workloads: what they select must be the pods of their own template."""

from collections.abc import Mapping
from typing import Protocol

from sampan.core.field import Path, invalid, required
from sampan.core.label_selectors import selector_from_label_selector
from sampan.core.names import label_value_errors, qualified_name_errors
from sampan.core.object import Object
from sampan.registry.kinds.rules.fields import Errors, check_label_selector


class LabelMatcher(Protocol):
    """A compiled label selector, as far as one object's labels are concerned."""

    @property
    def empty(self) -> bool:
        """Whether everything is selected."""
        ...

    @property
    def matches(self) -> "Matches":
        """The test itself."""
        ...


class Matches(Protocol):
    """Tells whether labels are selected."""

    def __call__(self, labels: Mapping[str, str], /) -> bool: ...


class _Labels:
    """Selects by equality alone: what nearly all workloads do, at a tenth of the cost."""

    __slots__ = ("_items", "empty")

    def __init__(self, labels: Mapping[str, str]) -> None:
        self._items = labels.items()
        self.empty = not labels

    def matches(self, labels: Mapping[str, str], /) -> bool:
        """Whether all wanted labels are there."""
        return self._items <= labels.items()


def selector_or_none(selector: Object | None) -> LabelMatcher | None:
    """The compiled selector, or None if it makes no sense."""
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


def has_invalid_selector(selector: Object | None) -> bool:
    """Whether a stored selector breaks today's rules; then its values are let be on update."""
    errors: Errors = []
    check_label_selector(selector, Path(), errors)
    return bool(errors)


def check_required_selector(spec: Object, kind: str, path: Path, errors: Errors) -> None:
    """`spec.selector`: there, valid, not empty. `kind` is what the message calls the object."""
    selector = spec.get("selector")
    if selector is None:
        errors.append(required(path.child("selector")))
        return
    check_label_selector(selector, path.child("selector"), errors)
    if not selector.get("matchLabels") and not selector.get("matchExpressions"):
        errors.append(invalid(path.child("selector"), selector, f"empty selector is invalid for {kind}"))


def check_selects_template(selector: LabelMatcher, template: Object, path: Path, errors: Errors) -> None:
    """The template's labels (at `path`) satisfy the selector."""
    labels = template.get("metadata", {}).get("labels")
    if not selector.matches(labels or {}):
        errors.append(invalid(path, labels, "`selector` does not match template `labels`"))
