"""Type of a patched object.

A strategic merge patch works on the typed object, not on its JSON, so apiVersion and kind are not fields of it. The
result of other patches is decoded like a body.

Source: apiserver pkg/endpoints/handlers/patch.go, apiextensions pkg/registry/customresource/validator.go (1.36).
"""

from sampan.core.go_text import conversion_text
from sampan.core.object import Object
from sampan.registry.endpoint import Endpoint
from sampan.registry.rest.metadata import match_name
from sampan.registry.write.changes.recognition import check_kind, invalid_type, is_known, type_fault, unreadable
from sampan.wire import json as wire_json


def settle_type(patched: Object, endpoint: Endpoint, name: str, *, typed: bool) -> None:
    """Check that a patched object is of the endpoint's type. With `typed`, the patch was a strategic one.

    Raises `Unreadable` (fault of the patch), 400 (no type) and 422 (another kind of custom resource).
    """
    if patched.get("kind") == endpoint.definition.kind and patched.get("apiVersion") == endpoint.api_version:
        return
    if typed:
        _settle_typed(patched, endpoint)
        return
    dialect = endpoint.dialect
    fault = type_fault(patched, wire_json.encode(patched), dialect) or _version_fault(patched)
    if fault:
        raise unreadable(endpoint, fault)
    if dialect.validates_patched_type:
        raise invalid_type(patched, endpoint, name)
    if not patched.get("apiVersion"):
        match_name(name, {})
    if patched.get("kind", "") in ("", endpoint.definition.kind) and is_known(patched["apiVersion"], endpoint):
        patched["apiVersion"] = endpoint.api_version
    check_kind(patched, endpoint)


def _settle_typed(patched: Object, endpoint: Endpoint) -> None:
    for name, text in (("apiVersion", endpoint.api_version), ("kind", endpoint.definition.kind)):
        given = patched.get(name)
        if given is not None and not isinstance(given, str):
            raise unreadable(endpoint, conversion_text(str, given, "string"))
        patched[name] = text


def _version_fault(patched: Object) -> str:
    version = patched.get("apiVersion") or ""
    return f"unexpected GroupVersion string: {version}" if version.count("/") > 1 else ""
