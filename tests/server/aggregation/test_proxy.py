"""Requests that another server answers."""

import asyncio
import base64
from pathlib import Path
from typing import Any

import orjson
import pytest

from tests.server.aggregation.cell import API_SERVICES, GROUP, PATH, Cell, cell, legacy, send_json
from tests.server.cluster import ApiResponse
from tests.server.frame import JANE, MASTER
from tests.server.proxy.upstream import ReceivedRequest
from tests.server.test_websocket import listening

THINGS = f"{PATH}/namespaces/default/things"
ROLES = "/apis/rbac.authorization.k8s.io/v1/clusterroles"


async def content(reply: ApiResponse) -> bytes:
    """The body of an answer that was passed on."""
    stream = reply.response.stream
    assert stream is not None, reply.body
    return b"".join([piece async for piece in stream])


async def allow_jane(here: Cell) -> None:
    """Jane may do everything with things."""
    rules = [{"apiGroups": [GROUP], "resources": ["*"], "verbs": ["*"]}]
    await here.api.create(ROLES, {"metadata": {"name": "things"}, "rules": rules})
    subjects = [{"kind": "User", "apiGroup": "rbac.authorization.k8s.io", "name": "jane"}]
    role = {"apiGroup": "rbac.authorization.k8s.io", "kind": "ClusterRole", "name": "things"}
    bindings = ROLES.replace("clusterroles", "clusterrolebindings")
    await here.api.create(bindings, {"metadata": {"name": "jane"}, "subjects": subjects, "roleRef": role})


async def test_a_backend_gets_the_user_and_the_certificate_of_the_proxy(tmp_path: Path) -> None:
    async with cell(tmp_path) as here:
        await here.available()
        await allow_jane(here)
        reply = await here.api.get(f"{THINGS}/a?b=2&a=1", **JANE, x_remote_user="root", accept="application/json")
        assert (reply.code, await content(reply)) == (200, b'{"seen":"%b/a?a=1&b=2"}' % THINGS.encode())
        (requested,) = here.requests(f"{THINGS}/a?a=1&b=2")
        reported = [line for line in requested.lines if line[0].lower().startswith("x-remote")]
        assert reported == [
            ("X-Remote-User", "jane"),
            ("X-Remote-Uid", "u-1"),
            ("X-Remote-Group", "devs"),
            ("X-Remote-Group", "system:authenticated"),
        ]
        assert "authorization" not in requested.headers
        assert requested.headers["host"] == f"localhost:{here.backend.port}"
        certificate = here.backend.certificates[-1]
        assert isinstance(certificate, dict)
        assert (("commonName", "front-proxy-client"),) in certificate["subject"]


async def test_bodies_and_codes_pass_and_admission_is_the_backends(tmp_path: Path) -> None:
    async def reply(requested: ReceivedRequest) -> None:
        if requested.method == "POST":
            await requested.response(b"got " + await requested.body(), "HTTP/1.1 418 Teapot\r\nX-Mine: 1\r\n")
        else:
            await legacy(requested)

    async with cell(tmp_path, reply) as here:
        await here.available()
        # NamespaceLifecycle would refuse the namespace.
        responses = await here.api.post(THINGS.replace("default", "nowhere"), {"a": 1})
        assert (responses.code, await content(responses)) == (418, b'got {"a":1}')
        assert (b"X-Mine", b"1") in responses.response.headers


async def test_a_client_that_may_not_is_refused_here(tmp_path: Path) -> None:
    async with cell(tmp_path) as here:
        await here.available()
        reply = await here.api.get(THINGS, **JANE)
        assert (reply.code, reply.reason) == (403, "Forbidden")
        assert here.requests(THINGS) == []


async def test_a_watch_comes_as_it_is_sent(tmp_path: Path) -> None:
    more = asyncio.Event()

    async def reply(requested: ReceivedRequest) -> None:
        if "watch" not in requested.target:
            await legacy(requested)
            return
        await requested.send(b"HTTP/1.1 200 OK\r\nContent-Type: application/json\r\nTransfer-Encoding: chunked\r\n\r\n")
        await requested.send(b'4\r\n{"1"\r\n')
        await more.wait()
        await requested.send(b'4\r\n{"2"\r\n0\r\n\r\n')

    async with cell(tmp_path, reply) as here:
        await here.available()
        response = (await here.api.get(f"{THINGS}?watch=true")).response
        assert response.stream is not None
        assert await anext(response.stream) == b'{"1"'
        more.set()
        assert [piece async for piece in response.stream] == [b'{"2"']


async def test_an_upgrade_is_piped(tmp_path: Path) -> None:
    async def reply(requested: ReceivedRequest) -> None:
        if not requested.headers.get("upgrade"):
            await legacy(requested)
            return
        await requested.send(b"HTTP/1.1 101 Switching Protocols\r\nConnection: Upgrade\r\nUpgrade: test\r\n\r\n")
        await requested.send(b"echo " + await requested.reader.readexactly(4))
        requested.writer.close()

    async with cell(tmp_path, reply) as here:
        await here.available()
        async with listening(here.api.server.handler) as (_, port):
            reader, writer = await asyncio.open_connection("127.0.0.1", port)
            token = MASTER["authorization"]
            head = f"GET {THINGS}/a/exec HTTP/1.1\r\nHost: h\r\nAuthorization: {token}\r\n"
            writer.write(head.encode() + b"Connection: Upgrade\r\nUpgrade: test\r\n\r\n")
            assert (await reader.readuntil(b"\r\n\r\n")).startswith(b"HTTP/1.1 101 ")
            writer.write(b"ping")
            assert await reader.read() == b"echo ping"
            writer.close()
        (requested,) = here.requests(f"{THINGS}/a/exec")
        assert requested.headers["upgrade"] == "test"
        assert ("X-Remote-User", "admin") in requested.lines


async def test_a_group_versions_discovery_is_the_backends(tmp_path: Path) -> None:
    async with cell(tmp_path) as here:
        await here.available()
        assert b"APIResourceList" in await content(await here.api.get(PATH))


async def test_a_backend_that_is_not_available_is_not_called(tmp_path: Path) -> None:
    async with cell(tmp_path) as here:
        await here.api_service()
        await here.condition("ServiceNotFound")
        for path in (THINGS, PATH):
            reply = await here.api.get(path)
            assert (reply.code, reply.body) == (503, b"service unavailable\n")
        assert here.backend.requested == []


async def test_a_backend_that_has_died_since_is_reported_as_plain_text(tmp_path: Path) -> None:
    async with cell(tmp_path) as here:
        await here.available()
        here.backend.response = _cut
        reply = await here.api.get(THINGS)
        assert reply.code == 503
        assert reply.body.startswith(b"error trying to reach service: ")
        assert reply.response.content_type.startswith("text/plain")


async def _cut(requested: ReceivedRequest) -> None:
    requested.writer.transport.abort()


@pytest.mark.parametrize(("reject", "code"), [(True, 502), (False, 302)], ids=["by default", "if wanted"])
async def test_redirects_are_refused(tmp_path: Path, reject: bool, code: int) -> None:
    async def reply(requested: ReceivedRequest) -> None:
        if requested.target == f"{THINGS}/r":
            await requested.response(b"", "HTTP/1.1 302 Found\r\nLocation: https://evil.example/\r\n")
        else:
            await legacy(requested)

    async with cell(tmp_path, reply, reject_redirects=reject) as here:
        await here.available()
        found = await here.api.get(f"{THINGS}/r")
        assert found.code == code
        if reject:
            text = b"the backend attempted to redirect this request, which is not permitted"
            assert found.body == text


@pytest.mark.parametrize(
    ("spec", "reason", "text"),
    [
        ({"insecureSkipTLSVerify": True}, "Passed", ""),
        ({"caBundle": ""}, "FailedDiscoveryCheck", "certificate"),
    ],
    ids=["not verified", "by the system's CAs"],
)
async def test_the_certificate_is_verified_as_the_object_states(
    tmp_path: Path, spec: dict[str, Any], reason: str, text: str
) -> None:
    async with cell(tmp_path) as here:
        await here.service()
        await here.api_service(**spec)
        assert text in (await here.condition(reason))["message"]


async def test_a_certificate_for_another_name_is_refused(tmp_path: Path) -> None:
    async with cell(tmp_path) as here:
        await here.service("other", type="ExternalName", externalName="localhost")
        bundle = base64.b64encode(here.files.ca_file.read_bytes()).decode()
        service = {"namespace": "default", "name": "other", "port": here.backend.port}
        await here.api_service(service=service, caBundle=bundle)
        assert "other.default.svc" in (await here.condition("FailedDiscoveryCheck"))["message"]


async def test_built_ins_are_served_here_unless_their_api_service_names_a_service(tmp_path: Path) -> None:
    async with cell(tmp_path) as here:
        await here.service()
        bundle = base64.b64encode(here.files.ca_file.read_bytes()).decode()
        service = {"namespace": "default", "name": "metrics", "port": here.backend.port}
        path = "/apis/apps/v1/namespaces/default/deployments"
        assert (await here.api.get(path)).body["kind"] == "DeploymentList"
        changed = await here.api.patch(f"{API_SERVICES}/v1.apps", {"spec": {"service": service, "caBundle": bundle}})
        assert changed.code == 200, changed.body
        here.backend.response = lambda requested: send_json(requested, {"mine": 1})
        await here.condition("Passed", "v1.apps")
        assert orjson.loads(await content(await here.api.get(path))) == {"mine": 1}
        back = await here.api.patch(f"{API_SERVICES}/v1.apps", {"spec": {"service": None, "caBundle": None}})
        assert back.code == 200, back.body
        assert (await here.api.get(path)).body["kind"] == "DeploymentList"


async def test_the_group_of_api_services_is_always_served_here(tmp_path: Path) -> None:
    async with cell(tmp_path) as here:
        await here.service()
        await here.api_service(group="apiregistration.k8s.io", versionPriority=1)
        assert (await here.api.get(API_SERVICES)).body["kind"] == "APIServiceList"


@pytest.mark.parametrize(
    "path",
    [
        f"{PATH}/namespaces/default/../kube-system/things",
        f"{PATH}/namespaces/default%2F..%2Fa/things",
        f"{PATH}//things",
    ],
    ids=["dots", "encoded dots", "empty"],
)
async def test_paths_of_which_a_backend_might_make_another_one_lead_nowhere(tmp_path: Path, path: str) -> None:
    async with cell(tmp_path) as here:
        await here.available()
        before = len(here.requests(path))
        assert (await here.api.get(path)).code == 404
        assert len(here.requests(path)) == before


async def test_the_authorized_path_is_the_path_that_is_sent(tmp_path: Path) -> None:
    async with cell(tmp_path) as here:
        await here.available()
        await here.api.get(f"{PATH}/namespaces%2Fdefault/things/a%20b?fieldSelector=a%3Db&x=1;watch=true")
        assert here.requests(f"{PATH}/namespaces/default/things/a%20b?fieldSelector=a%3Db")


async def test_responses_of_a_backend_are_not_counted_but_failures_to_reach_it_are(tmp_path: Path) -> None:
    async with cell(tmp_path) as here:
        await here.available()
        assert (await here.api.get(f"{THINGS}/a")).code == 200
        await here.api.delete("/api/v1/namespaces/default/services/metrics")
        await here.condition("ServiceNotFound")
        assert (await here.api.get(f"{THINGS}/a")).code == 503
        lines = (await here.api.client.get("/metrics")).body.decode().splitlines()
    about = {line.partition("{")[0]: line for line in lines if 'resource="things"' in line}
    assert list(about) == ["apiserver_request_terminations_total"]
    assert 'code="503",component="aggregator"' in about["apiserver_request_terminations_total"]
