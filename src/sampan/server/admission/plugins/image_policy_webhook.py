"""ImagePolicyWebhook: a webhook decides if the images of a Pod are allowed.

Source: kubernetes plugin/pkg/admission/imagepolicy/{admission,config}.go (1.36).
"""

import asyncio
from collections import OrderedDict
from collections.abc import Awaitable, Callable
from pathlib import Path
from typing import ClassVar, Final, NamedTuple

from sampan.core.clock import monotonic
from sampan.core.object import Object
from sampan.core.time import format_duration
from sampan.registry.webhook.client import Webhook
from sampan.registry.webhook.credentials import ClientCredentials
from sampan.registry.webhook.kubeconfig import read_webhook_kubeconfig
from sampan.registry.webhook.response import WebhookError
from sampan.registry.webhook.retry import with_retries
from sampan.registry.webhook.review_body import BOOLEAN, STRING, STRING_MAP, NotDecodableError, ReviewReader, struct
from sampan.registry.webhook.target import WebhookTarget
from sampan.server.admission.chain import Attributes
from sampan.server.admission.pods import POD_ONLY, annotations_of
from sampan.server.admission.refusal import refusal
from sampan.wire import json as wire_json

API_VERSION: Final = "imagepolicy.k8s.io/v1alpha1"
KIND: Final = "ImageReview"
FAILED_OPEN: Final = "alpha.image-policy.k8s.io/failed-open"
TIMEOUT_S: Final = 30.0
KEPT_MAX: Final = 1024
_AUDIT: Final = "imagepolicywebhook.image-policy.k8s.io/"
_OWN: Final = ".image-policy.k8s.io/"
_EPHEMERAL: Final = "ephemeralcontainers"
_FIELDS: Final = {"": ("containers", "initContainers"), _EPHEMERAL: ("ephemeralContainers",)}
_MS: Final = 10**6
_S: Final = 10**9

_READER: Final = ReviewReader(
    "imagepolicy.k8s.io",
    KIND,
    {
        "v1alpha1": struct(
            "v1alpha1.ImageReviewStatus", {"allowed": BOOLEAN, "reason": STRING, "auditAnnotations": STRING_MAP}
        )
    },
    ("spec", "status"),
)

ConnectAs = Callable[[WebhookTarget, ClientCredentials], Webhook]
"""Returns a webhook for a target and its credentials."""


class _Settings(NamedTuple):
    """Configuration of the plug-in, with times in seconds."""

    allow_ttl_s: float
    deny_ttl_s: float
    first_wait_s: float
    allows_by_default: bool


class _Status(NamedTuple):
    """Decision of the webhook."""

    allowed: bool
    reason: str
    annotations: dict[str, str]


class ImagePolicyWebhook:
    """Calls a webhook for the images of new and changed Pods. Decisions are cached."""

    name: ClassVar[str] = "ImagePolicyWebhook"
    operations: ClassVar[frozenset[str]] = frozenset({"CREATE", "UPDATE"})
    resources: ClassVar[frozenset[tuple[str, str]] | None] = POD_ONLY

    def __init__(
        self,
        configuration: Object,
        connect: ConnectAs,
        *,
        now: Callable[[], float] = monotonic,
        sleep: Callable[[float], Awaitable[None]] = asyncio.sleep,
    ) -> None:
        """Read the configuration. **Raises** `ValueError` if it is invalid."""
        if not configuration:
            raise ValueError("no config specified")
        given = configuration.get("imagePolicy") or {}
        self._settings = _settings(given)
        file = given.get("kubeConfigFile") or ""
        if not file:
            raise ValueError("imagePolicy.kubeConfigFile is not given")
        try:
            self._webhook = connect(*read_webhook_kubeconfig(Path(file)))
        except OSError as error:
            raise ValueError(f"{file}: {error.strerror}") from error
        self._now = now
        self._sleep = sleep
        self._kept: OrderedDict[bytes, tuple[float, _Status]] = OrderedDict()

    async def validate(self, attributes: Attributes) -> None:
        """Check the images. **Raises** 403 if the webhook refuses, or if a required call fails."""
        pod = attributes.obj
        if pod is None or attributes.subresource not in _FIELDS:
            return
        spec = _review_spec(attributes, pod)
        try:
            status = await self._status(spec)
        except WebhookError as error:
            if not self._settings.allows_by_default:
                raise refusal(attributes, str(error)) from None
            attributes.annotations.setdefault(f"{_AUDIT}failed-open", "true")
            pod["metadata"]["annotations"] = {**annotations_of(pod), FAILED_OPEN: "true"}
            return
        for key, value in status.annotations.items():
            attributes.annotations.setdefault(f"{_AUDIT}{key}", value)
        if not status.allowed:
            text = f"image policy webhook backend denied one or more images: {status.reason}"
            raise refusal(attributes, text if status.reason else "one or more images rejected by webhook backend")

    async def _status(self, spec: Object) -> _Status:
        """Return the decision of the webhook, or the cached one. **Raises** `WebhookError`."""
        key = wire_json.encode(spec)
        kept = self._kept.get(key)
        if kept is not None and self._now() < kept[0]:
            self._kept.move_to_end(key)
            return kept[1]
        review = {"kind": KIND, "apiVersion": API_VERSION, "metadata": {}, "spec": spec, "status": {"allowed": False}}
        body, settings = wire_json.encode(review), self._settings
        wait_s = settings.first_wait_s
        response = await with_retries(
            lambda: self._webhook.post(body, TIMEOUT_S), first_wait_s=wait_s, sleep=self._sleep
        )
        status = _status(response)
        ttl_s = settings.allow_ttl_s if status.allowed else settings.deny_ttl_s
        self._kept[key] = (self._now() + ttl_s, status)
        self._kept.move_to_end(key)
        if len(self._kept) > KEPT_MAX:
            self._kept.popitem(last=False)
        return status


def _review_spec(attributes: Attributes, pod: Object) -> Object:
    spec: Object = {}
    images = [each for field in _FIELDS[attributes.subresource] for each in pod["spec"].get(field) or ()]
    if images:
        spec["containers"] = [{"image": each["image"]} if each.get("image") else {} for each in images]
    annotations = {key: value for key, value in sorted(annotations_of(pod).items()) if _OWN in key}
    if annotations:
        spec["annotations"] = annotations
    if attributes.namespace:
        spec["namespace"] = attributes.namespace
    return spec


def _status(response: bytes) -> _Status:
    """Parse a response. **Raises** `WebhookError` if it is not an ImageReview."""
    try:
        review = _READER.read(response, API_VERSION)
    except NotDecodableError as error:
        raise WebhookError(str(error)) from None
    status = review.get("status") or {}
    return _Status(status.get("allowed", False), status.get("reason", ""), status.get("auditAnnotations") or {})


def _settings(given: Object) -> _Settings:
    return _Settings(
        first_wait_s=_seconds(given, "retryBackoff", _MS, (1, 300 * _S), 500 * _MS),
        allow_ttl_s=_seconds(given, "allowTTL", _S, (_S, 1800 * _S), 300 * _S),
        deny_ttl_s=_seconds(given, "denyTTL", _S, (_S, 1800 * _S), 30 * _S),
        allows_by_default=bool(given.get("defaultAllow")),
    )


def _seconds(given: Object, field: str, unit_ns: int, bounds: tuple[int, int], default_ns: int) -> float:
    """Return the duration of a field in seconds. The field counts units of `unit_ns`; 0 means the default, -1 no
    duration. **Raises** `ValueError`.
    """
    number = given.get(field) or 0
    if number == -1:
        return 0.0
    duration_ns = number * unit_ns if number else default_ns
    if not bounds[0] <= duration_ns <= bounds[1]:
        low, high, got = map(format_duration, (*bounds, duration_ns))
        raise ValueError(f"valid value is between {low} and {high}, got {got}")
    return duration_ns / _S
