"""`AdmissionEndpoint`: passes the body of a review to a handler and returns the response.

An invalid body gets HTTP 400, so that the API server logs the failure. The result of a handler always has HTTP 200 and
a review, as API servers require.

Source: controller-runtime pkg/webhook/admission/{http,webhook}.go (0.24).
"""

import base64
import logging
from collections.abc import Callable
from typing import Any, Final

import msgspec

from sampan.core.user_code import report_caught, timed_steps
from sampan.operator.webhook.admission.handlers import Handler, handled
from sampan.operator.webhook.admission.request import CURRENT_ADMISSION, AdmissionRequest
from sampan.operator.webhook.admission.response import AdmissionResponse, errored
from sampan.operator.webhook.endpoint import EndpointResponse
from sampan.wire import json
from sampan.wire.json import UNREADABLE

_log = logging.getLogger("sampan.webhook")

BODY_BYTES_MAX: Final = 7 << 20
"""Limit of a body in bytes: two objects of at most 3 MB each, and the other fields of the review."""
API_VERSIONS: Final = ("admission.k8s.io/v1", "admission.k8s.io/v1beta1")
_KIND: Final = "AdmissionReview"


class AdmissionEndpoint:
    """Passes reviews to a handler. `on_panic` is called for exceptions that indicate a bug."""

    body_bytes_max = BODY_BYTES_MAX

    def __init__(self, handler: Handler, on_panic: Callable[[], None] = lambda: None) -> None:
        self._handler = handler
        self._on_panic = on_panic

    async def respond(self, body: bytes) -> EndpointResponse:
        """Return the response to a review."""
        try:
            api_version, request = _read_review(body)
        except BadReview as error:
            return EndpointResponse(400, _write_review(API_VERSIONS[0], "", errored(400, str(error))))
        response = await self.review(request)
        try:
            return EndpointResponse(200, _write_review(api_version, request.uid, response))
        except ValueError:
            _log.exception("cannot encode the response to %s", request.uid)
            response = errored(500, "unable to encode response")
            return EndpointResponse(200, _write_review(api_version, request.uid, response))

    async def review(self, request: AdmissionRequest) -> AdmissionResponse:
        """Return the handler's response; an exception refuses the request."""
        token = CURRENT_ADMISSION.set(request)
        try:
            return await timed_steps(_place(request), handled(self._handler, request))
        except Exception as error:
            self._on_panic()
            report_caught(_place(request), error)
            _log.exception("webhook handler failed", extra={"uid": request.uid, "resource": str(request.resource.gvr)})
            return errored(500, f"the webhook failed with {type(error).__name__}; its log has the details")
        finally:
            CURRENT_ADMISSION.reset(token)


def _place(request: AdmissionRequest) -> str:
    return f"webhook for {request.operation} {request.resource.gvr.group_resource} {request.name}".rstrip()


class _Review(msgspec.Struct, rename="camel"):
    """AdmissionReview of a request. v1 and v1beta1 have the same fields."""

    api_version: str
    kind: str
    request: AdmissionRequest


_decoder = msgspec.json.Decoder(_Review)


class BadReview(ValueError):
    """The body is not an AdmissionReview in a supported version."""


def _read_review(body: bytes) -> tuple[str, AdmissionRequest]:
    """Return the apiVersion of the response, and the request. Raises `BadReview`."""
    try:
        review = _decoder.decode(body)
    except UNREADABLE as error:
        raise BadReview(f"cannot decode the review: {error}") from None
    if review.kind != _KIND or review.api_version not in API_VERSIONS:
        raise BadReview(f"expected {_KIND} in {' or '.join(API_VERSIONS)}, got {review.kind} in {review.api_version}")
    return review.api_version, review.request


def _write_review(api_version: str, uid: str, response: AdmissionResponse) -> bytes:
    """Return the body of a response. Raises `ValueError` if it contains values that JSON cannot represent."""
    content: dict[str, Any] = {
        "uid": uid,
        "allowed": response.allowed,
        "status": {"metadata": {}, "code": response.code, **response.status},
    }
    if response.patch:
        content["patchType"] = "JSONPatch"
        content["patch"] = base64.b64encode(json.encode(list(response.patch))).decode()
    if response.warnings:
        content["warnings"] = list(response.warnings)
    if response.audit_annotations:
        content["auditAnnotations"] = dict(response.audit_annotations)
    return json.encode({"kind": _KIND, "apiVersion": api_version, "response": content})
