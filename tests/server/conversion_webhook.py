"""A conversion webhook for tests: v1 has `hostPort: a:80` where v2 has `host: a, port: "80"`."""

import sys
from collections.abc import Callable, Sequence
from typing import Any

import orjson

from sampan.registry.webhook.client import WebhookError
from sampan.registry.webhook.target import WebhookTarget
from tests.server.custom_resources import GROUP, SHIRTS, crd, schema, version

SHIRTS_2 = SHIRTS.replace("/v1/", "/v2/")
V1, V2 = f"{GROUP}/v1", f"{GROUP}/v2"

Json = dict[str, Any]


def defined(*, storage: str = "v1", review_versions: Sequence[str] = ("v1",), **client: Any) -> Json:
    """A CRD of two versions whose webhook is somewhere."""
    webhook = {
        "clientConfig": client or {"url": "https://127.0.0.1:1/convert"},
        "conversionReviewVersions": list(review_versions),
    }
    text = {"type": "string"}
    return crd(
        version("v1", schema({"hostPort": text}), storage=storage == "v1"),
        version("v2", schema({"host": text, "port": text}), storage=storage == "v2"),
        conversion={"strategy": "Webhook", "webhook": webhook},
    )


def converted(obj: Json, api_version: str) -> Json:
    """An object in the other version."""
    spec = obj.get("spec") or {}
    if api_version == V2:
        host, _, port = spec.get("hostPort", "").partition(":")
        spec = {"host": host, "port": port}
    else:
        spec = {"hostPort": f"{spec.get('host', '')}:{spec.get('port', '')}"}
    return {**obj, "apiVersion": api_version, "spec": spec}


def first(review: Json) -> Json:
    """The first converted object of an answer."""
    found: Json = review["response"]["convertedObjects"][0]
    return found


def reviewed(body: bytes) -> Json:
    """The answer to a review."""
    review: Json = orjson.loads(body)
    request = review.pop("request")
    objects = [converted(obj, request["desiredAPIVersion"]) for obj in request["objects"]]
    response = {"uid": request["uid"], "result": {"status": "Success"}, "convertedObjects": objects}
    return {**review, "response": response}


class FakeWebhook:
    """Answers reviews in the process. `spoil` may change an answer; `requested` holds the requests.

    `down` is an error, which is over with request number `back_after`.
    """

    def __init__(self) -> None:
        self.requested: list[Json] = []
        self.targets: list[WebhookTarget] = []
        self.spoil: Callable[[Json], Any] = lambda review: None
        self.down = ""
        self.back_after = sys.maxsize

    def connect(self, target: WebhookTarget) -> "FakeWebhook":
        """As `Connect`."""
        self.targets.append(target)
        return self

    async def post(self, body: bytes, timeout_s: float) -> bytes:
        """As `Webhook.post`."""
        self.requested.append(orjson.loads(body))
        if self.down and len(self.requested) >= self.back_after:
            self.down = ""
        if self.down:
            raise WebhookError(self.down)
        review = reviewed(body)
        self.spoil(review)
        return orjson.dumps(review)
