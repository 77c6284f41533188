"""ConversionReview: the request to a conversion webhook, and the checks of its response.

Source: apiextensions pkg/apiserver/conversion/webhook_converter.go (1.36).
"""

from collections.abc import Sequence
from typing import Any, Final

from sampan.core.field import FieldError, Path, aggregate
from sampan.core.go_text import END_OF_JSON, MAP, type_name, unmarshal_text
from sampan.core.object import Object
from sampan.core.validation.metadata import validate_annotations, validate_labels
from sampan.registry.webhook.review_body import RAW, STATUS, NotDecodableError, ReviewReader, struct
from sampan.schema.structural import Schema
from sampan.wire import json as wire_json

_GROUP = "apiextensions.k8s.io"
_KIND = "ConversionReview"
KNOWN_VERSIONS = ("v1", "v1beta1")
_RESPONSE: Final = {
    "uid": Schema(type="string", name="types.UID"),
    "convertedObjects": Schema(type="array", name="[]runtime.RawExtension", items=RAW),
    "result": STATUS,
}
_READER: Final = ReviewReader(
    _GROUP, _KIND, {version: struct(f"{version}.ConversionResponse", _RESPONSE) for version in KNOWN_VERSIONS}
)
_OBJECT = "returned invalid object at index {}: "
_MISMATCH = "returned invalid object: "
_METADATA = "returned invalid metadata: "


class ConversionReviewError(Exception):
    """Invalid response of a webhook. The text is for the client.

    `before` is a template for a prefix, formatted with the index of the object. None: no prefix, not even the name of
    the webhook.
    """

    def __init__(self, text: str, before: str | None = "") -> None:
        super().__init__(text)
        self.before = before


def review_version(accepted: Sequence[str]) -> str | None:
    """Return the first version that the webhook accepts and this server supports, or None."""
    return next((version for version in accepted if version in KNOWN_VERSIONS), None)


def request(version: str, uid: str, objects: Sequence[Object], api_version: str) -> bytes:
    """Return the body of a request to convert objects to a version."""
    return wire_json.encode(
        {
            "kind": "ConversionReview",
            "apiVersion": f"{_GROUP}/{version}",
            "request": {"uid": uid, "desiredAPIVersion": api_version, "objects": list(objects)},
        }
    )


def responses_of(version: str, uid: str, body: bytes) -> list[Any]:
    """Return the converted objects of a response; they are not checked. Raises `ConversionReviewError`."""
    try:
        review = _READER.read(body, f"{_GROUP}/{version}")
    except NotDecodableError as error:
        raise ConversionReviewError(str(error)) from None
    if version == "v1":
        _check_type(review)
    response = review.get("response")
    if response is None:
        raise ConversionReviewError("no response provided")
    if version == "v1" and response.get("uid", "") != uid:
        raise ConversionReviewError(f'expected response.uid="{uid}", got "{response.get("uid", "")}"')
    result = response.get("result") or {}
    status = result.get("status", "")
    if status != "Success":
        raise ConversionReviewError(result.get("message") or f"response.result.status was '{status}', not 'Success'")
    return response.get("convertedObjects") or []


def _check_type(review: Object) -> None:
    expected = (f"{_GROUP}/v1", _KIND)
    given = (review.get("apiVersion") or "", review.get("kind") or "")
    if given != expected:
        raise ConversionReviewError(f"expected webhook response of {_gvk(*expected)}, got {_gvk(*given)}")


def _gvk(api_version: str, kind: str) -> str:
    group, _, version = api_version.rpartition("/")
    return f"{group}/{version}, Kind={kind}"


def accepted(original: Object, converted: Any, api_version: str) -> Object:
    """Return a converted object with the metadata of the original. Only labels and annotations are taken from the
    webhook's result.

    Raises `ConversionReviewError`.
    """
    _check_object(original, converted, api_version)
    before, metadata = original["metadata"], converted.get("metadata")
    returned = metadata if isinstance(metadata, dict) else {}
    for name, shown in (("name", "name"), ("namespace", "namespace"), ("uid", "UID")):
        old, new = before.get(name, ""), _string(returned.get(name))
        if old != new:
            raise ConversionReviewError(f"must have the same {shown}: {old} != {new}", _MISMATCH)
    if metadata is None:
        raise ConversionReviewError("missing metadata in converted object", _METADATA)
    if not isinstance(metadata, dict):
        raise ConversionReviewError(f"invalid metadata of type {type_name(metadata)} in converted object", _METADATA)
    kept = dict(before)
    for name in ("labels", "annotations"):
        _take(name, metadata.get(name), kept)
    return {**converted, "metadata": kept}


def _string(value: Any) -> str:
    return value if isinstance(value, str) else ""


def _check_object(original: Object, converted: Any, api_version: str) -> None:
    """Check that the object has the requested version and kind. Raises `ConversionReviewError`."""
    if converted is None:
        raise ConversionReviewError(END_OF_JSON, None)
    if not isinstance(converted, dict):
        raise ConversionReviewError(unmarshal_text(converted, MAP), None)
    given = converted.get("kind", "")
    if not given:
        raise ConversionReviewError(f"Object 'Kind' is missing in '{wire_json.encode(converted).decode()}'", None)
    if converted.get("apiVersion") != api_version:
        received = _string(converted.get("apiVersion"))
        raise ConversionReviewError(f"invalid groupVersion (expected {api_version}, received {received})", _OBJECT)
    if given != original["kind"]:
        raise ConversionReviewError(f"invalid kind (expected {original['kind']}, received {given})", _OBJECT)


def _take(name: str, given: Any, metadata: dict[str, Any]) -> None:
    if given is None:
        metadata.pop(name, None)
        return
    if not isinstance(given, dict):
        raise ConversionReviewError(
            f"invalid metadata.{name} of type {type_name(given)} in converted object", _METADATA
        )
    for key, value in given.items():
        if not isinstance(value, str):
            text = f"metadata.{name}[{key}] must be a string, but is {type_name(value)} in converted object"
            raise ConversionReviewError(text, _METADATA)
    if given != metadata.get(name):
        faults: list[FieldError] = (
            validate_labels(given, Path("metadata", "labels"))
            if name == "labels"
            else validate_annotations(given, Path("metadata", "annotation"))
        )
        if faults:
            raise ConversionReviewError(aggregate(faults), _METADATA)
    metadata[name] = given
