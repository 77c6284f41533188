"""Requests for metrics: the API server authenticates the token and authorizes the path."""

from typing import Any

import msgspec
import pytest
from prometheus_client import CollectorRegistry, Gauge

from sampan.client.client import Client
from sampan.client.transport import HttpRequest
from sampan.http.server import Request
from sampan.operator.process import access
from sampan.operator.process.access import AccessReviews
from sampan.operator.process.metrics_server import MetricsServer
from tests.client.scripted_transport import ScriptedResponse, ScriptedTransport, reply


class Reviewer:
    """API server with one valid token, and the paths that its user may get."""

    def __init__(self, *paths: str) -> None:
        self.paths = set(paths)
        self.valid = {"good"}
        self.now = 1000.0
        self.specs: list[dict[str, Any]] = []
        self.failing = ""
        registry = CollectorRegistry()
        Gauge("boats_afloat", "Boats.", registry=registry).set(3)
        reviews = AccessReviews(Client(ScriptedTransport(by=self.respond)), lambda: self.now)
        self.server = MetricsServer(registry, ":0", access=reviews, certificates=None, profiles=True)

    def respond(self, request: HttpRequest) -> ScriptedResponse:
        review = msgspec.json.decode(request.body)
        if review["kind"] == self.failing:
            return reply({"kind": "Status", "reason": "Forbidden", "code": 403, "message": "no"}, 403)
        spec = review["spec"]
        self.specs.append(spec)
        if review["kind"] == "TokenReview":
            known = spec["token"] in self.valid
            user = {"username": "reader", "groups": ["readers"], "uid": "7"}
            review["status"] = {"authenticated": known, **({"user": user} if known else {})}
        else:
            review["status"] = {"allowed": spec["nonResourceAttributes"]["path"] in self.paths}
        return reply(review, 201)

    async def get(self, token: str = "good", path: str = "/metrics", method: str = "GET") -> int:
        headers = {"authorization": f"Bearer {token}"} if token else {}
        return (await self.server.respond(Request(method, path, headers))).code


async def test_a_user_with_the_right_reads_the_metrics() -> None:
    reviewer = Reviewer("/metrics")
    found = await reviewer.server.respond(Request("GET", "/metrics", {"authorization": "bearer good"}))
    assert (found.code, b"boats_afloat 3.0" in found.body) == (200, True)
    assert reviewer.specs[1] == {
        "user": "reader",
        "uid": "7",
        "groups": ["readers"],
        "nonResourceAttributes": {"path": "/metrics", "verb": "get"},
    }


@pytest.mark.parametrize(
    ("token", "path", "code"),
    [
        ("", "/metrics", 401),
        ("bad", "/metrics", 401),
        ("x" * 20_000, "/metrics", 401),
        ("good", "/debug/pprof/heap", 403),
        ("", "/debug/pprof/heap", 401),
        ("", "/elsewhere", 401),
        ("good", "/elsewhere", 403),
    ],
    ids=["no token", "bad token", "long token", "other path", "pprof", "no such path", "no such path and right"],
)
async def test_a_client_without_the_right_is_refused(token: str, path: str, code: int) -> None:
    assert await Reviewer("/metrics").get(token, path) == code


async def test_every_method_needs_the_right() -> None:
    reviewer = Reviewer()
    assert [await reviewer.get(method=method) for method in ("GET", "HEAD", "POST")] == [403, 403, 403]


async def test_profiles_need_a_separate_right() -> None:
    assert await Reviewer("/debug/pprof/goroutine").get(path="/debug/pprof/goroutine") == 200


@pytest.mark.parametrize("kind", ["TokenReview", "SubjectAccessReview"])
async def test_a_failed_review_is_500_and_names_the_missing_right(kind: str, caplog: pytest.LogCaptureFixture) -> None:
    reviewer = Reviewer("/metrics")
    reviewer.failing = kind
    assert await reviewer.get() == 500
    assert f"may this operator create {kind.lower()}s?" in caplog.text


async def test_decisions_are_reused_for_a_bounded_time() -> None:
    reviewer = Reviewer("/metrics")
    for _ in range(3):
        assert await reviewer.get() == 200
        reviewer.now += 31
    assert len(reviewer.specs) == 3  # both reviews, and the token again after a minute
    reviewer.valid.clear()
    reviewer.now += access.TOKEN_S + 1
    assert await reviewer.get() == 401


async def test_a_new_right_applies_after_half_a_minute() -> None:
    reviewer = Reviewer()
    assert await reviewer.get() == 403
    reviewer.paths.add("/metrics")
    assert await reviewer.get() == 403
    reviewer.now += access.DENIED_S + 1
    assert await reviewer.get() == 200


async def test_a_lost_right_is_refused_after_five_minutes() -> None:
    reviewer = Reviewer("/metrics")
    for _ in range(6):
        assert await reviewer.get() == 200
        reviewer.paths.clear()
        reviewer.now += 49
    reviewer.now += 10
    assert await reviewer.get() == 403
