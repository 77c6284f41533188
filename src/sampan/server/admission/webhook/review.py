"""AdmissionReview: what a webhook is asked, and what of its answer counts.

Source: apiserver pkg/admission/plugin/webhook/request/admissionreview.go (1.36).
"""

import base64
import binascii
from collections.abc import Sequence
from typing import Any, Final, NamedTuple

from sampan.core.object import Object
from sampan.wire import json as wire_json

GROUP: Final = "admission.k8s.io"
VERSIONS: Final = ("v1", "v1beta1")
_KIND: Final = "AdmissionReview"
_SHOWN_MAX: Final = 1024


class ReviewError(Exception):
    """An answer that does not count; the text is for the client."""


class NotDecodableError(Exception):
    """An answer that is no AdmissionReview of the version asked for; the text is for the client."""


class Verdict(NamedTuple):
    """The answer of a webhook. `patch` is a decoded JSON patch, None where there is none."""

    allowed: bool
    status: Object | None
    patch: Any
    annotations: dict[str, str]
    warnings: list[str]


def review_version(accepted: Sequence[str]) -> str | None:
    """The first version that the webhook accepts and that is known."""
    return next((version for version in accepted if version in VERSIONS), None)


def encode_review(version: str, uid: str, request: Object, obj: Object | None, old: Object | None) -> bytes:
    """The body of a call."""
    told = {"uid": uid, **request, "object": obj, "oldObject": old}
    return wire_json.encode({"kind": _KIND, "apiVersion": f"{GROUP}/{version}", "request": told})


def read_review(version: str, uid: str, body: bytes, *, mutating: bool) -> Verdict:
    """The answer to a review. Raises `NotDecodableError` and `ReviewError`."""
    review = _decode(version, body)
    response = review.get("response")
    if not isinstance(response, dict):
        raise ReviewError("webhook response was absent")
    if version == "v1":
        _check(review, response, uid)
    status = response.get("status")
    return Verdict(
        response.get("allowed") is True,
        status if isinstance(status, dict) else None,
        _patch(response, mutating=mutating, strict=version == "v1"),
        _texts(response.get("auditAnnotations")),
        [text for text in response.get("warnings") or () if isinstance(text, str)],
    )


def _decode(version: str, body: bytes) -> Object:
    try:
        review = wire_json.decode(body)
    except wire_json.DecodeError as error:
        raise NotDecodableError(f"couldn't get version/kind; json parse error: {error}") from None
    if not isinstance(review, dict):
        shown = body[:_SHOWN_MAX].decode("utf-8", "replace")
        raise NotDecodableError(f"couldn't get version/kind; json parse error: not an object: {shown}")
    kind, api_version = review.get("kind") or _KIND, review.get("apiVersion") or f"{GROUP}/{version}"
    known = {f"{GROUP}/{each}" for each in VERSIONS}
    if kind != _KIND or api_version not in known:
        raise NotDecodableError(f'no kind "{kind}" is registered for version "{api_version}" in scheme')
    other = str(api_version).rpartition("/")[2]
    if other != version:
        raise NotDecodableError(f"converting ({other}.{_KIND}) to ({version}.{_KIND}): unknown conversion")
    return review


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
    """A patch of a type, or a form, that is not known; the text is for the client."""


def _decoded_patch(encoded: str) -> Any:
    try:
        patch = wire_json.decode(base64.b64decode(encoded, validate=True))
    except (wire_json.DecodeError, binascii.Error, ValueError) as error:
        raise UnsupportedPatchError(f"received undecodable patch in webhook response: {error}") from None
    if patch is not None and not isinstance(patch, list):
        raise UnsupportedPatchError("received undecodable patch in webhook response: not a list of operations")
    return patch or None


def _texts(values: Any) -> dict[str, str]:
    return {key: value for key, value in (values or {}).items() if isinstance(value, str)}
