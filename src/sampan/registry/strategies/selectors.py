"""Label selectors of workloads: what they select must be the pods of their own template."""

from sampan.core.field import Path, invalid, required
from sampan.core.label_selectors import Selector, selector_from_label_selector
from sampan.core.object import Object
from sampan.registry.strategies.core.fields import Errors, check_label_selector


def selector_or_none(selector: Object | None) -> Selector | None:
    """The compiled selector, or None if it makes no sense."""
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


def check_selects_template(selector: Selector, template: Object, path: Path, errors: Errors) -> None:
    """The template's labels (at `path`) satisfy the selector."""
    labels = template.get("metadata", {}).get("labels")
    if not selector.matches(labels or {}):
        errors.append(invalid(path, labels, "`selector` does not match template `labels`"))
