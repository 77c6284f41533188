"""Against a whole API server: the Secret that replicas share, caBundles and configurations, conversion end to end."""

import asyncio
import base64
import datetime
from collections.abc import AsyncIterator
from contextlib import aclosing, asynccontextmanager
from functools import partial
from typing import Any

import pytest

from sampan.client import Client, ListOptions, MergePatch, WriteOptions, condition_is, exists, json_path, wait_for
from sampan.client.errors import InternalError
from sampan.client.retries.backoff import Backoff
from sampan.client.retries.on_conflict import retry_on
from sampan.core.gvk import GroupVersionResource
from sampan.operator.caches.options import NamespaceSelector
from sampan.operator.manager import Manager, ManagerOptions
from sampan.operator.webhook import (
    ApiServiceTarget,
    CaBundleInjector,
    ConversionTarget,
    Findings,
    HookKind,
    InjectionTarget,
    IssuedCertificates,
    SecretStore,
    ServiceReference,
    Validator,
    WebhookConfigurationTarget,
    WebhookOptions,
    WebhookServer,
)
from sampan.operator.webhook.certificates import CertificateTerms
from sampan.operator.webhook.targets import API_SERVICES, CRDS
from sampan.resource import ResourceInfo
from sampan.resource.crd import crd_of
from tests.operator.cluster import SECRETS, cluster_client
from tests.operator.webhook.frame import (
    GROUP,
    FixedClock,
    Json,
    MemoryCertificates,
    Network,
    NetworkV2,
    network,
    running,
)
from tests.operator.webhook.test_conversion import converting

HOSTS = ("hook.default.svc",)
DAY = datetime.timedelta(days=1)
NETWORKS = ResourceInfo(GroupVersionResource(GROUP, "v1", "networks"), "Network", namespaced=True)
NETWORKS_2 = ResourceInfo(GroupVersionResource(GROUP, "v2", "networks"), "Network", namespaced=True)
CRD_NAME = f"networks.{GROUP}"
WITHIN_S = 60.0


def bundle(source: Any) -> str:
    """Return the CA bundle that is to be injected."""
    return base64.b64encode(source.material.ca_bundle).decode()


async def test_replicas_share_one_secret_a_client_that_makes_it() -> None:
    async with cluster_client() as client:
        clock = FixedClock()
        replicas = [IssuedCertificates(SecretStore(client, "default", "certs"), HOSTS, clock) for _ in range(3)]
        await asyncio.gather(*(replica.refresh() for replica in replicas))
        assert len({replica.material.certificate for replica in replicas}) == 1
        secret = await client.resource(SECRETS).get("certs")
        assert secret["type"] == "kubernetes.io/tls"
        assert base64.b64decode(secret["data"]["ca.crt"]) == replicas[0].material.ca_bundle
        clock.advance(days=60)
        await asyncio.gather(*(replica.refresh() for replica in replicas))
        assert len({replica.material.certificate for replica in replicas}) == 1


async def test_a_secret_that_is_there_is_taken_over_and_keeps_what_else_it_has() -> None:
    async with cluster_client() as client:
        secrets = client.resource(SECRETS)
        metadata = {"name": "certs", "labels": {"app": "x"}}
        await secrets.create({"apiVersion": "v1", "kind": "Secret", "metadata": metadata, "data": {"own": "eA=="}})
        await IssuedCertificates(SecretStore(client, "default", "certs"), HOSTS, FixedClock()).refresh()
        secret = await secrets.get("certs")
        assert (secret["metadata"]["labels"], secret["data"]["own"]) == ({"app": "x"}, "eA==")
        assert set(secret["data"]) == {"own", "tls.crt", "tls.key", "ca.crt", "ca.key", "retired.crt"}


async def test_a_replica_follows_what_another_writes_into_the_secret() -> None:
    async with cluster_client() as client, asyncio.TaskGroup() as tasks:
        clock = FixedClock()
        follower, leader = (IssuedCertificates(SecretStore(client, "default", "certs"), HOSTS, clock) for _ in range(2))
        task = tasks.create_task(follower.run())
        await follower.ready()
        changed = asyncio.Event()
        follower.listen(changed.set)
        clock.advance(days=60)
        await leader.refresh()
        await changed.wait()
        assert follower.material == leader.material
        task.cancel()


def configuration(kind: HookKind, *, name: str = "hooks") -> Json:
    """Configuration of another program, with two webhooks."""
    service = {"namespace": "default", "name": "hook"}
    return {
        "apiVersion": "admissionregistration.k8s.io/v1",
        "kind": kind.value,
        "metadata": {"name": name},
        "webhooks": [
            {
                "name": f"{one}.example.com",
                "admissionReviewVersions": ["v1"],
                "sideEffects": "None",
                "clientConfig": {"service": {**service, "path": f"/{one}"}},
                "rules": [],
            }
            for one in ("a", "b")
        ],
    }


API_SERVICE = {
    "apiVersion": "apiregistration.k8s.io/v1",
    "kind": "APIService",
    "metadata": {"name": "v1.agg.example.com"},
    "spec": {
        "group": "agg.example.com",
        "version": "v1",
        "groupPriorityMinimum": 1000,
        "versionPriority": 15,
        "service": {"namespace": "default", "name": "hook"},
    },
}


def converted_crd() -> Json:
    """CRD of networks with a conversion that another program configured."""
    crd = crd_of(Network, NetworkV2)
    config = {"url": "https://127.0.0.1:1/convert"}
    webhook = {"clientConfig": config, "conversionReviewVersions": ["v1"]}
    crd["spec"]["conversion"] = {"strategy": "Webhook", "webhook": webhook}
    return crd


@asynccontextmanager
async def injecting(client: Client, *targets: InjectionTarget) -> AsyncIterator[IssuedCertificates]:
    """Keep caBundles as long as the block lasts."""
    source = IssuedCertificates(MemoryCertificates(), HOSTS, FixedClock())
    await source.refresh()
    injector = CaBundleInjector(client, source, targets)
    task = asyncio.create_task(injector.run())
    await injector.settled()
    try:
        yield source
    finally:
        task.cancel()
        await asyncio.wait({task})


@pytest.mark.parametrize("kind", HookKind, ids=lambda kind: kind.verb)
async def test_every_webhook_of_a_configuration_gets_the_bundle_and_keeps_it(kind: HookKind) -> None:
    async with cluster_client() as client:
        resource = client.resource(kind.info)
        await resource.create(configuration(kind))
        async with injecting(client, WebhookConfigurationTarget(kind, "hooks")) as source:
            found = await resource.get("hooks")
            assert [each["clientConfig"]["caBundle"] for each in found["webhooks"]] == [bundle(source)] * 2
            await resource.update({**found, "webhooks": configuration(kind)["webhooks"]})
            both = json_path(".webhooks[0].clientConfig.caBundle", bundle(source)) & json_path(
                ".webhooks[1].clientConfig.caBundle", bundle(source)
            )
            await wait_for(resource, "hooks", both, timeout_s=WITHIN_S)


async def test_an_object_that_comes_later_gets_the_bundle_and_a_new_one_when_it_changes() -> None:
    kind = HookKind.VALIDATING
    async with cluster_client() as client:
        resource = client.resource(kind.info)
        async with injecting(client, WebhookConfigurationTarget(kind, "hooks")) as source:
            await resource.create(configuration(kind))
            path = ".webhooks[1].clientConfig.caBundle"
            await wait_for(resource, "hooks", json_path(path, bundle(source)), timeout_s=WITHIN_S)


async def test_an_injected_bundle_is_not_written_again() -> None:
    kind = HookKind.MUTATING
    async with cluster_client() as client:
        resource = client.resource(kind.info)
        await resource.create(configuration(kind))
        async with injecting(client, WebhookConfigurationTarget(kind, "hooks")) as source:
            before = await resource.get("hooks")
            labelled = await resource.patch("hooks", MergePatch({"metadata": {"labels": {"a": "b"}}}))
            injector = CaBundleInjector(client, source, [WebhookConfigurationTarget(kind, "hooks")])
            task = asyncio.create_task(injector.run())
            await injector.settled()
            after = await resource.get("hooks")
            task.cancel()
            await asyncio.wait({task})
        assert after["metadata"]["resourceVersion"] == labelled["metadata"]["resourceVersion"]
        assert after["webhooks"] == before["webhooks"]


async def test_a_replica_that_is_behind_does_not_put_the_old_bundle_back() -> None:
    kind = HookKind.VALIDATING
    clock, store = FixedClock(), MemoryCertificates()
    follower, leader = (IssuedCertificates(store, HOSTS, clock) for _ in range(2))
    async with cluster_client() as client, asyncio.TaskGroup() as tasks:
        resource = client.resource(kind.info)
        await resource.create(configuration(kind))
        await follower.refresh()
        injector = CaBundleInjector(client, follower, [WebhookConfigurationTarget(kind, "hooks")])
        task = tasks.create_task(injector.run())
        await injector.settled()

        clock.advance(days=3650 - 365)
        await leader.refresh()
        assert leader.material.ca_bundle != follower.material.ca_bundle
        caught_up = asyncio.Event()
        follower.listen(caught_up.set)
        patch = WebhookConfigurationTarget(kind, "hooks").patch(await resource.get("hooks"), bundle(leader))
        assert patch is not None
        written = await resource.patch("hooks", patch)
        await caught_up.wait()
        assert follower.material == leader.material
        assert await resource.get("hooks") == written
        task.cancel()


async def test_crds_and_api_services_get_the_bundle() -> None:
    async with cluster_client() as client:
        await client.resource(API_SERVICES).create(API_SERVICE)
        await client.resource(CRDS).create(converted_crd())
        async with injecting(
            client, ConversionTarget(CRD_NAME), ApiServiceTarget("v1.agg.example.com"), ApiServiceTarget("v1.")
        ) as source:
            crd = await client.resource(CRDS).get(CRD_NAME)
            config = crd["spec"]["conversion"]["webhook"]["clientConfig"]
            assert config == {"url": "https://127.0.0.1:1/convert", "caBundle": bundle(source)}
            service = await client.resource(API_SERVICES).get("v1.agg.example.com")
            assert service["spec"]["caBundle"] == bundle(source)


def server_in(
    client: Client, options: WebhookOptions, *, clock: FixedClock | None = None, store: MemoryCertificates | None = None
) -> WebhookServer:
    """A webhook server of a manager in the cluster."""
    manager = Manager(client, ManagerOptions(clock=clock) if clock else ManagerOptions())
    return WebhookServer(manager, store or MemoryCertificates(), options)


def with_hooks(client: Client, store: MemoryCertificates) -> WebhookServer:
    """A server of two webhooks that makes its configurations itself."""
    service = ServiceReference("default", "hook")
    options = WebhookOptions(host="127.0.0.1", port=0, service=service, ensure_configurations="networks")
    server = server_in(client, options, store=store)

    @server.mutating(Network, failure_policy="Ignore", reinvocation_policy="IfNeeded")
    def fill_in(obj: Network) -> None:
        """Nothing."""

    @server.validating(Network, subresources=["status"], match_conditions=[{"name": "a", "expression": "true"}])
    class Check(Validator[Network]):
        def on_delete(self, obj: Network) -> Findings:
            return None

    return server


async def test_configurations_are_made_of_what_is_registered_and_made_again_when_deleted() -> None:
    store = MemoryCertificates()
    async with cluster_client() as client:
        server = with_hooks(client, store)
        async with running(server):
            validating = client.resource(HookKind.VALIDATING.info)
            made = await validating.get("networks")
            (hook,) = made["webhooks"]
            assert hook["name"] == "validate.network.v1.net.example.com"
            assert hook["clientConfig"] == {
                "service": {
                    "namespace": "default",
                    "name": "hook",
                    "port": 443,
                    "path": "/validate-net-example-com-v1-network",
                },
                "caBundle": bundle(server.certificates),
            }
            (rule,) = hook["rules"]
            assert (rule["operations"], rule["resources"]) == (
                ["CREATE", "UPDATE", "DELETE"],
                ["networks", "networks/status"],
            )
            (mutating,) = (await client.resource(HookKind.MUTATING.info).get("networks"))["webhooks"]
            assert (mutating["failurePolicy"], mutating["reinvocationPolicy"]) == ("Ignore", "IfNeeded")

            await validating.delete("networks")
            again = await wait_for(validating, "networks", exists(), timeout_s=WITHIN_S)
            assert again is not None
            assert again["webhooks"] == made["webhooks"]
        async with running(with_hooks(client, store)):
            unchanged = await validating.get("networks")
            assert unchanged["metadata"]["resourceVersion"] == again["metadata"]["resourceVersion"]


async def test_a_configuration_of_a_manifest_gets_the_bundle_and_keeps_its_rules() -> None:
    store = MemoryCertificates()
    async with cluster_client() as client:
        server = with_hooks(client, store)
        made = next(each for each in server.installed() if each["kind"] == HookKind.VALIDATING.value)
        (hook,) = made["webhooks"]
        other = {**made, "webhooks": [{**hook, "rules": [{**hook["rules"][0], "operations": ["CREATE"]}]}]}
        validating = client.resource(HookKind.VALIDATING.info)
        await validating.apply(other, field_manager="installer")
        async with running(server):
            found = await wait_for(
                validating, "networks", json_path(".webhooks[0].clientConfig.caBundle", bundle(server.certificates)),
                timeout_s=WITHIN_S,
            )  # fmt: skip
            assert found is not None
            assert found["webhooks"][0]["rules"][0]["operations"] == ["CREATE"]
            changed = {**made, "webhooks": [{**hook, "rules": [{**hook["rules"][0], "operations": ["DELETE"]}]}]}
            again = await validating.apply(changed, field_manager="installer")
            assert again["webhooks"][0]["clientConfig"]["caBundle"] == bundle(server.certificates)


async def test_informers_of_a_manager_find_their_conversion_served() -> None:
    async with cluster_client() as client:
        await client.resource(CRDS).create(converted_crd())
        await wait_for(client.resource(CRDS), CRD_NAME, condition_is("Established"), timeout_s=WITHIN_S)
        spec = {"address": "10.0.0.0", "length": 24}
        stored = {"apiVersion": f"{GROUP}/v2", "kind": "Network", "metadata": {"name": "net"}, "spec": spec}
        await client.resource(NETWORKS_2).create(stored)

        manager = Manager(client)
        options = WebhookOptions(host="127.0.0.1", port=0, ensure_configurations="networks")
        converting(WebhookServer(manager, SecretStore(client, "default", "certs"), options))
        informer = manager.informer_for(Network)
        task = asyncio.create_task(manager.run())
        await informer.synced()
        assert [obj.spec.cidr for obj in informer.lister().list()] == ["10.0.0.0/24"]
        manager.stop()
        await task


@asynccontextmanager
async def conversion_served(
    client: Client, *, clock: FixedClock | None = None, terms: CertificateTerms | None = None
) -> AsyncIterator[WebhookServer]:
    """Networks in two versions, stored as v2, converted by a server that the API server reaches by URL."""
    await client.resource(CRDS).create(converted_crd())
    options = WebhookOptions(
        host="127.0.0.1", port=0, ensure_configurations="networks", terms=terms or CertificateTerms()
    )
    server = server_in(client, options, clock=clock)
    converting(server)
    async with running(server):
        await wait_for(client.resource(CRDS), CRD_NAME, condition_is("Established"), timeout_s=WITHIN_S)
        yield server


async def converts(client: Client) -> None:
    """The API server takes a new conversion over some moments after it is written: wait for that."""
    probe = partial(client.resource(NETWORKS).create, network(), WriteOptions(dry_run=True))
    await retry_on(InternalError, probe, backoff=Backoff(0.01, factor=2.0, steps=10))


async def test_a_kind_is_read_and_written_in_both_versions() -> None:
    async with cluster_client() as client, conversion_served(client):
        await converts(client)
        v1, v2 = client.resource(NETWORKS), client.resource(NETWORKS_2)
        since = ListOptions(resource_version=(await v1.list()).resource_version)
        async with aclosing(v2.watch(since)) as seen_2, aclosing(v1.watch(since)) as seen_1:
            made = await v1.create(network())
            assert made["spec"] == {"cidr": "10.0.0.0/24"}
            stored = await v2.get("net")
            assert stored["spec"] == {"address": "10.0.0.0", "length": 24}
            assert stored["metadata"]["uid"] == made["metadata"]["uid"]

            stored["spec"]["gateway"] = "10.0.0.1"
            await v2.update(stored)
            changed = await v1.patch("net", MergePatch({"spec": {"cidr": "10.1.0.0/16"}}))
            assert changed["spec"]["gateway"] == "10.0.0.1"
            (listed_1,) = (await v1.list()).items
            (listed_2,) = (await v2.list()).items
            assert listed_1["spec"]["cidr"] == "10.1.0.0/16"
            assert listed_2["spec"] == {"address": "10.1.0.0", "length": 16, "gateway": "10.0.0.1"}

            events_1 = [await anext(seen_1) for _ in range(3)]
            events_2 = [await anext(seen_2) for _ in range(3)]
        assert [event.object["spec"]["cidr"] for event in events_1] == ["10.0.0.0/24", "10.0.0.0/24", "10.1.0.0/16"]
        assert [event.object["spec"]["address"] for event in events_2] == ["10.0.0.0", "10.0.0.0", "10.1.0.0"]
        typed = await client.resource(Network).get("net")
        assert typed.spec.cidr == "10.1.0.0/16"


async def test_the_error_of_a_conversion_function_reaches_the_client() -> None:
    async with cluster_client() as client, conversion_served(client):
        await converts(client)
        with pytest.raises(InternalError, match=r"conversion webhook for .* failed: no cidr"):
            await client.resource(NETWORKS).create(network(cidr=""))


async def test_authorities_change_while_the_api_server_goes_on_requesting() -> None:
    terms = CertificateTerms(
        lifetime=10 * DAY, renew_before=3 * DAY, authority_lifetime=40 * DAY, authority_renew_before=20 * DAY
    )
    now = datetime.datetime.now(datetime.UTC)
    clock = FixedClock(now - 21 * DAY)
    async with cluster_client() as client, conversion_served(client, clock=clock, terms=terms) as server:
        networks, crds = client.resource(NETWORKS), client.resource(CRDS)
        shown = set()
        for step, advance in enumerate(({"days": 21, "hours": -2}, {"hours": 2}), 1):
            clock.advance(**advance)
            await server.certificates.refresh()
            if step == 1:
                await converts(client)
            shown.add(server.certificates.material.certificate)
            await networks.create(network(name=f"before-{step}"))
            path = ".spec.conversion.webhook.clientConfig.caBundle"
            await wait_for(crds, CRD_NAME, json_path(path, bundle(server.certificates)), timeout_s=WITHIN_S)
            await networks.create(network(name=f"after-{step}"))
        assert len(shown) == 2
        assert server.certificates.material.ca_bundle.count(b"BEGIN CERTIFICATE") == 2


@pytest.mark.parametrize(
    ("changes", "targets"),
    [
        ({}, {"networks", CRD_NAME}),
        ({"webhook_configurations": "other"}, {"other", CRD_NAME}),
        ({"webhook_configurations": "0"}, {CRD_NAME}),
        ({"webhook_conversions": False}, {"networks"}),
        ({"webhook_configurations": "0", "webhook_conversions": False}, set()),
    ],
    ids=["as in the code", "renamed", "no configurations", "no conversions", "neither"],
)
async def test_an_installation_chooses_its_configurations_and_conversions(
    changes: dict[str, Any], targets: set[str]
) -> None:
    async with cluster_client() as client:
        options = WebhookOptions(port=0, ensure_configurations="networks")
        server = WebhookServer(Manager(client, ManagerOptions(**changes)), MemoryCertificates(), options)
        server.conversion(Network)

        @server.validating(Network)
        def check(new: Network, old: Network | None) -> Findings:
            return None

        assert {each.name for each in server.targets()} == targets
        assert {right.name for right in server.rights()} == targets


@pytest.mark.parametrize(
    ("limits", "selector"),
    [
        ({}, None),
        ({"namespaces": NamespaceSelector("a=b")}, None),
        ({"namespace": "one"}, ["one"]),
        ({"namespaces": ["one", "two"]}, ["one", "two"]),
    ],
    ids=["all namespaces", "by label", "one namespace", "two namespaces"],
)
async def test_webhooks_are_for_the_namespaces_of_the_operator(
    limits: dict[str, Any], selector: list[str] | None
) -> None:
    async with cluster_client() as client:
        options = WebhookOptions(port=0, ensure_configurations="networks")
        server = WebhookServer(Manager(client, ManagerOptions(**limits)), MemoryCertificates(), options)

        @server.validating(Network)
        def check(new: Network, old: Network | None) -> Findings:
            return None

        @server.mutating(Network, namespace_selector={"matchLabels": {"a": "b"}})
        def fill_in(obj: Network) -> None:
            """Do nothing."""

        mutating, validating = (each.configuration["webhooks"][0] for each in server.targets())  # type: ignore[attr-defined]
    name = {"key": "kubernetes.io/metadata.name", "operator": "In", "values": selector}
    assert validating.get("namespaceSelector") == ({"matchExpressions": [name]} if selector else None)
    assert mutating["namespaceSelector"] == {"matchLabels": {"a": "b"}}
