"""AdmissionReview: decode requests, encode responses. v1 and v1beta1 have the same fields.

Source: controller-runtime pkg/webhook/admission/http.go (0.24).
"""

import base64
from typing import Any, Final

import msgspec

from sampan.operator.webhook.admission.request import AdmissionRequest
from sampan.operator.webhook.admission.response import AdmissionResponse
from sampan.wire import json
from sampan.wire.json import UNREADABLE

API_VERSIONS: Final = ("admission.k8s.io/v1", "admission.k8s.io/v1beta1")
KIND: Final = "AdmissionReview"


class _Review(msgspec.Struct, rename="camel"):
    api_version: str
    kind: str
    request: AdmissionRequest


_decoder = msgspec.json.Decoder(_Review)


class BadReview(ValueError):
    """The body is not an AdmissionReview in a supported version."""


def read_review(body: bytes) -> tuple[str, AdmissionRequest]:
    """Return the apiVersion of the response, and the request. Raises `BadReview`."""
    try:
        review = _decoder.decode(body)
    except UNREADABLE as error:
        raise BadReview(f"cannot decode the review: {error}") from None
    if review.kind != KIND or review.api_version not in API_VERSIONS:
        raise BadReview(f"expected {KIND} in {' or '.join(API_VERSIONS)}, got {review.kind} in {review.api_version}")
    return review.api_version, review.request


def write_review(api_version: str, uid: str, response: AdmissionResponse) -> bytes:
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
    return json.encode({"kind": KIND, "apiVersion": api_version, "response": content})
