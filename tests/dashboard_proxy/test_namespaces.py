"""The review of namespaces in a cluster that does not have it."""

import json
from collections.abc import Awaitable, Callable
from typing import Any

import pytest

from sampan.dashboard_proxy.namespaces import NAMESPACES_MAX, PATH
from tests.dashboard_proxy.browsing import Browsing, browsing
from tests.server.proxy.upstream import ReceivedRequest

BODY = {"spec": {"resourceAttributes": {"group": "", "resource": "pods", "verb": "list"}}}


def stock(allowed: set[str], names: list[str] | None, *, more: bool = False) -> Callable[[Any], Awaitable[None]]:
    """Return a cluster of Kubernetes. `allowed`: namespaces with the right, "" for all; None: names are secret."""

    async def respond(request: ReceivedRequest) -> None:
        path, body = request.target.removeprefix("/base").partition("?")[0], await request.body()
        code, document = 404, dict[str, Any](kind="Status")
        if path.endswith("/selfsubjectaccessreviews"):
            namespace = json.loads(body)["spec"]["resourceAttributes"]["namespace"]
            code, document = 201, {"status": {"allowed": namespace in allowed}}
        elif path == "/api/v1/namespaces" and names is None:
            code = 403
        elif path == "/api/v1/namespaces":
            items = [{"metadata": {"name": name}} for name in names or ()]
            code, document = 200, {"metadata": {"continue": "next" if more else ""}, "items": items}
        await request.response(json.dumps(document).encode(), f"HTTP/1.1 {code} X\r\n")

    return respond


async def reviewed(page: Browsing) -> dict[str, Any]:
    """Return the status of a review."""
    reply = await page.send("POST", PATH, BODY)
    assert reply.status_code == 201, reply.text
    status: dict[str, Any] = reply.json()["status"]
    return status


@pytest.mark.parametrize(
    ("allowed", "names", "expected"),
    [
        ({""}, ["a"], {"allNamespaces": True, "namespaces": [], "incomplete": False}),
        ({"a", "c"}, ["a", "b", "c"], {"allNamespaces": False, "namespaces": ["a", "c"], "incomplete": False}),
        ({"default", "own"}, None, {"allNamespaces": False, "namespaces": ["default", "own"], "incomplete": True}),
        ({"secret"}, None, {"allNamespaces": False, "namespaces": [], "incomplete": True}),
    ],
    ids=["everywhere", "in some namespaces", "in those of the kubeconfig", "in an unknown one"],
)
async def test_the_result_comes_from_access_reviews(
    allowed: set[str], names: list[str] | None, expected: dict[str, Any]
) -> None:
    async with browsing(stock(allowed, names), namespaces={"own", "other"}) as page:
        assert await reviewed(await page.log_in()) == expected


async def test_many_namespaces_are_incomplete() -> None:
    async with browsing(stock({"a"}, ["a"], more=True)) as page:
        assert (await reviewed(await page.log_in()))["incomplete"]
        assert any(f"limit={NAMESPACES_MAX}" in each.target for each in page.cluster.requested)


async def test_the_review_of_sampan_is_passed_on() -> None:
    status = {"allNamespaces": False, "namespaces": ["far"], "incomplete": False}

    async def respond(request: ReceivedRequest) -> None:
        assert json.loads(await request.body()) == BODY
        await request.response(json.dumps({"status": status}).encode(), "HTTP/1.1 201 Created\r\n")

    async with browsing(respond) as page:
        assert await reviewed(await page.log_in()) == status


@pytest.mark.parametrize("body", [{}, {"spec": 1}, {"spec": {"resourceAttributes": []}}])
async def test_a_review_without_attributes_is_refused(body: Any) -> None:
    async with browsing(stock({""}, [])) as page:
        reply = await (await page.log_in()).send("POST", PATH, body)
        assert reply.status_code == 400


async def test_a_review_needs_a_session() -> None:
    async with browsing(stock({""}, [])) as page:
        assert (await page.send("POST", PATH, BODY)).status_code == 401
        assert page.cluster.requested == []
