"""`StatusError`: the only error that crosses the API, with the reasons, codes and messages of `metav1.Status`.

Source: apimachinery pkg/api/errors/errors.go (1.36).
"""

import enum
from collections.abc import Sequence
from typing import Any

from sampan.core.field import FAULTS_MAX, FieldError, quote
from sampan.core.gvk import GroupKind, GroupResource


class Reason(enum.StrEnum):
    """Values of `Status.reason`, the machine-readable cause of an error."""

    UNKNOWN = ""
    BAD_REQUEST = "BadRequest"
    UNAUTHORIZED = "Unauthorized"
    FORBIDDEN = "Forbidden"
    NOT_FOUND = "NotFound"
    METHOD_NOT_ALLOWED = "MethodNotAllowed"
    NOT_ACCEPTABLE = "NotAcceptable"
    ALREADY_EXISTS = "AlreadyExists"
    CONFLICT = "Conflict"
    GONE = "Gone"
    EXPIRED = "Expired"
    REQUEST_ENTITY_TOO_LARGE = "RequestEntityTooLarge"
    UNSUPPORTED_MEDIA_TYPE = "UnsupportedMediaType"
    INVALID = "Invalid"
    TOO_MANY_REQUESTS = "TooManyRequests"
    INTERNAL_ERROR = "InternalError"
    SERVER_TIMEOUT = "ServerTimeout"
    SERVICE_UNAVAILABLE = "ServiceUnavailable"
    TIMEOUT = "Timeout"


Details = dict[str, Any]


class StatusError(Exception):
    """Failed request, with the contents of its `Status` body.

    `details` is the `Status.details` dict (name, group, kind, uid, causes, retryAfterSeconds); `list_metadata` is the
    `metadata` of the Status (used only for the continue token of a 410).
    """

    def __init__(
        self,
        reason: Reason,
        code: int,
        message: str,
        *,
        details: Details | None = None,
        list_metadata: dict[str, Any] | None = None,
    ) -> None:
        super().__init__(message)
        self.reason = reason
        self.code = code
        self.message = message
        self.details = details
        self.list_metadata = list_metadata

    @property
    def retry_after_s(self) -> int:
        """Return the seconds that the client should wait (the `Retry-After` header); 0 = none."""
        requested = (self.details or {}).get("retryAfterSeconds")
        # Details of a response may have any type.
        return requested if isinstance(requested, int) and requested > 0 else 0

    def to_status(self) -> dict[str, Any]:
        """Return the `Status` object for the client."""
        status: dict[str, Any] = {
            "kind": "Status",
            "apiVersion": "v1",
            "metadata": self.list_metadata or {},
            "status": "Failure",
            "message": self.message,
        }
        if self.reason:
            status["reason"] = str(self.reason)
        if self.details is not None:
            status["details"] = self.details
        status["code"] = self.code
        return status


def _details(resource: GroupResource, name: str, **more: Any) -> Details:
    details: Details = {}
    if name:
        details["name"] = name
    if resource.group:
        details["group"] = resource.group
    if resource.resource:
        details["kind"] = resource.resource
    details.update(more)
    return details


def not_found(resource: GroupResource, name: str) -> StatusError:
    """Return a 404: the object does not exist."""
    return StatusError(Reason.NOT_FOUND, 404, f"{resource} {quote(name)} not found", details=_details(resource, name))


def already_exists(resource: GroupResource, name: str, *, being_deleted: bool = False) -> StatusError:
    """Return a 409: an object of this name exists, or is still being deleted."""
    prefix = "object is being deleted: " if being_deleted else ""
    return StatusError(
        Reason.ALREADY_EXISTS, 409, f"{prefix}{resource} {quote(name)} already exists", details=_details(resource, name)
    )


def generate_name_conflict(resource: GroupResource, name: str) -> StatusError:
    """Return a 409: no free name could be generated; the client may retry."""
    return StatusError(
        Reason.ALREADY_EXISTS,
        409,
        f"{resource} {quote(name)} already exists, the server was not able to generate a unique name for the object",
        details=_details(resource, name, retryAfterSeconds=1),
    )


def conflict(resource: GroupResource, name: str, message: str, causes: Sequence[Details] = ()) -> StatusError:
    """Return a 409: the object is not in the state that the request assumed."""
    details = _details(resource, name)
    if causes:
        details["causes"] = list(causes)
    return StatusError(
        Reason.CONFLICT,
        409,
        f"Operation cannot be fulfilled on {resource} {quote(name)}: {message}",
        details=details,
    )


OPTIMISTIC_LOCK_MESSAGE = "the object has been modified; please apply your changes to the latest version and try again"


def apply_conflict(message: str, causes: Sequence[Details]) -> StatusError:
    """Return a 409: server-side apply would change fields that other managers own."""
    return StatusError(Reason.CONFLICT, 409, message, details={"causes": list(causes)})


CAUSES_MAX = 100
CAUSES_CHARACTERS_MAX = 128 * 1024
"""Limits of an error body; errors beyond either limit are only counted."""


def invalid(kind: GroupKind, name: str, errors: Sequence[FieldError]) -> StatusError:
    """Return a 422: the object is invalid. Each field error is a cause, up to `CAUSES_MAX`."""
    causes: list[Details] = []
    texts: dict[str, None] = {}
    characters = 0
    for error in errors:
        body = error.body()
        causes.append({"reason": str(error.type), "message": body, "field": error.field})
        texts[f"{error.field}: {body}"] = None
        characters += len(error.field) + len(body)
        if len(causes) == CAUSES_MAX or characters > CAUSES_CHARACTERS_MAX:
            break
    shown = list(texts)
    if len(errors) > len(causes):
        at_least = "at least " if len(errors) >= FAULTS_MAX else ""
        shown.append(f"and {at_least}{len(errors) - len(causes)} more")
    text = shown[0] if len(shown) == 1 else "[" + ", ".join(shown) + "]"
    details: Details = {}
    if name:
        details["name"] = name
    if kind.group:
        details["group"] = kind.group
    if kind.kind:
        details["kind"] = kind.kind
    if causes:
        details["causes"] = causes
    message = f"{kind} {quote(name)} is invalid"
    return StatusError(Reason.INVALID, 422, f"{message}: {text}" if texts else message, details=details)


def listed(texts: Sequence[str], separator: str = ", ") -> str:
    """Join at most `CAUSES_MAX` texts for a message, and add the number of those omitted."""
    more = len(texts) - CAUSES_MAX
    return separator.join(texts if more <= 0 else [*texts[:CAUSES_MAX], f"and {more} more"])


def bad_request(message: str) -> StatusError:
    """Return a 400: the request is malformed."""
    return StatusError(Reason.BAD_REQUEST, 400, message)


def unauthorized(message: str = "Unauthorized") -> StatusError:
    """Return a 401: the client is not authenticated."""
    return StatusError(Reason.UNAUTHORIZED, 401, message)


def forbidden(resource: GroupResource, name: str, message: str, causes: Sequence[Details] = ()) -> StatusError:
    """Return a 403: the user is not allowed to do this."""
    details = _details(resource, name)
    if causes:
        details["causes"] = list(causes)
    if not resource.resource and (not name or not resource.group):
        text = f"forbidden: {message}"
    elif not name:
        text = f"{resource} is forbidden: {message}"
    else:
        text = f"{resource} {quote(name)} is forbidden: {message}"
    return StatusError(Reason.FORBIDDEN, 403, text, details=details)


def no_such_resource() -> StatusError:
    """Return the 404 for a path that no route matches, in a group version that is served.

    Source: apimachinery pkg/api/errors NewGenericServerResponse (1.36).
    """
    return StatusError(Reason.NOT_FOUND, 404, "the server could not find the requested resource", details={})


def method_not_allowed() -> StatusError:
    """Return the 405 for a path that has routes, but none for the method. Source: as for `no_such_resource`."""
    text = "the server does not allow this method on the requested resource"
    return StatusError(Reason.METHOD_NOT_ALLOWED, 405, text, details={})


def method_not_supported(resource: GroupResource, action: str) -> StatusError:
    """Return a 405: the resource does not support this verb."""
    return StatusError(
        Reason.METHOD_NOT_ALLOWED,
        405,
        f'{action} is not supported on resources of kind "{resource}"',
        details=_details(resource, ""),
    )


def not_acceptable(message: str) -> StatusError:
    """Return a 406: no media type that the client accepts is supported."""
    return StatusError(Reason.NOT_ACCEPTABLE, 406, message)


def gone(message: str) -> StatusError:
    """Return a 410: the resource no longer exists."""
    return StatusError(Reason.GONE, 410, message)


def expired(message: str, *, continue_token: str = "") -> StatusError:
    """Return a 410: the revision was compacted.

    The client lists again, or continues inconsistently with `continue_token`.
    """
    return StatusError(
        Reason.EXPIRED,
        410,
        message,
        list_metadata={"continue": continue_token} if continue_token else None,
    )


def request_entity_too_large(message: str) -> StatusError:
    """Return a 413: the body or object is too large."""
    return StatusError(Reason.REQUEST_ENTITY_TOO_LARGE, 413, f"Request entity too large: {message}")


def unsupported_media_type(message: str) -> StatusError:
    """Return a 415: the media type of the request body is not supported."""
    return StatusError(Reason.UNSUPPORTED_MEDIA_TYPE, 415, message)


def too_many_requests(message: str, retry_after_s: int) -> StatusError:
    """Return a 429: the client should retry later."""
    return StatusError(Reason.TOO_MANY_REQUESTS, 429, message, details={"retryAfterSeconds": retry_after_s})


def internal_error(message: str) -> StatusError:
    """Return a 500: the server failed."""
    return StatusError(
        Reason.INTERNAL_ERROR,
        500,
        f"Internal error occurred: {message}",
        details={"causes": [{"message": message}]},
    )


def server_timeout(resource: GroupResource, operation: str, retry_after_s: int) -> StatusError:
    """Return a 500: the server did not finish in time; the client may retry."""
    return StatusError(
        Reason.SERVER_TIMEOUT,
        500,
        f"The {operation} operation against {resource} could not be completed at this time, please try again.",
        details=_details(resource, operation, retryAfterSeconds=retry_after_s),
    )


def service_unavailable(message: str) -> StatusError:
    """Return a 503: the service is currently unavailable."""
    return StatusError(Reason.SERVICE_UNAVAILABLE, 503, message)


def timeout(message: str, retry_after_s: int = 0) -> StatusError:
    """Return a 504: the request timed out."""
    details: Details = {"retryAfterSeconds": retry_after_s} if retry_after_s else {}
    return StatusError(Reason.TIMEOUT, 504, f"Timeout: {message}", details=details)


def too_large_resource_version(requested: int, current: int) -> StatusError:
    """Return a 504: the requested revision is in the future and did not arrive in time. Clients retry after 1 s."""
    causes = [{"reason": "ResourceVersionTooLarge", "message": "Too large resource version"}]
    details: Details = {"causes": causes, "retryAfterSeconds": 1}
    message = f"Timeout: Too large resource version: {requested}, current: {current}"
    return StatusError(Reason.TIMEOUT, 504, message, details=details)


def without_html(text: str) -> str:
    """Escape the characters that a browser could interpret as HTML."""
    return text.replace("&", "&amp;").replace("<", "&lt;").replace(">", "&gt;")
