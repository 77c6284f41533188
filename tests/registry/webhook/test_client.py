"""One request to a webhook over real TLS: what comes back, and what goes wrong."""

import asyncio
from collections.abc import AsyncIterator
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest

from sampan.registry.webhook import response
from sampan.registry.webhook.client import HttpsWebhook, WebhookClients, WebhookError
from sampan.registry.webhook.credentials import ClientCredentials, WebhookCredentials
from sampan.registry.webhook.services import ServiceAddress, ServiceError
from sampan.registry.webhook.target import target_of
from sampan.server.pki.certificates import make_ca, make_serving
from tests.registry.webhook.tls import CA, NOW, Handler, bundle, listening, ok, requests


def responding(*parts: bytes, close: bool = False) -> Handler:
    """Reads a request and writes parts of an answer; `close` ends the connection then."""

    async def handle(reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        head = await reader.readuntil(b"\r\n\r\n")
        length = int(head.lower().split(b"content-length: ")[1].split(b"\r\n")[0])
        await reader.readexactly(length)
        for part in parts:
            writer.write(part)
        if close:
            await writer.drain()
            writer.close()

    return handle


def failed(status: int, body: bytes, content_type: str = "application/json") -> bytes:
    """A bad answer."""
    head = f"HTTP/1.1 {status} No\r\nContent-Type: {content_type}\r\nContent-Length: {len(body)}\r\n\r\n"
    return head.encode() + body


def never(namespace: str, name: str, port: int) -> list[ServiceAddress]:
    """No services here."""
    raise ServiceError(f'service "{name}" not found')


def webhook(port: int, ca_bundle: str = "", **config: Any) -> HttpsWebhook:
    """The client of a server here; it is closed with the test."""
    config = config or {"url": f"https://127.0.0.1:{port}/convert?a=b"}
    return closed_later(HttpsWebhook(target_of({**config, "caBundle": ca_bundle or bundle()}), resolve=never))


def closed_later(webhook: HttpsWebhook) -> HttpsWebhook:
    """Return a webhook that is closed when the test ends."""
    _opened.append(webhook)
    return webhook


_opened: list[HttpsWebhook] = []


@pytest.fixture(autouse=True)
async def _closing() -> AsyncIterator[None]:
    yield
    while _opened:
        _opened.pop().close()


@pytest.mark.parametrize(
    "handler",
    [
        pytest.param(responding(ok(b"{}")), id="at once"),
        pytest.param(responding(ok(b"{}")[:20], ok(b"{}")[20:]), id="in parts"),
        pytest.param(
            responding(b"HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n2\r\n{}\r\n0\r\n\r\n"), id="chunked"
        ),
        pytest.param(responding(b"HTTP/1.1 200 OK\r\n\r\n{}", close=True), id="until the end"),
        pytest.param(responding(b"HTTP/1.1 100 Continue\r\n\r\n" + ok(b"{}")), id="continue"),
    ],
)
async def test_the_body_of_a_response_is_returned(tmp_path: Path, handler: Handler) -> None:
    async with listening(tmp_path, handler) as port:
        assert await webhook(port).post(b"{}", 30) == b"{}"


async def test_the_request_has_the_headers_of_client_go(tmp_path: Path) -> None:
    heads: list[bytes] = []

    async def handle(reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        heads.append(await reader.readuntil(b"\r\n\r\n"))
        writer.write(ok(await reader.readexactly(7)))

    async with listening(tmp_path, handle) as port:
        assert await webhook(port).post(b'{"a":1}', 30) == b'{"a":1}'
    lines = heads[0].decode().split("\r\n")
    assert lines[0] == "POST /convert?a=b&timeout=30s HTTP/1.1"
    assert {f"Host: 127.0.0.1:{port}", "Content-Type: application/json", "Content-Length: 7"} <= set(lines)


@pytest.mark.parametrize(
    ("handler", "text"),
    [
        (responding(b"HTTP/1.1 404 Not Found\r\nContent-Length: 0\r\n\r\n"), "could not find the requested resource"),
        (
            responding(b"HTTP/1.1 500 Oh\r\nContent-Length: 4\r\n\r\noops"),
            'an error on the server ("oops") has prevented the request from succeeding',
        ),
        (
            responding(b"HTTP/1.1 307 T\r\nLocation: http://127.0.0.1/\r\nContent-Length: 0\r\n\r\n"),
            'Post "http://127.0.0.1/": unsupported protocol scheme "http"',
        ),
        (responding(b"nonsense\r\n\r\n"), 'connection broken: malformed HTTP response "nonsense"'),
        (responding(b"SPAM SPAM\r\n\r\n"), 'connection broken: malformed HTTP status code "SPAM"'),
        (responding(b"SPAM 200 OK\r\n\r\n"), 'connection broken: malformed HTTP version "SPAM"'),
        (
            responding(b"HTTP/1.1 200 OK\r\nContent-Length: 10\r\n\r\n{}", close=True),
            "unexpected error when reading response body. Please retry. Original error: unexpected EOF",
        ),
        (responding(close=True), 'timeout=30s": EOF'),
        (responding(b"HTTP/1.1 2", close=True), 'timeout=30s": unexpected EOF'),
        (responding(ok(b"")), "0-length response with status code: 200 and content type: "),
        (
            responding(b"HTTP/1.1 200 OK\r\nContent-Type: ;\r\nContent-Length: 2\r\n\r\n{}"),
            "mime: no media type",
        ),
        (responding(failed(403, b"go away", "text/plain")), "go away"),
        (responding(failed(403, b"{}", "application/json")), "unknown"),
        (responding(failed(422, b"{}")), "the server rejected our request due to an error in our request"),
        (responding(failed(418, b"{}")), "the server responded with the status code 418 but did not return more"),
        (
            responding(failed(400, b'{"kind":"Status","apiVersion":"v1","status":"Failure","message":"because"}')),
            "because",
        ),
        (responding(ok(b"x" * 2000)), "the answer is larger than 1000 bytes"),
    ],
    ids=[
        "not found",
        "server error",
        "redirect to plain HTTP",
        "no HTTP",
        "no status code",
        "no HTTP version",
        "cut off",
        "no answer",
        "half a line",
        "nothing in it",
        "no media type",
        "forbidden",
        "forbidden in JSON",
        "invalid",
        "other status",
        "a Status",
        "too large",
    ],
)
async def test_an_invalid_response_is_an_error(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, handler: Handler, text: str
) -> None:
    monkeypatch.setattr(response, "RESPONSE_SIZE_BYTES_MAX", 1000)
    async with listening(tmp_path, handler) as port:
        with pytest.raises(WebhookError) as error:
            await webhook(port).post(b"{}", 30)
    assert text in str(error.value)


def redirecting(status: int, observed: list[str]) -> Handler:
    """Return a handler that redirects every other path to /there."""

    async def handle(reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        while True:
            head = (await reader.readuntil(b"\r\n\r\n")).decode()
            length = head.lower().partition("content-length: ")[2].partition("\r\n")[0]
            body = await reader.readexactly(int(length or 0))
            line = head.partition("\r\n")[0]
            observed.append(f"{line} {body.decode()}")
            if " /there " in line:
                writer.write(ok(b"{}"))
            else:
                writer.write(f"HTTP/1.1 {status} T\r\nLocation: /there\r\nContent-Length: 0\r\n\r\n".encode())

    return handle


@pytest.mark.parametrize("status", [301, 302, 303, 307, 308])
async def test_a_redirect_is_followed_with_the_same_method_and_body(tmp_path: Path, status: int) -> None:
    observed: list[str] = []
    async with listening(tmp_path, redirecting(status, observed)) as port:
        assert await webhook(port).post(b"[1]", 30) == b"{}"
    assert observed == ["POST /convert?a=b&timeout=30s HTTP/1.1 [1]", "POST /there HTTP/1.1 [1]"]


@pytest.mark.parametrize("path", ["//convert", "/convert/", "/a/../convert", "/./convert//", "/%63onvert"])
async def test_the_path_of_a_url_is_cleaned(tmp_path: Path, path: str) -> None:
    observed: list[str] = []
    async with listening(tmp_path, redirecting(307, observed)) as port:
        await webhook(port, url=f"https://127.0.0.1:{port}{path}").post(b"[1]", 30)
    assert observed[0] == "POST /convert?timeout=30s HTTP/1.1 [1]"


async def test_redirects_without_end_are_not_followed(tmp_path: Path) -> None:
    async def handle(reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        async for _ in requests(reader):
            writer.write(b"HTTP/1.1 307 T\r\nLocation: /again\r\nContent-Length: 0\r\n\r\n")

    async with listening(tmp_path, handle) as port:
        with pytest.raises(WebhookError) as error:
            await webhook(port).post(b"{}", 30)
    assert str(error.value) == 'Post "/again": stopped after 10 redirects'


async def test_retry_after_causes_a_retry(tmp_path: Path) -> None:
    responses = [b"HTTP/1.1 503 L\r\nRetry-After: 0\r\nContent-Length: 0\r\n\r\n", ok(b"{}")]

    async def handle(reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        async for _ in requests(reader):
            writer.write(responses.pop(0))

    async with listening(tmp_path, handle) as port:
        assert await webhook(port).post(b"{}", 30) == b"{}"
    assert responses == []


async def test_a_body_that_does_not_come_is_not_waited_for(tmp_path: Path) -> None:
    async with listening(tmp_path, responding(b"HTTP/1.1 200 OK\r\nContent-Length: 10\r\n\r\n{")) as port:
        with pytest.raises(WebhookError) as error:
            await webhook(port).post(b"{}", 0.2)
    text = "unexpected error when reading response body. Please retry. Original error: context deadline exceeded"
    assert str(error.value) == text


async def test_a_slow_webhook_is_not_waited_for(tmp_path: Path) -> None:
    async with listening(tmp_path, responding()) as port:
        with pytest.raises(WebhookError) as error:
            await webhook(port).post(b"{}", 0.05)
    assert str(error.value) == (f'Post "https://127.0.0.1:{port}/convert?a=b&timeout=0.05s": context deadline exceeded')


async def test_the_certificate_must_come_from_the_bundle(tmp_path: Path) -> None:
    async with listening(tmp_path, responding(ok(b"{}"))) as port:
        with pytest.raises(WebhookError, match="x509: certificate signed by unknown authority"):
            await webhook(port, bundle(make_ca("webhook", NOW))).post(b"{}", 30)


async def test_the_certificate_must_be_for_the_host(tmp_path: Path) -> None:
    elsewhere = make_serving(CA, ("elsewhere.example",), NOW)
    async with listening(tmp_path, responding(ok(b"{}")), elsewhere) as port:
        with pytest.raises(WebhookError, match="failed to verify certificate"):
            await webhook(port).post(b"{}", 30)


async def test_a_refused_connection_raises() -> None:
    with pytest.raises(WebhookError, match=r"dial tcp 127\.0\.0\.1:1: connect: connection refused"):
        await webhook(1).post(b"{}", 30)


async def test_a_service_is_reached_where_its_pods_are(tmp_path: Path) -> None:
    resolved: list[tuple[str, str, int]] = []
    async with listening(tmp_path, responding(ok(b"{}"))) as port:

        def resolve(namespace: str, name: str, service_port: int) -> list[ServiceAddress]:
            resolved.append((namespace, name, service_port))
            return [ServiceAddress("127.0.0.1", port)]

        target = target_of({"service": {"namespace": "default", "name": "hook", "port": 9}, "caBundle": bundle()})
        assert await closed_later(HttpsWebhook(target, resolve)).post(b"{}", 30) == b"{}"
    assert resolved == [("default", "hook", 9)]


async def test_a_place_that_refuses_connections_is_skipped(tmp_path: Path) -> None:
    async with listening(tmp_path, responding(ok(b"{}"))) as port:
        places = [ServiceAddress("127.0.0.1", 1), ServiceAddress("127.0.0.1", port)]
        target = target_of({"service": {"namespace": "default", "name": "hook"}, "caBundle": bundle()})
        assert await closed_later(HttpsWebhook(target, lambda *_: places)).post(b"{}", 30) == b"{}"


async def test_a_place_that_has_received_the_request_is_the_only_one(tmp_path: Path) -> None:
    received: list[int] = []

    async def breaks_off(reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        await reader.readuntil(b"\r\n\r\n")
        received.append(1)
        writer.transport.abort()

    async with listening(tmp_path, breaks_off) as one, listening(tmp_path, breaks_off) as two:
        places = [ServiceAddress("127.0.0.1", one), ServiceAddress("127.0.0.1", two)]
        target = target_of({"service": {"namespace": "default", "name": "hook"}, "caBundle": bundle()})
        with pytest.raises(WebhookError):
            await closed_later(HttpsWebhook(target, lambda *_: places)).post(b"{}", 30)
    assert received == [1]


async def test_a_service_that_is_not_there() -> None:
    config: dict[str, Any] = {"service": {"namespace": "default", "name": "hook", "path": "/convert"}}
    with pytest.raises(WebhookError) as error:
        await webhook(0, **config).post(b"{}", 30)
    assert str(error.value) == ('Post "https://hook.default.svc:443/convert?timeout=30s": service "hook" not found')


async def serving_several(reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
    """Answers every request on a connection with the client's port."""
    port: int = writer.get_extra_info("peername")[1]
    async for _ in requests(reader):
        writer.write(ok(str(port).encode()))


async def test_a_connection_is_used_again(tmp_path: Path) -> None:
    async with listening(tmp_path, serving_several) as port:
        hook = webhook(port)
        assert len({await hook.post(b"{}", 30) for _ in range(3)}) == 1


async def test_concurrent_calls_use_separate_connections(tmp_path: Path) -> None:
    async with listening(tmp_path, serving_several) as port:
        hook = webhook(port)
        assert len(set(await asyncio.gather(*(hook.post(b"{}", 30) for _ in range(3))))) == 3


async def test_a_kept_connection_that_was_closed_is_replaced(tmp_path: Path) -> None:
    async def once(reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        await responding(ok(b"{}"))(reader, writer)
        await reader.readuntil(b"\r\n\r\n")
        writer.transport.abort()

    async with listening(tmp_path, once) as port:
        hook = webhook(port)
        assert [await hook.post(b"{}", 30) for _ in range(2)] == [b"{}", b"{}"]


async def test_the_webhook_of_a_target_is_made_once(tmp_path: Path) -> None:
    clients = WebhookClients(never)
    target = target_of({"url": "https://127.0.0.1:1/a"})
    assert clients.connect(target) is clients.connect(target)
    assert clients.connect(target) is not clients.connect(target, ClientCredentials("Bearer a"))


@pytest.mark.parametrize("url", ["https://fe80::1/a", "https://127.0.0.1:99999/a", "https://127.0.0.1:-1/a"])
async def test_a_stored_url_with_an_invalid_port_fails_the_call(url: str) -> None:
    with pytest.raises(WebhookError):
        await closed_later(HttpsWebhook(replace(target_of({"url": url}), host="127.0.0.1"), never)).post(b"{}", 5)


async def test_a_token_is_shown(tmp_path: Path) -> None:
    heads: list[bytes] = []

    async def handle(reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        heads.append(await reader.readuntil(b"\r\n\r\n"))
        writer.write(ok(b"{}"))

    target = target_of({"url": "", "caBundle": bundle()})
    async with listening(tmp_path, handle) as port:
        await closed_later(
            HttpsWebhook(replace(target, host="127.0.0.1", port=port), never, ClientCredentials("Bearer abc"))
        ).post(b"{}", 30)
    assert b"\r\nAuthorization: Bearer abc\r\n" in heads[0]


@pytest.mark.parametrize(
    ("host", "port", "token"),
    [
        ("a.svc", 443, "exact"),
        ("a.svc", 8443, "any"),
        ("b.example.com", 9, "star port"),
        ("b.example.com", 443, "star"),
        ("elsewhere", 1, "any"),
    ],
)
def test_users_are_found_by_host(host: str, port: int, token: str, tmp_path: Path) -> None:
    names = {"a.svc": "exact", "*.example.com:9": "star port", "*.example.com": "star", "*": "any"}
    users = [{"name": name, "user": {"token": text}} for name, text in names.items()]
    assert WebhookCredentials({"users": users}, tmp_path).of(host, port).authorization == f"Bearer {token}"


STATUS = b'{"kind":"Status","apiVersion":"v1","status":"Failure","message":"m"%s}'
RETRY_AFTER = b"HTTP/1.1 503 S\r\nContent-Length: 0\r\nRetry-After: 0\r\n\r\n"


async def busy(reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
    """Request a retry in each response."""
    async for _ in requests(reader):
        writer.write(RETRY_AFTER)


@pytest.mark.parametrize(
    ("handler", "may_pass"),
    [
        (responding(failed(500, b"x")), True),
        (responding(failed(502, b"x")), True),
        (responding(failed(503, b"x")), False),
        (responding(failed(504, b"x")), True),
        (responding(failed(429, b"x")), True),
        (responding(failed(403, b"x")), False),
        (busy, True),
        (responding(failed(503, STATUS % b',"reason":"InternalError"')), True),
        (responding(failed(500, STATUS % b',"reason":"Forbidden","code":500')), False),
        (responding(failed(400, STATUS % b',"code":500')), True),
        (responding(failed(400, STATUS % b',"details":{"retryAfterSeconds":1}')), True),
        (responding(close=True), False),
    ],
    ids=[
        "500",
        "502",
        "503",
        "504",
        "429",
        "403",
        "retry-after",
        "reason",
        "another reason",
        "code",
        "details",
        "closed",
    ],
)
async def test_server_faults_and_requested_retries_may_pass(tmp_path: Path, handler: Handler, may_pass: bool) -> None:
    async with listening(tmp_path, handler) as port:
        with pytest.raises(WebhookError) as error:
            await webhook(port).post(b"{}", 30)
    assert error.value.may_pass is may_pass


async def test_of_several_kept_connections_that_are_closed_one_is_noticed(tmp_path: Path) -> None:
    calls = 0

    async def first_then_none(reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        nonlocal calls
        for number in range(2):
            await reader.readuntil(b"{}")
            calls += 1
            await (asyncio.sleep(0.05) if calls < 4 else asyncio.sleep(0))
            if number or calls > 3:
                break
            writer.write(ok(b"{}"))
        writer.transport.abort()

    async with listening(tmp_path, first_then_none) as port:
        hook = webhook(port)
        await asyncio.gather(*(hook.post(b"{}", 30) for _ in range(3)))
        with pytest.raises(WebhookError):
            await hook.post(b"{}", 30)
    assert calls == 5
