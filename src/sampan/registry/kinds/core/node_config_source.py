"""Configuration sources of kubelets. The feature was removed; stored fields are still checked.

Source: pkg/apis/core/validation/validation.go validateNodeConfigSourceSpec (1.36).
"""

from __future__ import annotations

from sampan.core.field import FieldError, Path, forbidden, invalid, required
from sampan.core.validation.names import dns1123_label_errors, dns1123_subdomain_errors
from sampan.core.validation.values import config_map_key_errors
from sampan.kinds import core_v1

Errors = list[FieldError]


def check_config_source(source: core_v1.NodeConfigSource, path: Path, errors: Errors, *, in_spec: bool) -> None:
    """Check a NodeConfigSource: exactly one reference."""
    reference = source.get("configMap")
    if reference is None:
        errors.append(invalid(path, source, "exactly one reference subfield must be non-nil"))
        return
    at = path.child("configMap")
    for field in ("uid", "resourceVersion"):
        if in_spec and reference.get(field):
            errors.append(forbidden(at.child(field), f"{field} must not be set in spec"))
        elif not in_spec and not reference.get(field):
            errors.append(required(at.child(field)))
    namespace, name, key = (reference.get(field, "") for field in ("namespace", "name", "kubeletConfigKey"))
    for field, value, texts in (
        ("namespace", namespace, dns1123_label_errors(namespace)),
        ("name", name, dns1123_subdomain_errors(name)),
        ("kubeletConfigKey", key, config_map_key_errors(key)),
    ):
        if not value:
            errors.append(required(at.child(field)))
        else:
            errors.extend(invalid(at.child(field), value, text) for text in texts)


def check_config_status(status: core_v1.NodeConfigStatus, path: Path, errors: Errors) -> None:
    """Check a NodeConfigStatus."""
    for name in ("assigned", "active", "lastKnownGood"):
        if status.get(name) is not None:
            check_config_source(status[name], path.child(name), errors, in_spec=False)
