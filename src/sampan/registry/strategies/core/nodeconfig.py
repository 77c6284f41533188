"""Where a kubelet once found its configuration: long removed, still checked where it is stored.

Source: pkg/apis/core/validation/validation.go validateNodeConfigSourceSpec (1.36).
"""

from sampan.core.field import FieldError, Path, forbidden, invalid, required
from sampan.core.names import config_map_key_errors, dns1123_label_errors, dns1123_subdomain_errors
from sampan.core.object import Object

Errors = list[FieldError]


def check_config_source(source: Object, path: Path, errors: Errors, *, in_spec: bool) -> None:
    """A NodeConfigSource: exactly one reference."""
    reference = source.get("configMap")
    if reference is None:
        errors.append(invalid(path, source, "exactly one reference subfield must be non-nil"))
        return
    at = path.child("configMap")
    for name in ("uid", "resourceVersion"):
        if in_spec and reference.get(name):
            errors.append(forbidden(at.child(name), f"{name} must not be set in spec"))
        elif not in_spec and not reference.get(name):
            errors.append(required(at.child(name)))
    rules = {
        "namespace": dns1123_label_errors,
        "name": dns1123_subdomain_errors,
        "kubeletConfigKey": config_map_key_errors,
    }
    for name, rule in rules.items():
        value = reference.get(name, "")
        if not value:
            errors.append(required(at.child(name)))
        else:
            errors.extend(invalid(at.child(name), value, text) for text in rule(value))


def check_config_status(status: Object, path: Path, errors: Errors) -> None:
    """A NodeConfigStatus."""
    for name in ("assigned", "active", "lastKnownGood"):
        if status.get(name) is not None:
            check_config_source(status[name], path.child(name), errors, in_spec=False)
