"""Decoder of a webhook's response body into a review.

It follows kube-apiserver: JSON or YAML, and each value has the type of its field.
Source: apimachinery pkg/runtime/serializer/json/json.go; api admission/v1; apiextensions v1 ConversionReview (1.36).
"""

from collections.abc import Mapping
from typing import Any, Final

from sampan.core.object import Object
from sampan.patch.errors import not_object_text
from sampan.schema.compile import DecodeError
from sampan.schema.decoding.decode import Decoder, DecoderCompiler
from sampan.schema.structural import Schema, ValueValidations
from sampan.wire import json as wire_json
from sampan.wire import yaml as wire_yaml

STRING: Final = Schema(type="string")
BOOLEAN: Final = Schema(type="boolean")
STRINGS: Final = Schema(type="array", items=STRING)
STRING_MAP: Final = Schema(type="object", additional_properties=STRING)
BYTES: Final = Schema(scalar="bytes")
RAW: Final = Schema(scalar="raw")
_INT32: Final = Schema(type="integer", validations=ValueValidations(format="int32"))


def struct(name: str, properties: Mapping[str, Schema]) -> Schema:
    """Return the schema of a struct with a name like `v1.Status` and optional fields."""
    return Schema(type="object", name=name, properties=dict(properties), fields=dict.fromkeys(properties, "p"))


_CAUSE: Final = struct("v1.StatusCause", dict.fromkeys(("reason", "message", "field"), STRING))
_DETAILS: Final = struct(
    "v1.StatusDetails",
    {
        **dict.fromkeys(("name", "group", "kind", "uid"), STRING),
        "causes": Schema(type="array", items=_CAUSE),
        "retryAfterSeconds": _INT32,
    },
)
STATUS: Final = struct(
    "v1.Status",
    {
        **dict.fromkeys(("apiVersion", "kind", "status", "message", "reason"), STRING),
        "metadata": RAW,
        "details": _DETAILS,
        "code": _INT32,
    },
)


class NotDecodableError(Exception):
    """Response that is not a review of the requested kind. The text is for the client."""


class ReviewReader:
    """Decoder of reviews of one kind. `responses` maps the version of the review to the schema of its response.

    `fields` names the fields of the request and of the response.
    """

    def __init__(
        self, group: str, kind: str, responses: Mapping[str, Schema], fields: tuple[str, str] = ("request", "response")
    ) -> None:
        request, reply = fields
        self._kind = kind
        self._decoders: dict[str, Decoder] = {
            f"{group}/{version}": DecoderCompiler().compile(
                struct(f"{version}.{kind}", {"apiVersion": STRING, "kind": STRING, request: RAW, reply: response})
            )
            for version, response in responses.items()
        }

    def read(self, body: bytes, api_version: str) -> Object:
        """Decode a review. Its apiVersion defaults to `api_version`. Raises `NotDecodableError`."""
        review = _parsed(body)
        kind, given = review.get("kind") or self._kind, review.get("apiVersion") or api_version
        decoder = self._decoders.get(given) if kind == self._kind else None
        if decoder is None:
            text = f'no kind "{kind}" is registered for version "{given}"'
            raise NotDecodableError(text)
        try:
            decoder(review, [])
        except DecodeError as error:
            raise NotDecodableError(str(error)) from None
        if given != api_version:
            source, target = given.rpartition("/")[2], api_version.rpartition("/")[2]
            raise NotDecodableError(f"converting ({source}.{kind}) to ({target}.{kind}): unknown conversion")
        return review


def _parsed(body: bytes) -> Object:
    try:
        value: Any = wire_json.decode(body)
    except wire_json.DecodeError as error:
        if body.lstrip().startswith(b"{"):
            raise NotDecodableError(f"couldn't get version/kind; json parse error: {error}") from None
        value = _parsed_yaml(body)
    if value is None:
        return {}
    if not isinstance(value, dict):
        raise NotDecodableError(not_object_text(value))
    return value


def _parsed_yaml(body: bytes) -> Any:
    try:
        return wire_yaml.decode(body)
    except wire_json.DecodeError as error:
        raise NotDecodableError(f"couldn't get version/kind; json parse error: {error}") from None
