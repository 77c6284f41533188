"""Webhooks over real TLS, good and bad ones."""

import asyncio
import base64
import time
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from pathlib import Path
from typing import Any

import orjson
import pytest

from sampan.registry.webhook import response as responses
from sampan.storage.encoding import encode
from tests.registry.webhook.tls import Handler, bundle, listening, ok, requests
from tests.server.admission.webhook.hooks import MAPS, config_map, configure, hook
from tests.server.cluster import Api

NAME = "hook.example.com"


def replying(**response: Any) -> Handler:
    """Answers every review."""

    async def handle(reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        async for _, body in requests(reader):
            review = orjson.loads(body)
            expected = {"uid": review["request"]["uid"], "allowed": True, **response}
            writer.write(ok(orjson.dumps({**review, "request": None, "response": expected})))

    return handle


def raw(*parts: bytes) -> Handler:
    """Answers with these bytes."""

    async def handle(reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        async for _ in requests(reader):
            for part in parts:
                writer.write(part)
                await writer.drain()

    return handle


def at(port: int, **fields: Any) -> Any:
    """The webhook on a port."""
    return hook(clientConfig={"url": f"https://127.0.0.1:{port}/admit", "caBundle": bundle()}, **fields)


@asynccontextmanager
async def configured(api: Api, path: Path, handler: Handler, kind: str, **fields: Any) -> AsyncIterator[int]:
    """A webhook that listens and is configured; gives its port."""
    async with listening(path, handler) as port:
        await configure(api, kind, at(port, **fields))
        try:
            yield port
        finally:
            api.cluster.webhooks.close()


async def test_a_patch_comes_over_the_wire(api: Api, tmp_path: Path) -> None:
    patch = base64.b64encode(orjson.dumps([{"op": "add", "path": "/data", "value": {"a": "b"}}])).decode()
    async with configured(api, tmp_path, replying(patchType="JSONPatch", patch=patch), "Mutating"):
        assert (await api.create(MAPS, config_map()))["data"] == {"a": "b"}


async def test_a_review_may_be_yaml(api: Api, tmp_path: Path) -> None:
    async def handle(reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        async for _, body in requests(reader):
            uid = orjson.loads(body)["request"]["uid"]
            head = "apiVersion: admission.k8s.io/v1\nkind: AdmissionReview\n"
            writer.write(ok(f"{head}response: {{allowed: true, uid: {uid}, warnings: [careful]}}".encode()))

    async with configured(api, tmp_path, handle, "Validating"):
        reply = await api.post(MAPS, config_map())
    assert (reply.code, reply.warnings) == (201, ["careful"])


@pytest.mark.parametrize(
    ("handler", "text"),
    [
        (
            raw(b"HTTP/1.1 307 T\r\nLocation: http://127.0.0.1/\r\nContent-Length: 0\r\n\r\n"),
            'failed to call webhook: Post "http://127.0.0.1/": unsupported protocol scheme "http"',
        ),
        (
            raw(ok(b"no json")),
            "failed to call webhook: couldn't get version/kind; json parse error: json: cannot unmarshal string into "
            "an object",
        ),
        (raw(ok(b'{"kind": "Pod", "apiVersion": "v1"}')), 'no kind "Pod" is registered for version "v1"'),
        (raw(ok(b"{}")), "received invalid webhook response: webhook response was absent"),
        (raw(ok(b"null")), "received invalid webhook response: webhook response was absent"),
        (raw(ok(b"")), "failed to call webhook: 0-length response with status code: 200 and content type: "),
        (replying(uid="other"), 'received invalid webhook response: expected response.uid="'),
        (
            replying(allowed="yes"),
            "failed to call webhook: json: cannot unmarshal string into Go struct field "
            "AdmissionResponse.response.allowed of type bool",
        ),
        (replying(patch="!"), "failed to call webhook: illegal base64 data at input byte 0"),
        (
            raw(b"HTTP/1.1 503 S\r\nContent-Length: 4\r\n\r\nbusy"),
            "failed to call webhook: the server is currently unable to handle the request",
        ),
        (
            raw(b"HTTP/1.1 200 OK\r\nContent-Length: 100000000\r\n\r\n", *[b"x" * 100_000] * 20),
            "failed to call webhook: the answer is larger than 1000000 bytes",
        ),
    ],
    ids=[
        "redirect to plain HTTP",
        "no json",
        "other kind",
        "no response",
        "null",
        "nothing",
        "wrong uid",
        "no bool",
        "no base64",
        "503",
        "endless answer",
    ],
)
async def test_a_lying_webhook_fails_closed(
    api: Api, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, handler: Handler, text: str
) -> None:
    monkeypatch.setattr(responses, "RESPONSE_SIZE_BYTES_MAX", 1_000_000)
    async with configured(api, tmp_path, handler, "Validating"):
        reply = await api.post(MAPS, config_map())
    assert (reply.code, reply.reason) == (500, "InternalError")
    assert reply.message.startswith(f'Internal error occurred: failed calling webhook "{NAME}": ')
    assert text in reply.message


@pytest.mark.parametrize(("policy", "code"), [("Fail", 500), ("Ignore", 201)])
async def test_a_dead_webhook(api: Api, policy: str, code: int) -> None:
    await configure(api, "Validating", at(1, failurePolicy=policy))
    reply = await api.post(MAPS, config_map())
    assert reply.code == code
    if code == 500:
        assert reply.message == (
            f'Internal error occurred: failed calling webhook "{NAME}": failed to call webhook: Post '
            '"https://127.0.0.1:1/admit?timeout=10s": dial tcp 127.0.0.1:1: connect: connection refused'
        )


async def test_a_slow_webhook_is_not_waited_for(api: Api, tmp_path: Path) -> None:
    async with configured(api, tmp_path, raw(), "Validating", timeoutSeconds=1) as port:
        began = time.monotonic()
        reply = await api.post(MAPS, config_map())
    assert time.monotonic() - began < 30
    assert reply.message == (
        f'Internal error occurred: failed calling webhook "{NAME}": failed to call webhook: Post '
        f'"https://127.0.0.1:{port}/admit?timeout=1s": context deadline exceeded'
    )


async def test_the_deadline_of_the_request_ends_the_wait(api: Api, tmp_path: Path) -> None:
    async with configured(api, tmp_path, raw(), "Validating", failurePolicy="Ignore"):
        reply = await api.post(f"{MAPS}?timeout=100ms", config_map())
    assert (reply.code, reply.reason) == (504, "Timeout")


async def test_a_webhook_behind_a_service(api: Api, tmp_path: Path) -> None:
    async with listening(tmp_path, replying(warnings=["seen"])) as port:
        service = {"metadata": {"name": "hook"}, "spec": {"ports": [{"port": 443}]}}
        await api.create("/api/v1/namespaces/default/services", service)
        subset = {"addresses": [{"ip": "127.0.0.1"}], "ports": [{"port": port}]}
        # The address is of this machine, which the API refuses for Endpoints: it is put into the store as it is.
        body = {"kind": "Endpoints", "apiVersion": "v1", "metadata": {"name": "hook", "namespace": "default"}}
        cache = next(cache for prefix, cache in api.cluster.caches.items() if prefix.endswith("/endpoints/"))
        value = encode({**body, "subsets": [subset]})
        await api.cluster.store.create(f"{cache.prefix}default/hook", value)
        reference = {"namespace": "default", "name": "hook", "path": "/admit"}
        await configure(api, "Validating", hook(clientConfig={"service": reference, "caBundle": bundle()}))
        reply = await api.post(MAPS, config_map())
        api.cluster.webhooks.close()
    assert (reply.code, reply.warnings) == (201, ["seen"])
