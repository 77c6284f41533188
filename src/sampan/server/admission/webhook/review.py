"""AdmissionReview: the request to a webhook, and the validation of its response.

Source: apiserver pkg/admission/plugin/webhook/request/admissionreview.go (1.36).
"""

import base64
import binascii
from collections.abc import Sequence
from typing import Any, Final, NamedTuple

from sampan.core.go_text import unmarshal_text
from sampan.core.object import Object
from sampan.registry.webhook.review_body import (
    BOOLEAN,
    BYTES,
    STATUS,
    STRING,
    STRING_MAP,
    STRINGS,
    ReviewReader,
    struct,
)
from sampan.wire import json as wire_json

GROUP: Final = "admission.k8s.io"
VERSIONS: Final = ("v1", "v1beta1")
_KIND: Final = "AdmissionReview"
_RESPONSE: Final = {
    **dict.fromkeys(("uid", "patchType"), STRING),
    "allowed": BOOLEAN,
    "status": STATUS,
    "patch": BYTES,
    "auditAnnotations": STRING_MAP,
    "warnings": STRINGS,
}
_READER: Final = ReviewReader(
    GROUP, _KIND, {version: struct(f"{version}.AdmissionResponse", _RESPONSE) for version in VERSIONS}
)


class ReviewError(Exception):
    """The response is invalid; the text is for the client."""


class WebhookVerdict(NamedTuple):
    """Response of a webhook. `patch` is a decoded JSON patch, or None."""

    allowed: bool
    status: Object | None
    patch: Any
    annotations: dict[str, str]
    warnings: list[str]


def review_version(accepted: Sequence[str]) -> str | None:
    """Return the first known version that the webhook accepts."""
    return next((version for version in accepted if version in VERSIONS), None)


def encode_review(version: str, uid: str, request: Object, obj: Object | None, old: Object | None) -> bytes:
    """Return the body of a call."""
    content = {"uid": uid, **request, "object": obj, "oldObject": old}
    return wire_json.encode({"kind": _KIND, "apiVersion": f"{GROUP}/{version}", "request": content})


def read_review(version: str, uid: str, body: bytes, *, mutating: bool) -> WebhookVerdict:
    """Parse the response to a review. **Raises** `NotDecodableError`, `ReviewError` and `UnsupportedPatchError`."""
    review = _READER.read(body, f"{GROUP}/{version}")
    response = review.get("response")
    if response is None:
        raise ReviewError("webhook response was absent")
    if version == "v1":
        _check(review, response, uid)
    return WebhookVerdict(
        response.get("allowed", False),
        response.get("status"),
        _patch(response, mutating=mutating, strict=version == "v1"),
        response.get("auditAnnotations") or {},
        response.get("warnings") or [],
    )


def _check(review: Object, response: Object, uid: str) -> None:
    if response.get("uid", "") != uid:
        raise ReviewError(f'expected response.uid="{uid}", got "{response.get("uid", "")}"')
    expected = f"{GROUP}/v1, Kind={_KIND}"
    given = f"{review.get('apiVersion') or '/'}, Kind={review.get('kind') or ''}"
    if given != expected:
        raise ReviewError(f"expected webhook response of {expected}, got {given}")


def _patch(response: Object, *, mutating: bool, strict: bool) -> Any:
    encoded, kind = response.get("patch") or "", response.get("patchType")
    if not mutating:
        if strict and encoded:
            raise ReviewError("validating webhook may not return response.patch")
        if strict and kind is not None:
            raise ReviewError("validating webhook may not return response.patchType")
        return None
    if strict:
        _check_patch_type(encoded, kind)
    return _decoded_patch(encoded) if encoded else None


def _check_patch_type(encoded: str, kind: Any) -> None:
    if encoded and kind is None:
        raise ReviewError("webhook returned response.patch but not response.patchType")
    if not encoded and kind is not None:
        raise ReviewError("webhook returned response.patchType but not response.patch")
    if kind == "":
        raise ReviewError('webhook returned invalid response.patchType of ""')
    if kind not in (None, "JSONPatch"):
        raise UnsupportedPatchError(f'unsupported patch type "{kind}"')


class UnsupportedPatchError(Exception):
    """The type or the form of the patch is not supported. The text is for the client."""


def _decoded_patch(encoded: str) -> Any:
    try:
        patch = wire_json.decode(base64.b64decode(encoded, validate=True))
    except (wire_json.DecodeError, binascii.Error, ValueError) as error:
        raise UnsupportedPatchError(f"received undecodable patch in webhook response: {error}") from None
    if patch is not None and not isinstance(patch, list):
        text = unmarshal_text(patch, "jsonpatch.Patch")
        raise UnsupportedPatchError(f"received undecodable patch in webhook response: {text}")
    return patch or None
