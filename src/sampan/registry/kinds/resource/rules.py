"""Rules that claims, classes and slices share: names, opaque parameters, taints, tolerations, binding conditions.

Source: pkg/apis/resource/validation/validation.go (1.36).
"""

import re
from collections.abc import Callable
from typing import Any

from sampan.core.field import Path, duplicate, invalid, required, too_long, too_many
from sampan.core.object import Object
from sampan.core.validation.names import label_value_errors, qualified_name_errors, regex_error
from sampan.registry.kinds.pod_spec.volume_sources import check_csi_driver_name
from sampan.registry.rules.fields import Errors, check_label, check_subdomain, not_supported
from sampan.wire import json

_EFFECTS = ("NoExecute", "NoSchedule", "None")
_OPERATORS = ("Equal", "Exists")
_ID_LENGTH_MAX = 32
_POOL_LENGTH_MAX = 253
_CONDITIONS_MAX = 4
_PARAMETERS_LENGTH_MAX = 10 * 1024
_NOT_QUALIFIED = "a fully qualified name must be a domain and a name separated by a slash"
NO_SUCH_REQUEST = (
    "must be the name of a request in the claim or the name of a request and a subrequest separated by '/'"
)
_identifier = re.compile("[A-Za-z_][A-Za-z0-9_]*").fullmatch
_NOT_IDENTIFIER = regex_error(
    "a valid C identifier must start with alphabetic character or '_', followed by a string of alphanumeric "
    "characters or '_'",
    "[A-Za-z_][A-Za-z0-9_]*",
    "my_name",
    "MY_NAME",
    "MyName",
)

Check = Callable[[Any, Path, Errors], None]


def check_list(items: list[Any], count_max: int, path: Path, errors: Errors, check: Check) -> bool:
    """Check each item. If the list is too long, add one error, check no item, and return False."""
    if 0 <= count_max < len(items):
        errors.append(too_many(path, len(items), count_max))
        return False
    for index, item in enumerate(items):
        check(item, path.index(index), errors)
    return True


def check_unique(keys: list[str], path: Path, errors: Errors) -> None:
    """Report each repetition of an earlier key as a duplicate, with its index."""
    seen: set[str] = set()
    for index, key in enumerate(keys):
        if key in seen:
            errors.append(duplicate(path.index(index), key))
        seen.add(key)


def _check_identifier(text: str, path: Path, errors: Errors) -> None:
    if len(text.encode()) > _ID_LENGTH_MAX:
        errors.append(too_long(path, "", _ID_LENGTH_MAX))
    if not _identifier(text):
        errors.append(invalid(path, text, _NOT_IDENTIFIER))


def check_attribute_name(name: str, path: Path, errors: Errors) -> None:
    """Check an identifier with an optional domain. A name with several slashes passes, as in Kubernetes."""
    domain, *rest = name.split("/")
    if not rest:
        _check_identifier(domain, path, errors)
    elif len(rest) == 1:
        if domain:
            check_csi_driver_name(domain, path, errors)
        else:
            errors.append(invalid(path, "", "the domain must not be empty"))
        if rest[0]:
            _check_identifier(rest[0], path, errors)
        else:
            errors.append(invalid(path, "", "the name must not be empty"))


def check_full_attribute_name(name: str, path: Path, errors: Errors) -> None:
    """Check an identifier with its domain."""
    check_attribute_name(name, path, errors)
    if "/" not in name:
        errors.append(invalid(path, name, _NOT_QUALIFIED))


def check_pool_name(name: str, path: Path, errors: Errors) -> None:
    """Check the name of a pool: subdomains separated by slashes."""
    if not name:
        errors.append(required(path))
        return
    if len(name) > _POOL_LENGTH_MAX:
        errors.append(too_long(path, "", _POOL_LENGTH_MAX))
    for part in name.split("/"):
        check_subdomain(part, path, errors)


def check_references(names: list[str], known: set[str], path: Path, errors: Errors) -> None:
    """Check unique names of requests."""

    def check(name: str, at: Path, errors: Errors) -> None:
        check_reference(name, known, at, errors)

    if check_list(names, 32, path, errors, check):
        check_unique(names, path, errors)


def check_reference(name: str, known: set[str], path: Path, errors: Errors) -> None:
    """Check the name of a request, or of one of its alternatives."""
    parts = name.split("/")
    if len(parts) <= 2:
        for part in parts:
            check_label(part, path, errors)
    if name not in known:
        errors.append(invalid(path, name, NO_SUCH_REQUEST))


def check_raw_object(value: Any, path: Path, errors: Errors) -> None:
    """Check a JSON object of limited length."""
    if value is None:
        errors.append(required(path))
    elif len(json.encode(value)) > _PARAMETERS_LENGTH_MAX:
        errors.append(too_long(path, "", _PARAMETERS_LENGTH_MAX))
    elif not isinstance(value, dict):
        errors.append(invalid(path, "<value omitted>", "must be a valid JSON object"))


def check_configuration(configuration: Object, path: Path, errors: Errors) -> None:
    """Check a configuration: opaque parameters and the name of their driver."""
    opaque, at = configuration.get("opaque"), path.child("opaque")
    if opaque is None:
        errors.append(required(at))
        return
    check_csi_driver_name(opaque.get("driver", ""), at.child("driver"), errors)
    check_raw_object(opaque.get("parameters"), at.child("parameters"), errors)


def _check_label_name(name: str, path: Path, errors: Errors) -> None:
    errors.extend(invalid(path, name, text) for text in qualified_name_errors(name))


def _check_label_value(value: str, path: Path, errors: Errors) -> None:
    errors.extend(invalid(path, value, text) for text in label_value_errors(value))


def check_taint(taint: Object, path: Path, errors: Errors) -> None:
    """Check a taint of a device, which has a key and an effect."""
    effect = taint.get("effect", "")
    _check_label_name(taint.get("key", ""), path.child("key"), errors)
    _check_label_value(taint.get("value", ""), path.child("value"), errors)
    if not effect:
        errors.append(required(path.child("effect")))
    elif effect not in _EFFECTS:
        errors.append(not_supported(path.child("effect"), effect, _EFFECTS))


def check_toleration(toleration: Object, path: Path, errors: Errors) -> None:
    """Check a toleration of device taints and its operator."""
    key, value, effect = (toleration.get(name, "") for name in ("key", "value", "effect"))
    operator = toleration.get("operator", "")
    if key:
        _check_label_name(key, path.child("key"), errors)
    if operator == "Exists":
        if value:
            errors.append(invalid(path.child("value"), value, "must be empty for operator `Exists`"))
    elif operator == "Equal":
        _check_label_value(value, path.child("value"), errors)
    elif not operator:
        errors.append(required(path.child("operator")))
    else:
        errors.append(not_supported(path.child("operator"), operator, _OPERATORS))
    if effect and effect not in _EFFECTS:
        errors.append(not_supported(path.child("effect"), effect, _EFFECTS))


def check_binding_conditions(device: Object, path: Path, errors: Errors) -> None:
    """Check the conditions that permit or prevent binding: both lists or neither, without common entries."""
    good, bad = (device.get(name) or [] for name in ("bindingConditions", "bindingFailureConditions"))
    good_at, bad_at = path.child("bindingConditions"), path.child("bindingFailureConditions")
    check_list(good, _CONDITIONS_MAX, good_at, errors, _check_label_name)
    check_list(bad, _CONDITIONS_MAX, bad_at, errors, _check_label_name)
    check_unique(good, good_at, errors)
    for index, condition in enumerate(bad):
        if condition in bad[:index]:
            errors.append(duplicate(bad_at.index(index), condition))
        if condition in good:
            text = "bindingFailureConditions must not overlap with bindingConditions"
            errors.append(invalid(bad_at.index(index), condition, text))
    if bad and not good:
        errors.append(invalid(good_at, None, "bindingConditions are required to use bindingFailureConditions"))
    if good and not bad:
        errors.append(invalid(bad_at, None, "bindingFailureConditions are required to use bindingConditions"))
