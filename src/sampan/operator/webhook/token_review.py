"""TokenReview: check bearer tokens for an API server (`--authentication-token-webhook-config-file`). v1 and v1beta1.

Source: controller-runtime pkg/webhook/authentication (0.24); k8s.io/api authentication/v1 types.go (1.36).
"""

import inspect
import logging
from collections.abc import Awaitable, Callable, Sequence
from dataclasses import dataclass
from typing import Any, Final

import msgspec

from sampan.core.user_code import report_caught
from sampan.operator.webhook.admission import UserInfo
from sampan.operator.webhook.endpoint import EndpointResponse
from sampan.wire import json
from sampan.wire.json import UNREADABLE

_log = logging.getLogger("sampan.webhook")

API_VERSIONS: Final = ("authentication.k8s.io/v1", "authentication.k8s.io/v1beta1")
KIND: Final = "TokenReview"
BODY_BYTES_MAX: Final = 1 << 20


@dataclass(frozen=True, slots=True)
class Authenticated:
    """User of a token, and the accepted audiences among those requested."""

    user: UserInfo
    audiences: Sequence[str] = ()


Verdict = Authenticated | UserInfo | None
Authenticate = Callable[[str, Sequence[str]], Verdict | Awaitable[Verdict]]
"""Function of a token and the requested audiences. Returns an `Authenticated`, a `UserInfo` if it ignores audiences, or
None. The text of a `ValueError` is the reason of a refusal.
"""


class _Spec(msgspec.Struct):
    token: str = ""
    audiences: list[str] | None = None


class _Review(msgspec.Struct, rename="camel"):
    api_version: str
    kind: str
    spec: _Spec


_decoder = msgspec.json.Decoder(_Review)


class TokenReviewEndpoint:
    """Passes tokens to a function. `on_panic` is called for exceptions that indicate a bug."""

    body_bytes_max = BODY_BYTES_MAX

    def __init__(self, authenticate: Authenticate, on_panic: Callable[[], None] = lambda: None) -> None:
        self._authenticate = authenticate
        self._on_panic = on_panic

    async def respond(self, body: bytes) -> EndpointResponse:
        """Return the response to a review. Tokens are neither logged nor repeated in the response."""
        try:
            review = _decoder.decode(body)
        except UNREADABLE as error:
            return _response(400, API_VERSIONS[0], _no(f"the review cannot be read: {error}"))
        if review.kind != KIND or review.api_version not in API_VERSIONS:
            text = f"expected {KIND} in {' or '.join(API_VERSIONS)}, got {review.kind} in {review.api_version}"
            return _response(400, API_VERSIONS[0], _no(text))
        if not review.spec.token:
            return _response(400, review.api_version, _no("token is empty"))
        return _response(200, review.api_version, await self._status(review.spec))

    async def _status(self, spec: _Spec) -> dict[str, Any]:
        try:
            outcome = self._authenticate(spec.token, tuple(spec.audiences or ()))
            found = await outcome if inspect.isawaitable(outcome) else outcome
        except ValueError as error:
            return _no(str(error))
        except Exception as error:
            self._on_panic()
            report_caught("webhook for tokens", error)
            _log.exception("cannot check a token")
            return _no(f"the webhook failed with {type(error).__name__}; its log has the details")
        if found is None:
            return {"authenticated": False}
        yes = found if isinstance(found, Authenticated) else Authenticated(found)
        status = {"authenticated": True, "user": msgspec.to_builtins(yes.user)}
        return {**status, "audiences": list(yes.audiences)} if yes.audiences else status


def _no(error: str) -> dict[str, Any]:
    return {"authenticated": False, "error": error}


def _response(code: int, api_version: str, status: dict[str, Any]) -> EndpointResponse:
    return EndpointResponse(code, json.encode({"kind": KIND, "apiVersion": api_version, "status": status}))
