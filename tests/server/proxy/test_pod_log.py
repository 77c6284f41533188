"""pods/log: the request to the kubelet, and the response to the client."""

from collections.abc import AsyncIterator
from pathlib import Path

import pytest

from tests.server.cluster import ApiResponse
from tests.server.proxy.kubelet import PODS, Cell, cell
from tests.server.proxy.upstream import ReceivedRequest
from tests.server.tls_files import make_files


async def lines(requested: ReceivedRequest) -> None:
    if "limitBytes=7" in requested.target:
        await requested.response(b"refused\n", "HTTP/1.1 400 Bad Request\r\n")
    elif "limitBytes=8" in requested.target:
        await requested.response(b"nowhere\n", "HTTP/1.1 404 Not Found\r\n")
    elif "limitBytes=9" in requested.target:
        await requested.response(b'broken "x"', "HTTP/1.1 502 Bad Gateway\r\n")
    elif "limitBytes=10" in requested.target:
        await requested.response(b"", "HTTP/1.1 302 Found\r\nLocation: http://evil/\r\n")
    else:
        await requested.response(b"one\ntwo\n", "HTTP/1.1 200 OK\r\nContent-Type: application/evil\r\n")


@pytest.fixture
async def here(tmp_path: Path) -> AsyncIterator[Cell]:
    async with cell(tmp_path, lines) as made:
        yield made


async def log(here: Cell, query: str = "", name: str = "p") -> ApiResponse:
    return await here.api.get(f"{PODS}/{name}/log?{query}")


async def text(response: ApiResponse) -> bytes:
    stream = response.response.stream
    assert stream is not None
    return b"".join([piece async for piece in stream])


async def test_a_log_comes_from_the_kubelet_of_the_pods_node(here: Cell) -> None:
    await here.add_pod()
    response = await log(here, "follow&tailLines=5&timestamps=true&previous=0&sinceTime=2026-01-01T01:00:00%2B01:00")
    assert (response.code, response.response.content_type, await text(response)) == (200, "text/plain", b"one\ntwo\n")
    query = "follow=true&sinceTime=2026-01-01T00%3A00%3A00Z&tailLines=5&timestamps=true"
    assert here.kubelet.last.target == f"/containerLogs/default/p/c?{query}"
    assert "authorization" not in here.kubelet.last.headers
    assert "kube-apiserver-kubelet-client" in str(here.kubelet.certificates[0])


@pytest.mark.parametrize(
    ("query", "code", "message"),
    [
        ("", 400, "a container name must be specified for pod two, choose one of: [i a b]"),
        ("container=x", 400, "container x is not valid for pod two"),
        ("container=a&limitBytes=7", 400, "refused\n"),
        ("container=a&limitBytes=8", 404, "the server could not find the requested resource ( pods/log two)"),
        (
            "container=a&limitBytes=9",
            502,
            'an error on the server ("broken \\"x\\"") has prevented the request from succeeding ( pods/log two)',
        ),
        ("tailLines=x", 400, 'strconv.ParseInt: parsing "x": invalid syntax'),
        (
            "tailLines=-1",
            422,
            'PodLogOptions "two" is invalid: tailLines: Invalid value: -1: must be greater than or equal to 0',
        ),
        ("limitBytes=0", 422, 'PodLogOptions "two" is invalid: limitBytes: Invalid value: 0: must be greater than 0'),
        (
            "sinceSeconds=0",
            422,
            'PodLogOptions "two" is invalid: sinceSeconds: Invalid value: 0: must be greater than 0',
        ),
        ("stream=Stdout", 422, 'PodLogOptions "two" is invalid: stream: Forbidden: may not be specified'),
    ],
)
async def test_an_invalid_log_request_is_an_error(here: Cell, query: str, code: int, message: str) -> None:
    await here.add_pod("two", "a", "b", initContainers=[{"name": "i", "image": "i"}])
    response = await log(here, query, "two")
    assert (response.code, response.message) == (code, message)


async def test_a_redirect_is_not_followed(here: Cell) -> None:
    await here.add_pod()
    response = await log(here, "limitBytes=10")
    assert response.code == 500
    assert response.message.endswith("redirects forbidden")


async def test_since_is_reported_once(here: Cell) -> None:
    await here.add_pod()
    response = await log(here, "sinceSeconds=5&sinceTime=2026-01-01T00:00:00Z")
    assert response.code == 422
    assert response.message.endswith("[]: Forbidden: at most one of `sinceTime` or `sinceSeconds` may be specified")


async def test_a_pod_without_a_node_has_an_empty_log(here: Cell) -> None:
    await here.add_pod(node=None)
    assert (await log(here)).code == 204


async def test_an_unknown_pod_is_404(here: Cell) -> None:
    response = await log(here, name="q")
    assert (response.code, response.message) == (404, 'pods "q" not found')


async def test_a_pod_on_an_unknown_node_is_404(here: Cell) -> None:
    await here.add_pod(node="gone")
    response = await log(here)
    assert (response.code, response.message) == (404, 'nodes "gone" not found')


async def test_a_node_without_an_address_is_500(here: Cell) -> None:
    await here.add_node("n2", addresses=[{"type": "InternalDNS", "address": "x"}])
    await here.add_pod(node="n2")
    response = await log(here)
    assert response.code == 500
    assert response.message == "no preferred addresses found; known addresses: [{InternalDNS x}]"


async def test_a_kubelet_that_is_not_there_is_500(here: Cell) -> None:
    await here.add_node(
        "n2",
        addresses=[{"type": "InternalIP", "address": "127.0.0.1"}],
        daemonEndpoints={"kubeletEndpoint": {"Port": 1}},
    )
    await here.add_pod(node="n2")
    response = await log(here)
    url = "https://127.0.0.1:1/containerLogs/default/p/c"
    assert (response.code, response.message) == (500, f'Get "{url}": dial tcp 127.0.0.1:1: connect: connection refused')


async def test_other_methods_are_405(here: Cell) -> None:
    await here.add_pod()
    assert (await here.api.post(f"{PODS}/p/log", {})).code == 405


async def test_an_untrusted_kubelet_is_refused_unless_the_client_skips_verification(tmp_path: Path) -> None:
    async with cell(tmp_path, lines) as here:
        (tmp_path / "other").mkdir()
        settings = here.api.server.upstreams.kubelets
        outsider = make_files(tmp_path / "other")
        context = settings._context(outsider.ca_file)
        settings._tls = context
        await here.add_pod()
        response = await log(here)
        assert (response.code, "failed to verify certificate" in response.message) == (500, True)
        assert (await log(here, "insecureSkipTLSVerifyBackend=true")).code == 200
