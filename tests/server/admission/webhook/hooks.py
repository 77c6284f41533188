"""Webhooks for tests: reviews answered in the process, and configurations of them."""

import asyncio
import base64
from collections.abc import Callable, Sequence
from typing import Any

import orjson

from sampan.registry.webhook.client import WebhookError
from sampan.registry.webhook.target import WebhookTarget
from tests.server.cluster import Api

Json = dict[str, Any]

GROUP = "/apis/admissionregistration.k8s.io/v1"
MAPS = "/api/v1/namespaces/default/configmaps"
EVERY_MAP = {"operations": ["*"], "apiGroups": [""], "apiVersions": ["v1"], "resources": ["configmaps"]}


def config_map(name: str = "a", **fields: Any) -> Json:
    """A ConfigMap."""
    return {"kind": "ConfigMap", "apiVersion": "v1", "metadata": {"name": name}, **fields}


def hook(name: str = "hook.example.com", **fields: Any) -> Json:
    """A webhook of a configuration; its rule matches ConfigMaps."""
    return {
        "name": name,
        "clientConfig": {"url": f"https://127.0.0.1:1/{name}"},
        "rules": [EVERY_MAP],
        "sideEffects": "None",
        "admissionReviewVersions": ["v1"],
        **fields,
    }


async def configure(api: Api, kind: str, *hooks: Json, name: str = "hooks") -> Any:
    """Create a Mutating- or ValidatingWebhookConfiguration."""
    body = {
        "kind": f"{kind}WebhookConfiguration",
        "apiVersion": "admissionregistration.k8s.io/v1",
        "metadata": {"name": name},
        "webhooks": list(hooks),
    }
    return await api.create(f"{GROUP}/{kind.lower()}webhookconfigurations", body)


def patched(*operations: Json) -> Json:
    """The response with a JSON patch."""
    patch = base64.b64encode(orjson.dumps(operations)).decode()
    return {"allowed": True, "patchType": "JSONPatch", "patch": patch}


def adding(key: str, value: str) -> "Respond":
    """Adds a key to the data."""

    def reply(request: Json) -> Json:
        data = (request["object"].get("data") or {}) | {key: value}
        return patched({"op": "add", "path": "/data", "value": data})

    return reply


def denying(**status: Any) -> "Respond":
    """Refuses."""
    return lambda request: {"allowed": False, "status": status}


def allowing(request: Json) -> Json:
    """Allows."""
    return {"allowed": True}


Respond = Callable[[Json], Json]


class Hooks:
    """Answers the calls of all webhooks; `responses` by the webhook's name (the path of its URL)."""

    def __init__(self, api: Api) -> None:
        self.responses: dict[str, Respond] = {}
        self.requested: list[tuple[str, Json]] = []
        self.spoil: Callable[[Json], Any] = lambda review: review
        self.down: dict[str, str] = {}
        self.late: dict[str, asyncio.Event] = {}
        self.waiting = asyncio.Event()
        self.cut: list[str] = []
        self.timeouts_s: list[float] = []
        api.connections.connect = self.connect

    def connect(self, target: WebhookTarget) -> "Hook":
        """As `Connect`."""
        return Hook(self, target.path[1:])

    @property
    def names(self) -> Sequence[str]:
        """The names of the called webhooks, in order."""
        return [name for name, _ in self.requested]

    @property
    def requests(self) -> Sequence[Json]:
        """The requests of all reviews, in order."""
        return [review["request"] for _, review in self.requested]


class Hook:
    """One webhook."""

    def __init__(self, hooks: Hooks, name: str) -> None:
        self._hooks = hooks
        self._name = name

    async def post(self, body: bytes, timeout_s: float) -> bytes:
        """As `Webhook.post`."""
        hooks, review = self._hooks, orjson.loads(body)
        hooks.requested.append((self._name, review))
        hooks.timeouts_s.append(timeout_s)
        if self._name in hooks.late:
            hooks.waiting.set()
            try:
                await hooks.late[self._name].wait()
            except asyncio.CancelledError:
                hooks.cut.append(self._name)
                raise
        if self._name in hooks.down:
            raise WebhookError(hooks.down[self._name])
        request = review["request"]
        response = {"uid": request["uid"], **hooks.responses.get(self._name, allowing)(request)}
        reply = {"kind": "AdmissionReview", "apiVersion": review["apiVersion"], "response": response}
        return orjson.dumps(hooks.spoil(reply))
