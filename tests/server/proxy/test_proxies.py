"""pods/proxy, services/proxy and nodes/proxy: permitted and forbidden destinations."""

import contextlib
from collections.abc import AsyncIterator
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from sampan.core.errors import StatusError
from tests.properties import SHARED_FIXTURES, examples
from tests.server.cluster import ApiResponse
from tests.server.proxy.kubelet import PODS, Cell, cell
from tests.server.proxy.upstream import ReceivedRequest, Upstream, upstream

SERVICES = "/api/v1/namespaces/default/services"
NODES = "/api/v1/nodes"


async def hello(requested: ReceivedRequest) -> None:
    await requested.body()
    await requested.response(b"hello")


@pytest.fixture
async def here(tmp_path: Path) -> AsyncIterator[Cell]:
    async with cell(tmp_path, hello) as made:
        yield made


@pytest.fixture
async def web() -> AsyncIterator[Upstream]:
    """Start the server that listens in a Pod."""
    async with upstream(hello) as served:
        yield served


async def fetch(here: Cell, target: str, method: str = "GET") -> ApiResponse:
    response = await here.api.fetch(method, target)
    if response.response.stream is not None:
        async for _ in response.response.stream:
            pass
    return response


# --- Pods


async def test_a_pod_is_reached_at_its_address(here: Cell, web: Upstream) -> None:
    await here.add_pod(ip="127.0.0.1")
    assert (await fetch(here, f"{PODS}/p:{web.port}/proxy/a%2Fb/?q=%20")).code == 200
    assert web.last.target == "/a%2Fb/?q=%20"
    assert web.last.headers["x-forwarded-uri"] == f"{PODS}/p:{web.port}/proxy/a%2Fb/"


@pytest.mark.parametrize("method", ["GET", "HEAD", "POST", "PUT", "PATCH", "DELETE", "OPTIONS"])
async def test_every_method_is_passed_on(here: Cell, web: Upstream, method: str) -> None:
    await here.add_pod(ip="127.0.0.1")
    assert (await fetch(here, f"{PODS}/p:{web.port}/proxy/x", method)).code == 200
    assert web.last.method == method


async def test_without_a_port_it_is_the_first_of_the_pods(here: Cell, web: Upstream) -> None:
    containers = [{"name": "c", "image": "i"}, {"name": "d", "image": "i", "ports": [{"containerPort": web.port}]}]
    await here.add_pod(ip="127.0.0.1", containers=containers)
    assert (await fetch(here, f"{PODS}/p/proxy/")).code == 200
    assert (await fetch(here, f"{PODS}/http:p:/proxy/")).code == 200
    assert len(web.requested) == 2


async def test_a_pod_behind_tls_is_not_verified(here: Cell) -> None:
    await here.add_pod(ip="127.0.0.1")
    response = await here.api.get(f"{PODS}/https:p:{here.kubelet.port}/proxy/x")
    # This upstream requires a client certificate, and Pods do not get one.
    assert (response.code, "error trying to reach service" in response.message) == (503, True)


async def test_the_root_needs_its_slash(here: Cell, web: Upstream) -> None:
    await here.add_pod(ip="127.0.0.1")
    response = await fetch(here, f"{PODS}/p:{web.port}/proxy?a=1")
    assert (response.code, (b"Location", f"{PODS}/p:{web.port}/proxy/?a=1".encode()) in response.response.headers) == (
        301,
        True,
    )
    assert web.requested == []


@pytest.mark.parametrize(
    "ip", ["", "0.0.0.0", "169.254.169.254", "224.0.0.1", "255.255.255.255", "::", "fe80::1", "ff02::1"]
)
async def test_addresses_that_are_no_pods_are_refused(here: Cell, ip: str) -> None:
    await here.add_pod(ip=ip)
    response = await fetch(here, f"{PODS}/p:80/proxy/")
    assert (response.code, response.message) == (400, "address not allowed")


@pytest.mark.parametrize("ip", ["127.0.0.1", "127.9.9.9", "::1", "::ffff:127.0.0.1"])
async def test_loopback_is_refused_unless_the_server_allows_it(tmp_path: Path, ip: str) -> None:
    async with cell(tmp_path, hello, loopback=False) as here:
        await here.add_pod(ip="10.9.9.9")
        pod = (await here.api.get(f"{PODS}/p")).body
        assert pod["status"]["podIP"] == "10.9.9.9"
        status = {"podIP": ip, "podIPs": [{"ip": ip}]}
        if (await here.api.patch(f"{PODS}/p/status", {"status": status})).code != 200:
            return  # validation does not let it in
        assert (await fetch(here, f"{PODS}/p:80/proxy/")).message == "address not allowed"
        assert (await fetch(here, f"{NODES}/n1/proxy/pods")).message == "address not allowed"


@pytest.mark.parametrize(
    "name", ["ftp:p:80", "a:b:c:d", ":80", "p:0", "p:65536", "p:http", "p:80@evil.example", "p:-1", "p:8%200", "p:٣"]
)
async def test_names_that_make_no_sense_are_refused(here: Cell, name: str) -> None:
    await here.add_pod(ip="127.0.0.1")
    response = await fetch(here, f"{PODS}/{name}/proxy/")
    assert response.code == 400
    assert response.message.startswith("invalid pod request ")


async def test_an_unknown_pod_is_404(here: Cell) -> None:
    assert (await fetch(here, f"{PODS}/x/proxy/")).message == 'pods "x" not found'


@pytest.mark.parametrize("path", ["/api/v1/proxy/namespaces/default/pods/p/", "/api/v1/proxy/nodes/n1/pods"])
async def test_the_paths_of_old_are_404(here: Cell, path: str) -> None:
    assert (await fetch(here, path)).code == 404


# --- services


async def add_service(here: Cell, port: int, *, ready: bool = True, ip: str = "127.0.0.1", pod: str = "p") -> None:
    ports = [{"name": "web", "port": 80}, {"name": "other", "port": 81}]
    await here.api.create(SERVICES, {"metadata": {"name": "s"}, "spec": {"ports": ports}})
    addresses: list[dict[str, Any]] = [
        {"ip": ip, "targetRef": {"kind": "Pod", "namespace": "default", "name": pod}},
    ]
    subset = {"addresses" if ready else "notReadyAddresses": addresses, "ports": [{"name": "web", "port": port}]}
    await here.add_pod(ip=ip)
    endpoints = {"metadata": {"name": "s"}, "subsets": [subset]}
    await here.api.create("/api/v1/namespaces/default/endpoints", endpoints)


@pytest.fixture
def routed(monkeypatch: pytest.MonkeyPatch) -> str:
    """Return an address of Pods that is routed to this machine, because endpoints may not be on loopback."""
    address = "10.1.2.3"
    monkeypatch.setattr(
        "sampan.server.verbs.connect.proxies.check_address", lambda text, **_: text.replace(address, "127.0.0.1")
    )
    return address


@pytest.mark.parametrize("name", ["s:web", "s:80", "http:s:web"])
async def test_a_service_is_a_pod_behind_it(here: Cell, web: Upstream, routed: str, name: str) -> None:
    await add_service(here, web.port, ip=routed)
    assert (await fetch(here, f"{SERVICES}/{name}/proxy/x")).code == 200
    assert web.last.target == "/x"


@pytest.mark.parametrize(
    ("name", "code", "message"),
    [
        ("s", 503, 'no endpoints available for service "s"'),
        ("s:other", 503, 'no endpoints available for service "s:other"'),
        ("s:82", 503, 'no service port 82 found for service "s"'),
        ("x", 404, 'services "x" not found'),
        ("x:80", 404, 'services "x" not found'),
        ("ftp:s:80", 400, 'invalid service request "ftp:s:80"'),
    ],
)
async def test_services_without_an_endpoint_are_503(
    here: Cell, routed: str, name: str, code: int, message: str
) -> None:
    await add_service(here, 80, ip=routed)
    response = await fetch(here, f"{SERVICES}/{name}/proxy/")
    assert (response.code, response.message) == (code, message)


@pytest.mark.parametrize("wrong", [{"ready": False}, {"pod": "q"}], ids=["not ready", "another pod"])
async def test_endpoints_that_are_no_ready_pods_are_not_used(here: Cell, routed: str, wrong: dict[str, Any]) -> None:
    await add_service(here, 80, ip=routed, **wrong)
    assert (await fetch(here, f"{SERVICES}/s:web/proxy/")).code == 503


# --- dropped headers


SECRET = {
    "authorization": "Bearer master-token",
    "proxy-authorization": "Basic x",
    "x-remote-user": "admin",
    "x-remote-uid": "1",
    "x-remote-group": "system:masters",
    "x-remote-extra-scopes": "all",
    "impersonate-user": "jane",
    "impersonate-group": "system:masters",
    "impersonate-extra-scopes": "all",
    "sec-websocket-protocol": "a, base64url.bearer.authorization.k8s.io.bWFzdGVyLXRva2Vu",
    "connection": "x-hop",
    "x-hop": "1",
}
PASSED = {"cookie": "a=b", "x-mine": "1"}


@pytest.mark.parametrize("kind", ["pods", "services", "nodes", "a node's other port"])
async def test_no_credentials_reach_what_is_proxied(here: Cell, web: Upstream, routed: str, kind: str) -> None:
    if kind == "pods":
        await here.add_pod(ip="127.0.0.1")
        target, observed = f"{PODS}/p:{web.port}/proxy/x", web
    elif kind == "services":
        await add_service(here, web.port, ip=routed)
        target, observed = f"{SERVICES}/s:web/proxy/x", web
    else:
        port, observed = (web.port, web) if "other" in kind else (here.kubelet.port, here.kubelet)
        target = f"{NODES}/n1:{port}/proxy/x"
    response = await here.api.client.request("GET", target, headers={**SECRET, **PASSED})
    assert response.status == 200, response.body
    if response.stream is not None:
        async for _ in response.stream:
            pass
    found = {name.lower(): value for name, value in observed.last.headers.items()}
    leaked = {
        name: found[name] for name in SECRET if name in found and name not in ("sec-websocket-protocol", "connection")
    }
    assert leaked == {}
    assert "master-token" not in str(found)
    assert "bearer" not in str(found).lower()
    assert PASSED.items() <= found.items()


# --- nodes


@pytest.mark.parametrize("name", ["n1", "https:n1:"])
async def test_a_node_is_its_kubelet(here: Cell, name: str) -> None:
    assert (await fetch(here, f"{NODES}/{name}/proxy/stats/summary?x=1")).code == 200
    assert here.kubelet.last.target == "/stats/summary?x=1"
    assert "kube-apiserver-kubelet-client" in str(here.kubelet.certificates[0])


async def test_only_the_port_of_the_kubelet_gets_a_client_certificate(here: Cell, web: Upstream) -> None:
    assert (await fetch(here, f"{NODES}/n1:{here.kubelet.port}/proxy/pods")).code == 200
    assert (await fetch(here, f"{NODES}/n1:{web.port}/proxy/pods")).code == 200
    assert [len(each.requested) for each in (here.kubelet, web)] == [1, 1]


async def test_an_unknown_node_is_404(here: Cell) -> None:
    assert (await fetch(here, f"{NODES}/n9/proxy/pods")).message == 'nodes "n9" not found'


# --- attacks

PIECES = ["..", ".", "", "%2e%2e", "%2F", "%2f..%2f", "@evil", "http:", "evil:80", "%0d%0aX:1", "%00", "a;b", "proxy"]


@settings(suppress_health_check=SHARED_FIXTURES, max_examples=examples(150))
@given(
    st.lists(st.sampled_from([*PIECES, "nodes", "n2", "x%3Fy%23z", "\\..\\"]), max_size=6), st.sampled_from(["/", "//"])
)
async def test_no_path_leads_elsewhere(here: Cell, pieces: list[str], slashes: str) -> None:
    before = len(here.kubelet.requested)
    response = await fetch(here, f"{NODES}/n1/proxy{slashes}{'/'.join(pieces)}")
    assert response.code == 200
    assert len(here.kubelet.requested) == before + 1
    target, headers = here.kubelet.last.target, here.kubelet.last.headers
    assert target.startswith("/")
    assert not target.startswith("//")
    assert ".." not in target.replace("%2e", ".").split("/")
    assert "x" not in headers
    assert headers["host"].startswith("127.0.0.1")


ANY_NAME = st.text(alphabet=st.sampled_from("n1:/.@%2Ff\\?#080httpsev"), max_size=12)
# Text alone hardly ever names the node.
NODE_NAME = st.builds(
    "".join,
    st.tuples(
        st.sampled_from(["", "", "http:", "https:", "evil@", "evil:"]),
        st.sampled_from(["n1", "n1", "n1.evil", "127.0.0.1", "evil"]),
        st.sampled_from(["", "", ":", ":80", ":0080", ":evil", ":80@evil", "%2Fevil", "%40evil", ".", "?evil"]),
    ),
)


@settings(suppress_health_check=SHARED_FIXTURES, max_examples=examples(150))
@given(NODE_NAME | ANY_NAME)
async def test_no_name_leads_elsewhere(here: Cell, name: str) -> None:
    known = {"127.0.0.1"}
    observed: set[str] = set()
    upstreams = here.api.server.upstreams

    async def spy(request: Any, target: Any) -> Any:
        observed.add(target.address or target.host)
        raise AssertionError

    for proxy in (upstreams.proxy, upstreams.kubelet_proxy):
        proxy.forward = spy  # type: ignore[method-assign]  # nothing is to be reached
    with contextlib.suppress(StatusError):  # what cannot be read
        await fetch(here, f"{NODES}/{name}/proxy/x")
    assert observed <= known
