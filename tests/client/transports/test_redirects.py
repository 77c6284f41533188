"""The redirects that a client follows."""

import pytest

from sampan.client.transport import HttpRequest
from sampan.client.transports.redirects import REDIRECTS_MAX, RedirectsTransport
from sampan.http.client.address import ServerAddress
from tests.client.fakes import FakeResponse, FakeTransport

ADDRESS = ServerAddress("https", "example.org", 443, "/k8s")


def redirect(location: str, status: int = 302) -> FakeResponse:
    return FakeResponse(status, {"location": location})


async def requested(method: str, first: FakeResponse) -> list[str]:
    """Return the targets of all requests if the first answer is this one."""
    inner = FakeTransport([first, FakeResponse()])
    await RedirectsTransport(inner, ADDRESS).send(HttpRequest(method, "/a/b?c"))
    return [request.target for request in inner.requested]


@pytest.mark.parametrize("status", [301, 302, 303, 307, 308])
async def test_a_read_follows(status: int) -> None:
    first = redirect("/k8s/x?y", status)
    assert await requested("GET", first) == ["/a/b?c", "/x?y"]
    assert first.closed


@pytest.mark.parametrize(
    ("location", "target"),
    [
        ("x", "/a/x"),
        ("https://example.org/k8s/x", "/x"),
        ("https://example.org:443/k8s/x", "/x"),
        ("https://other.org/k8s/x", None),
        ("http://example.org/k8s/x", None),
        ("https://example.org:444/k8s/x", None),
        ("/outside", None),
        ("/k8sx", None),
        ("https://[", None),
        ("", None),
    ],
)
async def test_a_read_follows_on_the_same_server_below_its_path(location: str, target: str | None) -> None:
    assert await requested("GET", redirect(location)) == ["/a/b?c"] + ([target] if target else [])


@pytest.mark.parametrize("method", ["POST", "PUT", "PATCH", "DELETE"])
async def test_a_write_does_not_follow(method: str) -> None:
    assert len(await requested(method, redirect("/k8s/x", 307))) == 1


async def test_going_round_in_circles_ends() -> None:
    inner = FakeTransport([redirect("/k8s/a")])
    assert (await RedirectsTransport(inner, ADDRESS).send(HttpRequest("GET", "/a"))).status == 302
    assert len(inner.requested) == REDIRECTS_MAX + 1
