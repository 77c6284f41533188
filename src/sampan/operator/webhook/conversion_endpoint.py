"""`ConversionEndpoint`: /convert, which API servers call to convert objects of all kinds. v1 and v1beta1.

Source: controller-runtime pkg/webhook/conversion/conversion.go (0.24).
"""

import asyncio
import logging
from collections.abc import Callable, Sequence
from typing import Any, Final

import msgspec

from sampan.core.errors import StatusError
from sampan.core.gvk import GroupKind, GroupVersion
from sampan.core.user_code import report_caught, timed_steps
from sampan.operator.webhook.conversion import ConversionError, HubConversion
from sampan.operator.webhook.endpoint import EndpointResponse
from sampan.resource import Object
from sampan.wire import json
from sampan.wire.json import UNREADABLE

_log = logging.getLogger("sampan.webhook")

PATH: Final = "/convert"
API_VERSIONS: Final = ("apiextensions.k8s.io/v1", "apiextensions.k8s.io/v1beta1")
KIND: Final = "ConversionReview"
BODY_BYTES_MAX: Final = 256 << 20
"""Limit of a body in bytes. It is high, because a review contains all objects of a list."""

_PLACE: Final = "conversion webhook"
_SLICE: Final = 64
"""Number of objects that are converted before other tasks may run."""


class _Request(msgspec.Struct, rename={"desired_api_version": "desiredAPIVersion"}):
    uid: str
    desired_api_version: str
    objects: list[dict[str, Any]] | None = None


class _Review(msgspec.Struct, rename="camel"):
    api_version: str
    kind: str
    request: _Request


_decoder = msgspec.json.Decoder(_Review)


class ConversionEndpoint:
    """Converts the objects of all registered kinds. `on_panic` is called for exceptions that indicate a bug."""

    body_bytes_max = BODY_BYTES_MAX

    def __init__(self, on_panic: Callable[[], None] = lambda: None) -> None:
        self._on_panic = on_panic
        self._kinds: dict[GroupKind, HubConversion[Any]] = {}

    @property
    def conversions(self) -> Sequence[HubConversion[Any]]:
        """All registered conversions."""
        return tuple(self._kinds.values())

    def add(self, conversion: HubConversion[Any]) -> None:
        """Add the conversion of a kind. Raises `ValueError` if it has one."""
        if conversion.group_kind in self._kinds:
            raise ValueError(f"{conversion.group_kind} already has a conversion")
        self._kinds[conversion.group_kind] = conversion

    async def respond(self, body: bytes) -> EndpointResponse:
        """Return the response to a review. If one object cannot be converted, the whole review fails."""
        try:
            review = _decoder.decode(body)
        except UNREADABLE as error:
            return EndpointResponse(400, json.encode({"message": f"the review cannot be read: {error}"}))
        if review.kind != KIND or review.api_version not in API_VERSIONS:
            text = f"expected {KIND} in {' or '.join(API_VERSIONS)}, got {review.kind} in {review.api_version}"
            return EndpointResponse(400, json.encode({"message": text}))
        response: Object = {"uid": review.request.uid}
        try:
            response["convertedObjects"] = await timed_steps(_PLACE, self._convert_all(review.request))
            response["result"] = {"metadata": {}, "status": "Success"}
        except (StatusError, ValueError) as error:
            response["result"] = _failure(str(error))
        except Exception as error:
            self._on_panic()
            report_caught(_PLACE, error)
            _log.exception("conversion failed", extra={"uid": review.request.uid})
            response["result"] = _failure(f"the conversion failed with {type(error).__name__}; its log has the details")
        return EndpointResponse(
            200, json.encode({"kind": KIND, "apiVersion": review.api_version, "response": response})
        )

    async def _convert_all(self, request: _Request) -> list[Object]:
        results = []
        for count, obj in enumerate(request.objects or (), 1):
            results.append(await self._conversion_of(obj).convert(obj, request.desired_api_version))
            if count % _SLICE == 0:
                await asyncio.sleep(0)
        return results

    def _conversion_of(self, obj: Object) -> HubConversion[Any]:
        group = GroupVersion.parse(str(obj.get("apiVersion", ""))).group
        kind = GroupKind(group, str(obj.get("kind", "")))
        conversion = self._kinds.get(kind)
        if conversion is None:
            raise ConversionError(f"no conversion of {kind} is registered")
        return conversion


def _failure(message: str) -> Object:
    return {"metadata": {}, "status": "Failure", "message": message}
