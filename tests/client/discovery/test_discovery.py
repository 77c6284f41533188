"""The resources of a server, as its discovery documents list them; and the names under which they are found."""

import asyncio
from typing import Any
from urllib.parse import urlsplit

import pytest

from sampan.client import ApiError, Client, NoMatch, ResourceName, RESTMapper, TransportError, discover
from sampan.client.discovery.discover import Discovered
from sampan.client.rest_client import RESTClient
from sampan.client.transport import HttpRequest
from sampan.core.gvk import GroupVersion, GroupVersionKind, GroupVersionResource
from sampan.resource import ResourceInfo
from sampan.testing import virtual_time
from sampan.testing.servers.in_process import InProcessTransport
from tests.client.connected import connected
from tests.client.scripted_transport import ScriptedResponse, ScriptedTransport, reply

Json = dict[str, Any]


def resource(name: str, kind: str, *subresources: str, **more: Any) -> Json:
    """A resource of an aggregated document."""
    return {
        "resource": name,
        "responseKind": {"group": "", "version": "", "kind": kind},
        "scope": "Namespaced",
        "singularResource": kind.lower(),
        "verbs": ["get"],
        "subresources": [{"subresource": each} for each in subresources],
        **more,
    }


def group(name: str, **versions: list[Json] | None) -> Json:
    """A group of an aggregated document; a version without resources is stale."""
    return {
        "metadata": {"name": name},
        "versions": [
            {"version": version, "freshness": "Current" if resources is not None else "Stale", "resources": resources}
            for version, resources in versions.items()
        ],
    }


def aggregated(*groups: Json) -> Json:
    return {"kind": "APIGroupDiscoveryList", "apiVersion": "apidiscovery.k8s.io/v2", "items": list(groups)}


CORE = aggregated(
    group(
        "",
        v1=[
            resource("pods", "Pod", "status", "log", shortNames=["po"], categories=["all"]),
            resource("services", "Service", shortNames=["svc"], categories=["all"]),
            resource("nodes", "Node", scope="Cluster"),
            resource("events", "Event", shortNames=["ev"]),
        ],
    )
)
GROUPS = aggregated(
    group("apps", v1=[resource("deployments", "Deployment", "scale", shortNames=["deploy"], categories=["all"])]),
    group("events.k8s.io", v1=[resource("events", "Event", shortNames=["ev"])]),
    group(
        "example.com",
        v2=[resource("shirts", "Shirt", shortNames=["po"])],
        v1=[resource("shirts", "Shirt"), resource("socks", "Sock")],
        v1beta1=[resource("shirts", "Shirt")],
    ),
    group("metrics.k8s.io", v1=None),
    group("v1.example.org", v1=[resource("hats", "Hat"), {"resource": "only", "subresources": []}]),
)


def server(**documents: Json | int) -> ScriptedTransport:
    """Answers paths with documents or codes (`__` stands for a slash); all else with 404."""

    def by(request: HttpRequest) -> ScriptedResponse:
        found = documents.get(urlsplit(request.target).path[1:].replace("/", "__").replace(".", "_"), 404)
        if isinstance(found, int):
            return reply({"kind": "Status", "code": found, "message": f"no {found}"}, found)
        return reply(found)

    return ScriptedTransport(by=by)


def names(resources: list[ResourceInfo]) -> list[str]:
    return [f"{info.gvr.group_version}/{info.gvr.resource}" for info in resources]


async def test_aggregated_discovery_takes_two_requests() -> None:
    transport = server(api=CORE, apis=GROUPS)
    found = await discover(RESTClient(transport))
    assert len(transport.requests) == 2
    pods = found.versions[GroupVersion("", "v1")][0]
    assert pods == ResourceInfo(
        GroupVersionResource("", "v1", "pods"),
        "Pod",
        namespaced=True,
        singular="pod",
        short_names=("po",),
        categories=("all",),
        verbs=frozenset({"get"}),
        subresources=frozenset({"status", "log"}),
    )
    assert not found.versions[GroupVersion("", "v1")][2].namespaced


async def test_a_stale_version_is_reported_and_a_resource_without_kind_is_left_out() -> None:
    found = await discover(RESTClient(server(api=CORE, apis=GROUPS)))
    assert list(found.failed) == [GroupVersion("metrics.k8s.io", "v1")]
    assert names(found.resources)[-1] == "v1.example.org/v1/hats"


LEGACY_APIS: Json = {
    "kind": "APIGroupList",
    "groups": [
        {
            "name": "apps",
            "versions": [{"groupVersion": "apps/v1beta1"}, {"groupVersion": "apps/v1"}],
            "preferredVersion": {"groupVersion": "apps/v1"},
        },
        {"name": "down.io", "versions": [{"groupVersion": "down.io/v1"}]},
    ],
}


def legacy(*resources: Json) -> Json:
    return {"kind": "APIResourceList", "resources": list(resources)}


async def test_legacy_discovery_reads_each_version_and_misses_those_that_are_down() -> None:
    deployments = {"name": "deployments", "kind": "Deployment", "namespaced": True, "singularName": "deployment"}
    transport = server(
        api={"kind": "APIVersions", "versions": ["v1"]},
        apis=LEGACY_APIS,
        api__v1=legacy({"name": "nodes", "kind": "Node", "shortNames": ["no"]}),
        apis__apps__v1=legacy(deployments, {"name": "deployments/scale", "kind": "Scale"}),
        apis__apps__v1beta1=legacy(deployments),
        apis__down_io__v1=503,
    )
    found = await discover(RESTClient(transport))
    assert names(found.resources) == ["v1/nodes", "apps/v1/deployments", "apps/v1beta1/deployments"]
    assert found.resources[1].subresources == {"scale"}
    assert found.failed == {GroupVersion("down.io", "v1"): "no 503"}


async def test_a_server_without_a_core_group_is_one() -> None:
    assert names((await discover(RESTClient(server(apis=GROUPS)))).resources)[0] == "apps/v1/deployments"


async def test_a_document_that_cannot_be_read_is_an_error() -> None:
    with pytest.raises(TransportError, match="cannot decode discovery document"):
        await discover(RESTClient(server(api={"kind": 3}, apis=GROUPS)))


async def test_a_server_that_refuses_is_an_error_and_not_a_group_of_them() -> None:
    with pytest.raises(ApiError) as raised:
        await discover(RESTClient(server(api=500, apis=500)))
    assert raised.value.code == 500


async def test_both_ways_report_the_same_of_our_own_server() -> None:
    async with connected() as (client, _):
        transport = client.rest.transport
        assert isinstance(transport, InProcessTransport)
        new = await discover(client.rest)
        old = await discover(RESTClient(Legacy(transport)))
    assert {info.gvr: info for info in new.resources} == {info.gvr: info for info in old.resources}
    assert list(new.versions) == list(old.versions)


class Legacy:
    """A transport that requests discovery without aggregation."""

    def __init__(self, inner: InProcessTransport) -> None:
        self._inner = inner

    async def send(self, request: HttpRequest) -> Any:
        return await self._inner.send(HttpRequest(request.method, request.target, {"accept": "application/json"}))

    async def aclose(self) -> None:
        await self._inner.aclose()


# The mapper


def mapper() -> tuple[RESTMapper, ScriptedTransport]:
    transport = server(api=CORE, apis=GROUPS)
    return Client(transport).mapper, transport


FOUND: list[tuple[ResourceName, str]] = [
    ("pods", "v1/pods"),
    ("pod", "v1/pods"),
    ("po", "v1/pods"),
    ("Pod", "v1/pods"),
    ("PODS", "v1/pods"),
    ("pods.v1.", "v1/pods"),
    ("deploy", "apps/v1/deployments"),
    ("deploy.apps", "apps/v1/deployments"),
    ("deployments.apps", "apps/v1/deployments"),
    ("deployments.v1.apps", "apps/v1/deployments"),
    ("Deployment.v1.apps", "apps/v1/deployments"),
    ("ev", "v1/events"),
    ("events.events.k8s.io", "events.k8s.io/v1/events"),
    ("events.events", "events.k8s.io/v1/events"),
    ("shirts", "example.com/v2/shirts"),
    ("socks", "example.com/v1/socks"),
    ("shirts.v1beta1.example.com", "example.com/v1beta1/shirts"),
    ("hats.v1.example.org", "v1.example.org/v1/hats"),
    (GroupVersionKind("example.com", "v1", "Shirt"), "example.com/v1/shirts"),
    (GroupVersionResource("example.com", "v1", "shirts"), "example.com/v1/shirts"),
    (("apps/v1", "Deployment"), "apps/v1/deployments"),
    ({"apiVersion": "v1", "kind": "Pod"}, "v1/pods"),
]


@pytest.mark.parametrize(("what", "resource"), FOUND, ids=[str(what) for what, _ in FOUND])
async def test_a_resource_is_found_by_its_names(what: ResourceName, resource: str) -> None:
    assert names([await mapper()[0].resource_for(what)]) == [resource]


MISSING: list[tuple[ResourceName, str]] = [
    ("hat.apps", 'the server doesn\'t have a resource type "hat.apps"'),
    (GroupVersionKind("apps", "v1", "Pod"), 'no matches for kind "Pod" in version "apps/v1"'),
    (GroupVersionKind("apps", "v1", "deployment"), 'no matches for kind "deployment" in version "apps/v1"'),
    (GroupVersionResource("apps", "v1", "pods"), "no matches for apps/v1, Resource=pods"),
    ({"apiVersion": "v1"}, "the object has no apiVersion or no kind"),
]


@pytest.mark.parametrize(("what", "message"), MISSING, ids=[message for _, message in MISSING])
async def test_a_missing_resource_is_no_match(what: ResourceName, message: str) -> None:
    with pytest.raises(NoMatch) as raised:
        await mapper()[0].resource_for(what)
    assert str(raised.value).startswith(message)


async def test_versions_that_could_not_be_read_are_named() -> None:
    with pytest.raises(NoMatch, match=r"metrics\.k8s\.io/v1 could not be read"):
        await mapper()[0].resource_for("nodemetrics")


async def test_all_of_a_name_come_in_the_servers_order() -> None:
    assert names(list(await mapper()[0].resources_for("ev"))) == ["v1/events", "events.k8s.io/v1/events"]


async def test_a_category_has_each_resource_once() -> None:
    assert names(list(await mapper()[0].category("all"))) == ["v1/pods", "v1/services", "apps/v1/deployments"]


@virtual_time
async def test_concurrent_lookups_share_one_discovery() -> None:
    requested, transport = mapper()
    await asyncio.gather(*(requested.resource_for("pods") for _ in range(10)))
    await requested.resource_for("deploy")
    assert len(transport.requests) == 2


@virtual_time
async def test_a_miss_requests_again_but_not_too_often_for_the_same_name() -> None:
    requested, transport = mapper()
    await requested.resource_for("pods")
    await asyncio.sleep(0.001)
    for _ in range(3):
        with pytest.raises(NoMatch):
            await requested.resource_for("missing")
    assert len(transport.requests) == 4
    await asyncio.sleep(5)
    await asyncio.gather(*(requested.resource_for("missing") for _ in range(4)), return_exceptions=True)
    assert len(transport.requests) == 6


@virtual_time
async def test_a_resource_that_was_added_after_discovery_is_found() -> None:
    responses = [Discovered({}), Discovered({GroupVersion("", "v1"): [PODS]})]

    async def next_response() -> Discovered:
        return responses.pop(0)

    requested = RESTMapper(next_response)
    await requested.discovered()
    await asyncio.sleep(0.001)
    assert await requested.resource_for("pods") == PODS


async def test_after_invalidate_the_server_is_called() -> None:
    requested, transport = mapper()
    await requested.resource_for("pods")
    requested.invalidate()
    await requested.resource_for("pods")
    assert len(transport.requests) == 4


PODS = ResourceInfo(GroupVersionResource("", "v1", "pods"), "Pod", True, "pod")
