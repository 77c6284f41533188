"""ConversionReview: what a conversion webhook is asked, and what of its answer counts.

Source: apiextensions pkg/apiserver/conversion/webhook_converter.go (1.36).
"""

from collections.abc import Sequence
from typing import Any

from sampan.core.field import FieldError, Path, aggregate
from sampan.core.metadata import validate_annotations, validate_labels
from sampan.core.object import Object
from sampan.wire import json as wire_json

_GROUP = "apiextensions.k8s.io"
KNOWN_VERSIONS = ("v1", "v1beta1")


class ReviewError(Exception):
    """An answer that does not count; the text is for the client."""


def review_version(accepted: Sequence[str]) -> str:
    """The first version that the webhook accepts and that is known. Raises `ReviewError`."""
    for version in accepted:
        if version in KNOWN_VERSIONS:
            return version
    raise ReviewError("no supported conversion review versions")


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
    if given != expected:
        raise ReviewError(f"expected webhook response of {_gvk(*expected)}, got {_gvk(*given)}")


def _gvk(api_version: str, kind: str) -> str:
    return f"{api_version}, Kind={kind}"


def accepted(original: Object, converted: Any, api_version: str) -> Object:
    """A converted object with the metadata of the original: of its own only labels and annotations count.

    Raises `ReviewError`.
    """
    if not isinstance(converted, dict):
        raise ReviewError("the object is not a JSON object")
    if converted.get("apiVersion") != api_version:
        given = converted.get("apiVersion", "")
        raise ReviewError(f"invalid groupVersion (expected {api_version}, received {given})")
    if converted.get("kind") != original["kind"]:
        raise ReviewError(f"invalid kind (expected {original['kind']}, received {converted.get('kind', '')})")
    metadata = converted.get("metadata")
    if metadata is None:
        raise ReviewError("missing metadata in converted object")
    if not isinstance(metadata, dict):
        raise ReviewError("invalid metadata in converted object")
    before = original["metadata"]
    for name, shown in (("name", "name"), ("namespace", "namespace"), ("uid", "UID")):
        old, new = before.get(name, ""), metadata.get(name, "")
        if old != new:
            raise ReviewError(f"must have the same {shown}: {old} != {new}")
    kept = dict(before)
    for name in ("labels", "annotations"):
        _take(name, metadata.get(name), kept)
    return {**converted, "metadata": kept}


def _take(name: str, given: Any, metadata: dict[str, Any]) -> None:
    if given is None:
        metadata.pop(name, None)
        return
    if not isinstance(given, dict):
        raise ReviewError(f"invalid metadata.{name} in converted object")
    for key, value in given.items():
        if not isinstance(value, str):
            raise ReviewError(f"metadata.{name}[{key}] must be a string in converted object")
    if given != metadata.get(name):
        faults: list[FieldError] = (
            validate_labels(given, Path("metadata", "labels"))
            if name == "labels"
            else validate_annotations(given, Path("metadata", "annotation"))
        )
        if faults:
            raise ReviewError(aggregate(faults))
    metadata[name] = given
