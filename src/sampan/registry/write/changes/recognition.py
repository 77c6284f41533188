"""Type of a body, and the errors for a wrong or missing type.

Source: apiserver pkg/endpoints/handlers/rest.go transformDecodeError, pkg/runtime/serializer/json/meta.go and
conversion.go (apimachinery, 1.36).
"""

from typing import Any, Final

from sampan.core import errors
from sampan.core.errors import StatusError
from sampan.core.field import Path, invalid
from sampan.core.go_text import unmarshal_text
from sampan.core.gvk import GroupKind, GroupVersionKind, canonical, package_of
from sampan.core.object import Object
from sampan.patch.errors import not_object_text
from sampan.registry.dialect import Dialect
from sampan.registry.endpoint import Endpoint

NO_TYPE: Final = "couldn't get version/kind; json parse error: "
_SHOWN_BYTES: Final = 30
_SHOWN_TEXT: Final = 1024


class UnrecognizedObject(StatusError):
    """Error 400 for an object of another type, or with values of other types. `text` is the fault."""

    def __init__(self, kind: str, version: str, desired: str, text: str) -> None:
        message = f'{kind} in version "{version}" cannot be handled as a {desired}: {text}'
        super().__init__(errors.Reason.BAD_REQUEST, 400, message)
        self.text = text


def unreadable(endpoint: Endpoint, text: str) -> UnrecognizedObject:
    """Return the error for an object that has the endpoint's type but cannot be decoded."""
    kind = endpoint.definition.kind
    return UnrecognizedObject(kind, endpoint.version.name, kind, text)


def unrecognized(kind: str, text: str, body: bytes) -> StatusError:
    """Return 400 for a body whose type is unknown. The message shows the beginning of the body."""
    return errors.bad_request(
        f"the object provided is unrecognized (must be of type {kind}): {text} ({_beginning(body)})"
    )


def _beginning(body: bytes) -> str:
    if not body:
        return "<empty>"
    shown = body[:_SHOWN_BYTES]
    text = shown.decode("utf-8", "replace") if body[:1] == b"{" else shown.hex()
    return text if len(body) <= _SHOWN_BYTES else f"{text} ..."


def type_fault(value: Any, body: bytes, dialect: Dialect) -> str:
    """Return the reason why the type of a decoded body is unreadable, or an empty string. null is an empty object."""
    if value is None:
        value = {}
    elif not isinstance(value, dict):
        return not_object_text(value)
    for name in ("apiVersion", "kind"):
        text = value.get(name)
        if text.__class__ is not str and text is not None:
            return NO_TYPE + unmarshal_text(text, "string", field=f".{name}")
    if dialect.requires_kind and not value.get("kind"):
        return f"Object 'Kind' is missing in '{body[:_SHOWN_TEXT].decode('utf-8', 'replace')}'"
    return ""


def check_kind(obj: Object, endpoint: Endpoint) -> None:
    """Check that the object is of the endpoint's kind and version. Built-in types may omit them.

    Raises 400; for another kind of custom resource 422.
    """
    if obj.get("kind") != endpoint.definition.kind or obj.get("apiVersion") != endpoint.api_version:
        obj["apiVersion"], obj["kind"] = _checked(obj, endpoint)
    if obj.get("metadata") is None:
        obj["metadata"] = {}


def _checked(obj: Object, endpoint: Endpoint) -> tuple[str, str]:
    definition, dialect = endpoint.definition, endpoint.dialect
    kind, api_version = obj.get("kind") or "", obj.get("apiVersion") or ""
    if not dialect.requires_kind:
        kind, api_version = kind or definition.kind, canonical(api_version) or endpoint.api_version
    if dialect.has_scheme and not _is_registered(api_version, kind, endpoint):
        text = f'no kind "{kind}" is registered for version "{api_version}"'
        raise _wrong(endpoint, api_version, kind, text)
    if api_version != endpoint.api_version and (kind == definition.kind or not dialect.has_scheme):
        raise errors.bad_request(
            f"the API version in the data ({api_version}) does not match the expected API version "
            f"({endpoint.api_version})"
        )
    if kind != definition.kind:
        if not dialect.has_scheme:
            metadata = obj.get("metadata")
            name = metadata.get("name") if isinstance(metadata, dict) else None
            raise invalid_type(obj, endpoint, name if isinstance(name, str) else "")
        package = dialect.package(definition.group, endpoint.version.name)
        raise _wrong(endpoint, api_version, kind, _unconvertible(api_version, kind, package, definition.kind))
    return api_version, kind


def invalid_type(obj: Object, endpoint: Endpoint, name: str) -> StatusError:
    """Return 422 for a custom resource of another kind or version. If a patch has removed the apiVersion, Kubernetes
    returns 500, and this server the error for a wrong one.

    Source: apiextensions pkg/registry/customresource/validator.go ValidateTypeMeta (1.36).
    """
    kind, version = obj["kind"], obj.get("apiVersion") or ""
    names = (("kind", kind, endpoint.definition.kind), ("apiVersion", version, endpoint.api_version))
    faults = [invalid(Path(key), text, f"must be {right}") for key, text, right in names if text != right]
    return errors.invalid(GroupKind(version.rpartition("/")[0], kind), name, faults)


def check_other_kind(obj: Object, desired: GroupVersionKind, endpoint: Endpoint) -> None:
    """Check that the body of a subresource is of the subresource's kind. Raises 400."""
    kind, api_version = obj["kind"], obj["apiVersion"]
    if kind == desired.kind:
        return
    group, _, version = api_version.rpartition("/")
    if endpoint.is_builtin_kind(GroupVersionKind(group, version, kind)):
        text = _unconvertible(api_version, kind, package_of(desired.group), desired.kind)
    else:
        text = f'no kind "{kind}" is registered for version "{api_version}"'
    raise UnrecognizedObject(kind, version, desired.kind, text)


def _unconvertible(api_version: str, kind: str, package: str, desired: str) -> str:
    given = api_version.rpartition("/")[2]
    return f"converting ({given}.{kind}) to ({package}.{desired}): unknown conversion"


def _is_registered(api_version: str, kind: str, endpoint: Endpoint) -> bool:
    """Return True if Kubernetes has the kind in that version."""
    group, _, version = api_version.rpartition("/")
    definition = endpoint.definition
    if kind == definition.kind and group == definition.group:
        return is_known(api_version, endpoint)
    return endpoint.is_builtin_kind(GroupVersionKind(group, version, kind))


def is_known(api_version: str, endpoint: Endpoint) -> bool:
    """Return True if Kubernetes has the endpoint's kind in that version, including betas that it no longer serves."""
    group, _, version = api_version.rpartition("/")
    definition = endpoint.definition
    return group == definition.group and (version in definition.versions or "beta" in version or "alpha" in version)


def _wrong(endpoint: Endpoint, api_version: str, kind: str, text: str) -> UnrecognizedObject:
    return UnrecognizedObject(kind, api_version.rpartition("/")[2], endpoint.definition.kind, text)
