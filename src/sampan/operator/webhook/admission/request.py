"""`AdmissionRequest`: a request of an API server, as handlers receive it.

Source: k8s.io/api admission/v1 types.go (1.36).
"""

import enum
from contextvars import ContextVar
from typing import Any

import msgspec

from sampan.core.gvk import GroupVersionKind, GroupVersionResource
from sampan.resource import Object
from sampan.wire import json

NULL = msgspec.Raw(b"null")


class Operation(enum.StrEnum):
    """Kind of change that a webhook decides about. CONNECT: exec, attach, port-forward or proxy."""

    CREATE = "CREATE"
    UPDATE = "UPDATE"
    DELETE = "DELETE"
    CONNECT = "CONNECT"


class UserInfo(msgspec.Struct, frozen=True, omit_defaults=True):
    """User of the request to the API server."""

    username: str = ""
    uid: str = ""
    groups: list[str] = []
    extra: dict[str, list[str]] = {}


class ReviewedKind(msgspec.Struct, frozen=True):
    """Group, version and kind of the object in an admission review."""

    group: str = ""
    version: str = ""
    kind: str = ""

    @property
    def gvk(self) -> GroupVersionKind:
        """The kind as GroupVersionKind."""
        return GroupVersionKind(self.group, self.version, self.kind)


class ReviewedResource(msgspec.Struct, frozen=True):
    """Group, version and plural name in an admission review."""

    group: str = ""
    version: str = ""
    resource: str = ""

    @property
    def gvr(self) -> GroupVersionResource:
        """The resource as GroupVersionResource."""
        return GroupVersionResource(self.group, self.version, self.resource)


class AdmissionRequest(msgspec.Struct, frozen=True, kw_only=True, rename="camel"):
    """Operation on an object that the API server submits to a webhook.

    The `request_…` fields describe the client's original request. They differ if the API server has converted the
    object.
    """

    uid: str
    """UID of this request, not of the object."""
    operation: Operation
    kind: ReviewedKind = ReviewedKind()
    resource: ReviewedResource = ReviewedResource()
    sub_resource: str = ""
    """`status`, `scale`, …; empty for the object."""
    request_kind: ReviewedKind | None = None
    request_resource: ReviewedResource | None = None
    request_sub_resource: str = ""
    name: str = ""
    """Name of the object; empty if the server generates it."""
    namespace: str = ""
    user_info: UserInfo = UserInfo()
    raw_object: msgspec.Raw = msgspec.field(default=NULL, name="object")
    """JSON of the object as it would be stored; null for DELETE."""
    raw_old_object: msgspec.Raw = msgspec.field(default=NULL, name="oldObject")
    """JSON of the stored object; null for CREATE."""
    dry_run: bool | None = False
    """True: nothing will be stored, so the handler must have no side effects."""
    raw_options: msgspec.Raw = msgspec.field(default=NULL, name="options")

    @property
    def object(self) -> Object | None:
        """The new object, decoded on each access. Raises `ValueError`."""
        return _object(self.raw_object)

    @property
    def old_object(self) -> Object | None:
        """The stored object, decoded on each access. Raises `ValueError`."""
        return _object(self.raw_old_object)

    @property
    def options(self) -> Object:
        """CreateOptions, UpdateOptions or DeleteOptions of the client."""
        return _object(self.raw_options) or {}


def _object(raw: msgspec.Raw) -> Object | None:
    value: Any = json.decode(bytes(raw))
    if value is not None and not isinstance(value, dict):
        raise ValueError("the object of the review is not a JSON object")
    return value


CURRENT_ADMISSION: ContextVar[AdmissionRequest | None] = ContextVar("sampan_admission", default=None)


def current_admission() -> AdmissionRequest:
    """Return the request that the calling handler processes, with its user, dry run and subresource.

    Raises `LookupError` outside a handler.
    """
    request = CURRENT_ADMISSION.get()
    if request is None:
        raise LookupError("no admission request is being handled here")
    return request
