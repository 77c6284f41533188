"""An operator as a whole, against a server in this process."""

import asyncio
import contextlib
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager

from sampan.client.client import Client
from sampan.client.conditions import deleted
from sampan.client.errors import NotFound
from sampan.client.patch import MergePatch
from sampan.client.wait import wait_for
from sampan.core.gvk import GroupVersionResource
from sampan.informer.shared_informer import SharedInformer
from sampan.operator.builder import Builder
from sampan.operator.finalizers import Finalizing, finalizer
from sampan.operator.handlers import for_object
from sampan.operator.leader_election import LeaderElectionConfig
from sampan.operator.manager import Group, Manager, ManagerOptions
from sampan.operator.owners.references import set_controller_reference
from sampan.operator.predicates import label_selector
from sampan.operator.request import Request, Result
from sampan.operator.source import KindSource
from sampan.resource import Object, ResourceInfo, dynamic
from tests.operator.cluster import CONFIG_MAPS, SECRETS, cluster_client

NAMESPACES = ResourceInfo(GroupVersionResource("", "v1", "namespaces"), "Namespace", namespaced=False)
NAME = "example.com/copies"


class Copier:
    """Makes a secret of each config map that is labelled so."""

    def __init__(self, manager: Manager) -> None:
        self._maps = manager.client.resource(CONFIG_MAPS)
        self._secrets = manager.client.resource(SECRETS)
        self.creates: list[str] = []
        self.undone: list[str] = []

    async def reconcile(self, request: Request) -> Result | None:
        obj = await self._maps.find(request)
        if obj is None:
            return None
        return await finalizer(self._maps, obj, NAME, Finalizing(self.apply, self.clean_up))

    async def apply(self, obj: Object) -> Result | None:
        name = obj["metadata"]["name"]
        try:
            secret = await self._secrets.get(name)
        except NotFound:
            self.creates.append(name)
            secret = {"apiVersion": "v1", "kind": "Secret", "metadata": {"name": name}, "stringData": obj["data"]}
            secret["metadata"]["namespace"] = obj["metadata"]["namespace"]
            set_controller_reference(obj, secret)
            await self._secrets.create(secret)
        return None

    async def clean_up(self, obj: Object) -> Result | None:
        self.undone.append(obj["metadata"]["name"])
        return None


class Bench:
    """A manager with the copier."""

    def __init__(self, client: Client, options: ManagerOptions) -> None:
        self.client = client
        self.manager = Manager(client, options)
        self.copier = Copier(self.manager)
        (
            Builder(self.manager)
            .for_(CONFIG_MAPS, predicates=[label_selector("copy=yes")])
            .owns(SECRETS)
            .with_options(max_concurrent_reconciles=4, warm_up=True)
            .complete(self.copier)
        )
        self.task = asyncio.create_task(self.manager.run())

    async def stop(self) -> None:
        self.manager.stop()
        await self.task

    async def create(self, name: str) -> None:
        metadata = {"name": name, "labels": {"copy": "yes"}}
        obj = {"apiVersion": "v1", "kind": "ConfigMap", "metadata": metadata, "data": {"key": "value"}}
        await self.client.resource(CONFIG_MAPS).create(obj)

    async def until_secret(self, name: str, *, other_than: str = "") -> str:
        """Wait for the secret as the server has it; gives its uid."""

        def is_there(secret: Object | None) -> bool:
            return secret is not None and secret["metadata"]["uid"] != other_than

        secret = await wait_for(self.client.resource(SECRETS), name, is_there, timeout_s=60)
        assert secret is not None
        uid: str = secret["metadata"]["uid"]
        return uid


@asynccontextmanager
async def operator(options: ManagerOptions = ManagerOptions()) -> AsyncIterator[Bench]:
    async with cluster_client() as client:
        bench = Bench(client, options)
        yield bench
        with contextlib.suppress(asyncio.CancelledError):
            await bench.stop()


async def test_desired_objects_become_actual_ones_once_each() -> None:
    async with operator() as bench:
        await bench.create("before")
        await bench.until_secret("before")
        names = [f"a{number}" for number in range(30)]
        await asyncio.gather(*(bench.create(name) for name in names))
        for name in names:
            await bench.until_secret(name)
        assert sorted(bench.copier.creates) == sorted(["before", *names])


async def test_the_metrics_report_of_controllers_queues_and_informers() -> None:
    async with operator() as bench:
        await bench.create("a")
        await bench.until_secret("a")

        def value(name: str, /, **labels: str) -> float:
            found = bench.manager.registry.get_sample_value(name, labels)
            assert found is not None, name
            return found

        assert value("informer_synced", resource="configmaps") == 1
        assert value("informer_objects", resource="configmaps") >= 1
        assert value("reflector_events_total", resource="configmaps") >= 1
        assert value("controller_runtime_max_concurrent_reconciles", controller="configmap") == 4
        assert value("workqueue_adds_total", controller="configmap", name="configmap") >= 1


async def test_an_owned_object_that_is_deleted_is_made_again() -> None:
    async with operator() as bench:
        await bench.create("a")
        uid = await bench.until_secret("a")
        await bench.client.resource(SECRETS).delete("a")
        await bench.until_secret("a", other_than=uid)
        assert bench.copier.creates == ["a", "a"]


async def test_a_deleted_object_is_cleaned_up_before_it_goes() -> None:
    async with operator() as bench:
        maps = bench.client.resource(CONFIG_MAPS)
        await bench.create("a")
        await bench.until_secret("a")
        await maps.delete("a")
        await wait_for(maps, "a", deleted(), timeout_s=60)
        assert bench.copier.undone == ["a"]


async def test_objects_that_the_predicate_drops_are_left_alone() -> None:
    async with operator() as bench:
        metadata = {"name": "plain"}
        maps = bench.client.resource(CONFIG_MAPS)
        await maps.create({"apiVersion": "v1", "kind": "ConfigMap", "metadata": metadata, "data": {"k": "v"}})
        await bench.create("a")
        await bench.until_secret("a")
        assert bench.copier.creates == ["a"]
        await maps.patch("plain", MergePatch({"metadata": {"labels": {"copy": "yes"}}}))
        await bench.until_secret("plain")


async def test_a_controller_may_come_while_the_manager_runs() -> None:
    async with operator() as bench:
        await bench.manager.elected.wait()
        observed = asyncio.Event()

        async def reconcile(request: Request) -> None:
            if request.name == "s":
                assert await bench.manager.client.resource(NAMESPACES).find(request) is not None
                observed.set()

        Builder(bench.manager).for_(NAMESPACES).complete(reconcile)
        await bench.client.resource(NAMESPACES).create(
            {"apiVersion": "v1", "kind": "Namespace", "metadata": {"name": "s"}}
        )
        await observed.wait()


async def test_a_standby_takes_over_with_warm_caches_when_the_leader_ends() -> None:
    def options(identity: str) -> ManagerOptions:
        election = LeaderElectionConfig(
            "copier", "default", identity, lease_duration_s=3.0, renew_deadline_s=2.0, retry_period_s=0.05
        )
        return ManagerOptions(leader_election=election)

    async with operator(options("first")) as first:
        await first.manager.elected.wait()
        second = Bench(first.client, options("second"))
        await first.create("a")
        await first.until_secret("a")
        for informer in second.manager.informers.informers:
            await informer.synced()
        assert not second.manager.elected.is_set()
        assert second.copier.creates == []
        await first.stop()
        await second.manager.elected.wait()
        await second.create("b")
        await second.until_secret("b")
        assert (first.copier.creates, second.copier.creates) == (["a"], ["b"])
        await second.stop()


async def test_a_controller_may_look_at_two_clusters() -> None:
    async with operator() as here, cluster_client() as there:
        observed = asyncio.Event()

        async def reconcile(request: Request) -> None:
            if request.name == "elsewhere":
                observed.set()

        informer = SharedInformer(there.resource(SECRETS, namespace="").list_watch(), dynamic(SECRETS))
        here.manager.add(informer, group=Group.CACHES)
        Builder(here.manager).watches_source(KindSource(informer, for_object)).named("two").complete(reconcile)
        secret = {"apiVersion": "v1", "kind": "Secret", "metadata": {"name": "elsewhere"}, "stringData": {"a": "b"}}
        await there.resource(SECRETS).create(secret)
        await observed.wait()
