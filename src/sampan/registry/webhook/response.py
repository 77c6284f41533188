"""`WebhookResponse`: HTTP response of a webhook, and its meaning.

Source: client-go rest/request.go; apimachinery pkg/api/errors/errors.go NewGenericServerResponse (1.36).
"""

from collections.abc import Mapping
from dataclasses import dataclass

import msgspec

from sampan.core.errors import Reason
from sampan.core.field import quote
from sampan.core.numbers.integers import integer_or

RESPONSE_SIZE_BYTES_MAX = 32 << 20
_SHOWN_BYTES_MAX = 2048
_REDIRECTS = frozenset({301, 302, 303, 307, 308})
_TOO_MANY_REQUESTS = 429
_UNAVAILABLE = 503
_MAY_PASS = frozenset({Reason.INTERNAL_ERROR, Reason.TIMEOUT, Reason.TOO_MANY_REQUESTS})
_MAY_PASS_CODES = frozenset({429, 500, 504})
_REASONS = frozenset(Reason) - {Reason.UNKNOWN}
_SHOWN = frozenset({403, 415})
"""Statuses for which the body is the error text."""
_NOT_ACCEPTABLE = 406
_TEXTS = {
    400: "the server rejected our request for an unknown reason",
    401: "the server has asked for the client to provide credentials",
    404: "the server could not find the requested resource",
    405: "the server does not allow this method on the requested resource",
    406: "the server was unable to respond with a content type that the client supports",
    409: "the server reported a conflict",
    422: "the server rejected our request due to an error in our request",
    429: "the server has received too many requests and has asked us to try again later",
    503: "the server is currently unable to handle the request",
    504: "the server was unable to return a response in the time allotted, but may still be processing the request",
}


def not_http(data: bytes) -> str:
    """Return the error text for a first line that is not an HTTP status line."""
    line = data.partition(b"\n")[0].rstrip(b"\r").decode("latin-1")
    version, space, rest = line.partition(" ")
    if not space:
        return f"malformed HTTP response {quote(line)}"
    status = rest.lstrip(" ").partition(" ")[0]
    if len(status) != 3 or not status.isdecimal():
        return f"malformed HTTP status code {quote(status)}"
    return f"malformed HTTP version {quote(version)}"


class WebhookError(Exception):
    """Failed request to a webhook, or an unusable response. The text is for the client.

    `may_pass`: a retry may succeed.
    """

    def __init__(self, text: str, *, may_pass: bool = False) -> None:
        super().__init__(text)
        self.may_pass = may_pass


class EmptyResponse(WebhookError):
    """Empty response of a webhook that accepted the request. It is an error only if the caller needs a response."""


@dataclass(frozen=True, slots=True)
class WebhookResponse:
    """Response with its whole body."""

    status: int
    headers: Mapping[str, str]
    body: bytes

    @property
    def location(self) -> str:
        """Return the target of a redirect; "" if the response is none."""
        return self.headers.get("location", "") if self.status in _REDIRECTS else ""

    @property
    def retry_after_s(self) -> int | None:
        """Return the seconds to wait before a retry; None if the response does not request one."""
        if self.status != _TOO_MANY_REQUESTS and self.status < 500:
            return None
        seconds = integer_or(self.headers.get("retry-after", ""), -1)
        return seconds if seconds >= 0 else None

    def checked(self) -> bytes:
        """Return the body of a successful response. Raises `WebhookError`, or `EmptyResponse` if the body is empty."""
        body, status = self.body, self.status
        content_type = self.headers.get("content-type", "")
        if content_type and not content_type.partition(";")[0].strip():
            raise WebhookError("Internal error occurred: mime: no media type")
        if 200 <= status <= 206:
            if not body:
                text = f"0-length response with status code: {status} and content type: {content_type}"
                raise EmptyResponse(text)
            return body
        failure = _failure_status(body)
        if failure is not None and failure.message:
            raise WebhookError(failure.message, may_pass=failure.may_pass)
        is_fault = status == _TOO_MANY_REQUESTS or (status >= 500 and status != _UNAVAILABLE)
        may_pass = is_fault or self.retry_after_s is not None
        raise WebhookError(self._text(status, body), may_pass=may_pass)

    def _text(self, status: int, body: bytes) -> str:
        """Return client-go's error text for a status."""
        shown = "unknown"
        content_type = self.headers.get("content-type", "")
        if not content_type or content_type.lower().startswith("text/"):
            shown = body[:_SHOWN_BYTES_MAX].decode("utf-8", "replace").strip()
        if status in _SHOWN or (status == _NOT_ACCEPTABLE and shown not in ("", "unknown")):
            return shown
        if status in _TEXTS:
            return _TEXTS[status]
        if status >= 500:
            return f"an error on the server ({quote(shown)}) has prevented the request from succeeding"
        return f"the server responded with the status code {status} but did not return more information"


def _failure_status(body: bytes) -> "_Status | None":
    """Decode a body that is a `Status` of a failure; None for any other body."""
    try:
        status = msgspec.json.decode(body, type=_Status)
    except (msgspec.MsgspecError, UnicodeDecodeError):
        return None
    is_failure = (status.kind, status.api_version) == ("Status", "v1") and status.status != "Success"
    return status if is_failure else None


class _Details(msgspec.Struct, rename="camel"):
    retry_after_seconds: int = 0


class _Status(msgspec.Struct, rename="camel"):
    kind: str = ""
    api_version: str = ""
    status: str = ""
    message: str = ""
    reason: str = ""
    code: int = 0
    details: _Details | None = None

    @property
    def may_pass(self) -> bool:
        """Return True if a retry may succeed."""
        if self.details is not None and (self.details.retry_after_seconds > 0 or self.reason == Reason.SERVER_TIMEOUT):
            return True
        return self.reason in _MAY_PASS if self.reason in _REASONS else self.code in _MAY_PASS_CODES
