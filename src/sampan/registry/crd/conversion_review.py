"""ConversionReview: what a conversion webhook is asked, and what of its answer counts.

Source: apiextensions pkg/apiserver/conversion/webhook_converter.go (1.36).
"""

from collections.abc import Sequence
from typing import Any

from sampan.core.field import FieldError, Path, aggregate
from sampan.core.metadata import validate_annotations, validate_labels
from sampan.core.object import Object
from sampan.patch.go_text import json_kind, type_name
from sampan.wire import json as wire_json

_GROUP = "apiextensions.k8s.io"
KNOWN_VERSIONS = ("v1", "v1beta1")
_ALONE, _LISTED = "returned invalid object at index {}: ", "returned invalid converted object at index {}: "
_MISMATCH = "returned invalid object: "
_METADATA, _LISTED_METADATA = "returned invalid metadata: ", "returned invalid metadata in object at index {}: "


class ReviewError(Exception):
    """An answer that does not count; the text is for the client.

    `alone` and `listed`: what is said before it of an object that was to be converted alone, and of one of several;
    `alone` None: nothing.
    """

    def __init__(self, text: str, alone: str | None = "", listed: str = _LISTED) -> None:
        super().__init__(text)
        self.alone, self.listed = alone, listed


def review_version(accepted: Sequence[str]) -> str | None:
    """The first version that the webhook accepts and that is known."""
    return next((version for version in accepted if version in KNOWN_VERSIONS), None)


def request(version: str, uid: str, objects: Sequence[Object], api_version: str) -> bytes:
    """The body of a request to convert objects to a version."""
    return wire_json.encode(
        {
            "kind": "ConversionReview",
            "apiVersion": f"{_GROUP}/{version}",
            "request": {"uid": uid, "desiredAPIVersion": api_version, "objects": list(objects)},
        }
    )


def answer(version: str, uid: str, body: bytes) -> list[Any]:
    """The converted objects of an answer, not yet checked themselves. Raises `ReviewError`."""
    try:
        review = wire_json.decode(body)
    except wire_json.DecodeError as error:
        raise ReviewError(str(error)) from None
    if review is None:
        review = {}
    if not isinstance(review, dict):
        raise ReviewError("couldn't get version/kind; the answer is not an object")
    if version == "v1":
        _check_type(review)
    response = review.get("response")
    if not isinstance(response, dict):
        raise ReviewError("no response provided")
    if version == "v1" and response.get("uid", "") != uid:
        raise ReviewError(f'expected response.uid="{uid}", got "{response.get("uid", "")}"')
    result = response.get("result")
    status = result.get("status", "") if isinstance(result, dict) else ""
    if status != "Success":
        message = result.get("message", "") if isinstance(result, dict) else ""
        raise ReviewError(message or f"response.result.status was '{status}', not 'Success'")
    converted = response.get("convertedObjects")
    return converted if isinstance(converted, list) else []


def _check_type(review: Object) -> None:
    expected = (f"{_GROUP}/v1", "ConversionReview")
    given = (review.get("apiVersion", ""), review.get("kind", ""))
    if given == (f"{_GROUP}/v1beta1", "ConversionReview"):
        raise ReviewError("converting (v1beta1.ConversionReview) to (v1.ConversionReview): unknown conversion")
    if given[1] not in ("", "ConversionReview") and given[0]:
        known = f'no kind "{given[1]}" is registered for version "{given[0]}"'
        raise ReviewError(f'{known} in scheme "pkg/runtime/scheme.go:111"')
    if given != expected:
        raise ReviewError(f"expected webhook response of {_gvk(*expected)}, got {_gvk(*given)}")


def _gvk(api_version: str, kind: str) -> str:
    group, _, version = api_version.rpartition("/")
    return f"{group}/{version}, Kind={kind}"


def accepted(original: Object, converted: Any, api_version: str) -> Object:
    """A converted object with the metadata of the original: of its own only labels and annotations count.

    Raises `ReviewError`.
    """
    _check_object(original, converted, api_version)
    before, metadata = original["metadata"], converted.get("metadata")
    told = metadata if isinstance(metadata, dict) else {}
    for name, shown in (("name", "name"), ("namespace", "namespace"), ("uid", "UID")):
        old, new = before.get(name, ""), told.get(name, "")
        if old != new:
            raise ReviewError(f"must have the same {shown}: {old} != {new}", _MISMATCH)
    if metadata is None:
        raise _metadata_error("missing metadata in converted object")
    if not isinstance(metadata, dict):
        raise _metadata_error(f"invalid metadata of type {type_name(metadata)} in converted object")
    kept = dict(before)
    for name in ("labels", "annotations"):
        _take(name, metadata.get(name), kept)
    return {**converted, "metadata": kept}


def _check_object(original: Object, converted: Any, api_version: str) -> None:
    """It must be an object of the version and the kind that are wanted."""
    if converted is None:
        raise ReviewError("unexpected end of JSON input", None)
    if not isinstance(converted, dict):
        text = f"json: cannot unmarshal {json_kind(converted)} into Go value of type map[string]interface {{}}"
        raise ReviewError(text, None)
    given = converted.get("kind", "")
    if not given:
        raise ReviewError(f"Object 'Kind' is missing in '{wire_json.encode(converted).decode()}'", None)
    if converted.get("apiVersion") != api_version:
        received = converted.get("apiVersion") or "/"
        raise ReviewError(f"invalid groupVersion (expected {api_version}, received {received})", _ALONE)
    if given != original["kind"]:
        raise ReviewError(f"invalid kind (expected {original['kind']}, received {given})", _ALONE)


def _metadata_error(text: str) -> ReviewError:
    return ReviewError(text, _METADATA, _LISTED_METADATA)


def _take(name: str, given: Any, metadata: dict[str, Any]) -> None:
    if given is None:
        metadata.pop(name, None)
        return
    if not isinstance(given, dict):
        raise _metadata_error(f"invalid metadata.{name} of type {type_name(given)} in converted object")
    for key, value in given.items():
        if not isinstance(value, str):
            text = f"metadata.{name}[{key}] must be a string, but is {type_name(value)} in converted object"
            raise _metadata_error(text)
    if given != metadata.get(name):
        faults: list[FieldError] = (
            validate_labels(given, Path("metadata", "labels"))
            if name == "labels"
            else validate_annotations(given, Path("metadata", "annotation"))
        )
        if faults:
            raise _metadata_error(aggregate(faults))
    metadata[name] = given
