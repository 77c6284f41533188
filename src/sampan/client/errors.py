"""Exceptions that a `Client` raises, as a tree with the cause of each.

    ClientError
    ├── ConfigError            the kubeconfig, or a file that it names, is unusable
    ├── NoMatch                the server has no such resource or kind
    ├── Undecodable            an object does not fit its type (also a ValueError)
    ├── WaitTimeout            a condition did not become true in time (also a TimeoutError)
    ├── TransportError         no complete response: refused, reset, TLS; `sent`: the request may have arrived
    │   ├── TransportTimeout
    │   └── CredentialError    no credentials: a plugin fails, a token file is missing
    └── ApiError               an error response; also a `core.errors.StatusError`
        ├── BadRequest  Unauthorized  Forbidden  NotFound  MethodNotAllowed  NotAcceptable  AlreadyExists  Conflict
        ├── Expired  RequestEntityTooLarge  UnsupportedMediaType  Invalid  TooManyRequests
        └── ServerError
            └── InternalError  ServerTimeout  ServiceUnavailable  Timeout

Source: apimachinery pkg/api/errors/errors.go (1.36).
"""

from collections.abc import Mapping
from typing import Any, Final

import msgspec

from sampan.core.errors import Details, Reason, StatusError
from sampan.http.client.errors import ClientError, TransportError, TransportTimeout
from sampan.wire.json import UNREADABLE

__all__ = [
    "AlreadyExists",
    "ApiError",
    "BadRequest",
    "ClientError",
    "ConfigError",
    "Conflict",
    "CredentialError",
    "Expired",
    "Forbidden",
    "InternalError",
    "Invalid",
    "MethodNotAllowed",
    "NoMatch",
    "NotAcceptable",
    "NotFound",
    "RequestEntityTooLarge",
    "ServerError",
    "ServerTimeout",
    "ServiceUnavailable",
    "Timeout",
    "TooManyRequests",
    "TransportError",
    "TransportTimeout",
    "Unauthorized",
    "Undecodable",
    "UnsupportedMediaType",
    "WaitTimeout",
    "api_error",
    "response_error",
]


class ConfigError(ClientError):
    """Unusable configuration. The message names the file, the entry and the cause."""


class NoMatch(ClientError):
    """The server has no resource or kind of this name, according to discovery."""


class Undecodable(ClientError, ValueError):
    """Object that its type cannot decode. `body` is its JSON."""

    def __init__(self, message: str, body: bytes) -> None:
        super().__init__(message)
        self.body = body


class WaitTimeout(ClientError, TimeoutError):
    """The condition did not become true in time. The message contains the condition and the last state."""


class CredentialError(TransportError):
    """No credentials are available, so nothing was sent. The cause may be temporary (a plugin that calls a server):
    back off.
    """

    def __init__(self, message: str) -> None:
        super().__init__(message, sent=False)


class ApiError(StatusError, ClientError):
    """Error response of the server. Each subclass corresponds to a reason."""

    stated_reason: str = ""
    """Reason as the response has it: "" if it has none, also if `reason` follows from the code."""

    @property
    def causes(self) -> list[Details]:
        """Causes of the error: dicts with `reason`, `message`, `field`."""
        causes: list[Details] = (self.details or {}).get("causes") or []
        return causes

    def has_cause(self, reason: str) -> bool:
        """Return True if one of the causes has this reason (`DisruptionBudget`, `FieldManagerConflict` …)."""
        return any(cause.get("reason") == reason for cause in self.causes)


class BadRequest(ApiError):
    """400: the request is malformed."""


class Unauthorized(ApiError):
    """401: the server cannot authenticate the client."""


class Forbidden(ApiError):
    """403: the client may not do this, or an admission plug-in refuses it."""


class NotFound(ApiError):
    """404: the object or the resource does not exist."""


class MethodNotAllowed(ApiError):
    """405: the resource does not have this verb."""


class NotAcceptable(ApiError):
    """406: the server has none of the media types that the client accepts."""


class AlreadyExists(ApiError):
    """409 for a create: an object of this name exists."""


class Conflict(ApiError):
    """409: the object has changed since it was read, or other managers own fields. Read it again and retry."""


class Expired(ApiError):
    """410: the resourceVersion or the continue token is too old. List again."""


class RequestEntityTooLarge(ApiError):
    """413: the body is larger than the server's limit."""


class UnsupportedMediaType(ApiError):
    """415: the server does not read the media type of the body."""


class Invalid(ApiError):
    """422: the object is invalid. `causes` has an entry for each field."""


class TooManyRequests(ApiError):
    """429: retry after `retry_after_s`."""


class ServerError(ApiError):
    """5xx: a fault of the server."""


class InternalError(ServerError):
    """500: the server, or a webhook that it calls, has failed."""


class ServerTimeout(ServerError):
    """500 with reason ServerTimeout: the server could not finish in time. Retry."""


class ServiceUnavailable(ServerError):
    """503: the server, its store or an aggregated API is not available. Retry."""


class Timeout(ServerError):
    """504: the request took too long, or the cache has not reached the requested resourceVersion."""


_BY_REASON: dict[Reason, type[ApiError]] = {
    Reason.BAD_REQUEST: BadRequest,
    Reason.UNAUTHORIZED: Unauthorized,
    Reason.FORBIDDEN: Forbidden,
    Reason.NOT_FOUND: NotFound,
    Reason.METHOD_NOT_ALLOWED: MethodNotAllowed,
    Reason.NOT_ACCEPTABLE: NotAcceptable,
    Reason.ALREADY_EXISTS: AlreadyExists,
    Reason.CONFLICT: Conflict,
    Reason.GONE: Expired,
    Reason.EXPIRED: Expired,
    Reason.REQUEST_ENTITY_TOO_LARGE: RequestEntityTooLarge,
    Reason.UNSUPPORTED_MEDIA_TYPE: UnsupportedMediaType,
    Reason.INVALID: Invalid,
    Reason.TOO_MANY_REQUESTS: TooManyRequests,
    Reason.INTERNAL_ERROR: InternalError,
    Reason.SERVER_TIMEOUT: ServerTimeout,
    Reason.SERVICE_UNAVAILABLE: ServiceUnavailable,
    Reason.TIMEOUT: Timeout,
}

_SUBRESOURCES: Final = ("status", "scale")
"""Subresources that a CRD may lack."""

_REASON_OF_CODE: dict[int, Reason] = {
    400: Reason.BAD_REQUEST,
    401: Reason.UNAUTHORIZED,
    403: Reason.FORBIDDEN,
    404: Reason.NOT_FOUND,
    405: Reason.METHOD_NOT_ALLOWED,
    406: Reason.NOT_ACCEPTABLE,
    409: Reason.CONFLICT,
    410: Reason.GONE,
    413: Reason.REQUEST_ENTITY_TOO_LARGE,
    415: Reason.UNSUPPORTED_MEDIA_TYPE,
    422: Reason.INVALID,
    429: Reason.TOO_MANY_REQUESTS,
    500: Reason.INTERNAL_ERROR,
    503: Reason.SERVICE_UNAVAILABLE,
    504: Reason.TIMEOUT,
}


def api_error(status: Mapping[str, Any]) -> ApiError:
    """Return the error for a `Status` object: a response body, or the object of an ERROR event of a watch."""
    code = int(status.get("code") or 500)
    try:
        reason = Reason(status.get("reason") or "")
    except ValueError:
        reason = Reason.UNKNOWN
    if not reason:
        reason = _REASON_OF_CODE.get(code, Reason.UNKNOWN)
    kind = _BY_REASON.get(reason, ServerError if code >= 500 else ApiError)
    details = status.get("details")
    error = kind(
        reason,
        code,
        str(status.get("message") or f"the server answered {code}"),
        details=details if isinstance(details, dict) else None,
        list_metadata=status.get("metadata"),
    )
    error.stated_reason = str(status.get("reason") or "")
    return error


def _is_custom(path: str) -> bool:
    """Return True for a path in a group of custom resources: the built-in kinds have all their subresources."""
    group = path.removeprefix("/apis/").partition("/")[0]
    return "." in group and not group.endswith(".k8s.io")


def response_error(code: int, body: bytes, *, path: str = "", retry_after_s: int = 0) -> ApiError:
    """Return the error for a response of 400 or above. Its body need not be a `Status`: a proxy may send a web page.

    `path` is that of the request: the message of a 404 names the usual cause, such as an absent CRD.
    """
    try:
        status = msgspec.json.decode(body)
    except UNREADABLE:
        status = None
    if not isinstance(status, dict) or status.get("kind") != "Status":
        message = f"the server answered {code}: {body[:256].decode('utf-8', 'replace')}".rstrip(": ")
        status = {"message": message, "reason": _REASON_OF_CODE.get(code, "")}
        if code == 404 and path.startswith("/apis/"):
            status["message"] = f"the server does not serve {path}: is the CRD of the kind installed?"
    elif code == 404 and _is_custom(path) and (name := path.rpartition("/")[2]) in _SUBRESOURCES:
        status["message"] = f"{status.get('message')} (or the kind has no subresource {name}: a CRD has to declare it)"
    status["code"] = code
    if retry_after_s:
        status["details"] = {**(status.get("details") or {}), "retryAfterSeconds": retry_after_s}
    return api_error(status)
