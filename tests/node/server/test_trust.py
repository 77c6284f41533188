"""Authentication and authorization of a node's clients."""

import datetime as dt
import json
from collections.abc import AsyncIterator, Mapping

import pytest

from sampan.client import Client
from sampan.client.transport import Headers, HttpRequest, HttpResponse
from sampan.core.tls.certificates import make_authority, make_client_certificate
from sampan.http.client.tls import ClientCertificate, load_certificate
from sampan.node.server.trust import SubresourceAttributes, attributes_of
from sampan.node.server.trust.review_cache import ReviewCache
from tests.node.server.served import client_tls, node

ANONYMOUS = client_tls(None)


class FakeApi:
    """API server that accepts one token and allows some subresources."""

    def __init__(self, *allowed: str) -> None:
        self.allowed = allowed
        self.reviews: list[Mapping[str, object]] = []
        self.down = False

    async def send(self, request: HttpRequest) -> HttpResponse:
        body = json.loads(request.body)
        self.reviews.append(body["spec"])
        if self.down:
            return ProbeResponse(500, {"kind": "Status", "message": "down", "code": 500})
        if body["kind"] == "TokenReview":
            good = body["spec"]["token"] == "good"
            user = {"username": "jane", "groups": ["dev"], "uid": "7", "extra": {"scopes": ["a"]}}
            return ProbeResponse(201, {**body, "status": {"authenticated": good, "user": user if good else {}}})
        allowed = body["spec"]["resourceAttributes"]["subresource"] in self.allowed
        return ProbeResponse(201, {**body, "status": {"allowed": allowed}})

    async def aclose(self) -> None: ...


class ProbeResponse:
    """Transport response with its whole body."""

    def __init__(self, status: int, body: object) -> None:
        self.status = status
        self.headers: Headers = {}
        self._body = json.dumps(body).encode()

    async def read(self) -> bytes:
        return self._body

    async def chunks(self) -> AsyncIterator[bytes]:
        yield self._body

    async def aclose(self) -> None: ...


async def test_request_without_credentials_is_refused() -> None:
    async with node() as served:
        assert await served.get("/healthz", tls=ANONYMOUS) == (401, b"Unauthorized")
        assert await served.get("/healthz", tls=ANONYMOUS, headers="authorization: Bearer x\r\n") == (
            401,
            b"Unauthorized",
        )


async def test_masters_need_no_review() -> None:
    api = FakeApi()
    async with node(client=Client(api)) as served:
        assert await served.get("/healthz") == (200, b"ok")
        assert api.reviews == []


async def test_other_certificates_need_a_review() -> None:
    api = FakeApi()
    refused = b"Forbidden (user=tests, verb=get, resource=nodes, subresource(s)=[pods proxy])\n"
    async with node(client=Client(api)) as served:
        assert await served.get("/pods", tls=client_tls(("dev",))) == (403, refused)
        assert api.reviews[0]["groups"] == ["dev"]


async def test_certificates_of_other_authorities_are_refused() -> None:
    now = dt.datetime.now(dt.UTC)
    other = make_authority("other", now, dt.timedelta(days=1))
    shown = make_client_certificate(other, "eve", ("system:masters",), now, dt.timedelta(days=1))
    context = client_tls(None)
    load_certificate(context, ClientCertificate(shown.certificate_pem(), shown.key_pem()))
    async with node() as served:
        with pytest.raises((OSError, EOFError)):
            await served.get("/healthz", tls=context)


async def test_token_and_permission_are_reviewed_once() -> None:
    api = FakeApi("metrics")
    bearer = "authorization: Bearer good\r\n"
    async with node(client=Client(api)) as served:
        for _ in range(2):
            assert (await served.get("/metrics/resource", tls=ANONYMOUS, headers=bearer))[0] == 200
        review, access = api.reviews
        assert review == {"token": "good"}
        assert access == {
            "user": "jane",
            "groups": ["dev"],
            "uid": "7",
            "extra": {"scopes": ["a"]},
            "resourceAttributes": {
                "verb": "get",
                "version": "v1",
                "resource": "nodes",
                "subresource": "metrics",
                "name": "node-1",
            },
        }


async def test_one_of_several_subresources_is_enough() -> None:
    async with node(client=Client(FakeApi("proxy"))) as served:
        assert (await served.get("/pods", tls=client_tls(("dev",))))[0] == 200


async def test_bad_token_is_refused() -> None:
    async with node(client=Client(FakeApi("metrics"))) as served:
        assert (await served.get("/metrics", tls=ANONYMOUS, headers="authorization: Bearer bad\r\n"))[0] == 401


async def test_unreachable_api_server_allows_nothing() -> None:
    api = FakeApi("metrics")
    api.down = True
    async with node(client=Client(api)) as served:
        assert (await served.get("/metrics", tls=ANONYMOUS, headers="authorization: Bearer good\r\n"))[0] == 401
        expected = b"Authorization error (user=tests, verb=get, resource=nodes, subresource=metrics)"
        assert await served.get("/metrics", tls=client_tls(("dev",))) == (500, expected)


@pytest.mark.parametrize(
    ("method", "path", "expected"),
    [
        ("GET", "/pods", SubresourceAttributes("get", ("pods", "proxy"))),
        ("GET", "/runningpods/", SubresourceAttributes("get", ("pods", "proxy"))),
        ("GET", "/healthz/ping", SubresourceAttributes("get", ("healthz", "proxy"))),
        ("GET", "/configz", SubresourceAttributes("get", ("configz", "proxy"))),
        ("GET", "/stats/summary", SubresourceAttributes("get", ("stats",))),
        ("GET", "/metrics/resource", SubresourceAttributes("get", ("metrics",))),
        ("GET", "/logs/x", SubresourceAttributes("get", ("log",))),
        ("POST", "/exec/a/b/c", SubresourceAttributes("create", ("proxy",))),
        ("GET", "/containerLogs/a/b/c", SubresourceAttributes("get", ("proxy",))),
        ("GET", "/podsx", SubresourceAttributes("get", ("proxy",))),
        ("PUT", "/", SubresourceAttributes("update", ("proxy",))),
    ],
)
def test_attributes_of_a_request(method: str, path: str, expected: SubresourceAttributes) -> None:
    assert attributes_of(method, path) == expected


class FakeClock:
    def __init__(self) -> None:
        self.time = dt.datetime(2026, 1, 1, tzinfo=dt.UTC)

    def now(self) -> dt.datetime:
        return self.time


def test_review_cache_drops_expired_and_oldest_responses() -> None:
    clock = FakeClock()
    cache: ReviewCache[int] = ReviewCache(clock, 2)
    cache.put("a", 1, 10.0)
    cache.put("b", 2, 20.0)
    clock.time += dt.timedelta(seconds=10)
    assert (cache.get("a"), cache.get("b"), cache.get("c")) == (None, 2, None)
    cache.put("c", 3, 10.0)
    cache.put("d", 4, 10.0)
    assert (cache.get("b"), cache.get("c"), cache.get("d")) == (None, 3, 4)
