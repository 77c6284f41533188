"""Reports about controllers at work, against a server in this process."""

import asyncio
import json
from typing import Any

from sampan.client.client import Client
from sampan.operator.builder import Builder
from sampan.operator.handlers import for_owner
from sampan.operator.manager import Manager
from sampan.operator.owners.references import set_controller_reference
from sampan.operator.request import Request, Result, TerminalError
from sampan.testing.time.virtual_time import settle
from tests.operator.cluster import CONFIG_MAPS, SECRETS, cluster_client
from tests.operator.manager.frame import running


async def created(client: Client, name: str, kind: str = "ConfigMap", **metadata: Any) -> dict[str, Any]:
    info = CONFIG_MAPS if kind == "ConfigMap" else SECRETS
    namespace = {"name": name, "namespace": "default", **metadata}
    return await client.resource(info).create({"apiVersion": "v1", "kind": kind, "metadata": namespace})


class Reports:
    """A manager with a controller of config maps, and its reports."""

    def __init__(self, client: Client) -> None:
        self.manager = Manager(client)
        self.secrets = self.manager.client.resource(SECRETS)
        self.held = asyncio.Event()
        self.started = asyncio.Event()
        builder = Builder(self.manager).named("maps").for_(CONFIG_MAPS).watches(SECRETS, for_owner(CONFIG_MAPS))
        builder.complete(self.reconcile)

    async def reconcile(self, request: Request) -> Result | None:
        if request.name == "broken":
            raise OSError("the harbour is closed")
        if request.name == "hopeless":
            raise TerminalError("no such harbour")
        if request.name == "held":
            self.started.set()
            await self.held.wait()
        if request.name == "writes":
            secret = {"apiVersion": "v1", "kind": "Secret", "metadata": {"name": "made", "namespace": "default"}}
            await self.secrets.apply(secret, field_manager="test")
        return Result(requeue_after_s=300) if request.name == "later" else None

    def get(self, query: str) -> Any:
        found = self.manager.reports.report(query)
        assert found.code == 200, found.body
        return json.loads(found.body)

    async def of(self, name: str, *, records: int = 1) -> Any:
        for _ in range(500):
            [found] = self.get(f"resource=configmaps&object=default/{name}")["reconciled"] or [{"reconciles": []}]
            if len(found["reconciles"]) >= records:
                return found
            await asyncio.sleep(0.01)
        raise AssertionError(f"{name} has not been reconciled")


async def test_a_failing_object_has_error_attempts_and_next_try() -> None:
    async with cluster_client() as client:
        reports = Reports(client)
        async with running(reports.manager):
            await created(client, "broken")
            found = await reports.of("broken", records=3)
            [last, *_, first] = found["reconciles"]
            assert last["error"] == "OSError: the harbour is closed"
            assert (last["result"], last["attempt"], first["attempt"]) == ("error", len(found["reconciles"]), 1)
            assert found["failures"] == last["attempt"]
            assert found["nextDue"] is not None
            assert last["causes"][0]["event"] == "retry"
            [overview] = [each for each in reports.get("")["controllers"] if each["name"] == "maps"]
            assert (overview["failing"], overview["workers"]) == (1, 1)
            assert overview["errorsPerSecond"] > 0
            assert reports.get("controller=maps")["objects"][0]["object"] == "default/broken"


async def test_a_terminal_error_has_no_next_try() -> None:
    async with cluster_client() as client:
        reports = Reports(client)
        async with running(reports.manager):
            await created(client, "hopeless")
            found = await reports.of("hopeless")
            assert found["nextDue"] is None
            assert found["reconciles"][0]["result"] == "terminal-error"


async def test_merged_events_are_listed_with_object_event_and_handler() -> None:
    async with cluster_client() as client:
        reports = Reports(client)
        async with running(reports.manager):
            owner = await created(client, "held")
            await reports.started.wait()
            for name in ("one", "two"):
                child: dict[str, Any] = {"metadata": {"name": name, "namespace": "default"}}
                set_controller_reference(owner, child)
                await created(client, name, "Secret", ownerReferences=child["metadata"]["ownerReferences"])
            # The cache has both Secrets, and then their events are in the queue.
            newest = (await client.resource(SECRETS).list()).resource_version
            [informer] = [each for each in reports.manager.informers.informers if each.object_type.info == SECRETS]
            await informer.at_least(newest, timeout_s=30)
            await settle()
            reports.held.set()
            found = await reports.of("held", records=2)
            causes = [
                (each["event"], each["resource"], each["object"], each["handler"])
                for each in found["reconciles"][0]["causes"]
            ]
            assert causes == [
                ("create", "secrets", "default/one", "for_owner"),
                ("create", "secrets", "default/two", "for_owner"),
            ]


async def test_writes_link_a_revision_to_its_reconcile() -> None:
    async with cluster_client() as client:
        reports = Reports(client)
        async with running(reports.manager):
            await created(client, "writes")
            found = await reports.of("writes")
            [write] = found["reconciles"][0]["writes"]
            secret = await client.resource(SECRETS).get("made")
            assert write["resourceVersion"] == secret["metadata"]["resourceVersion"]
            [writer] = reports.get("resource=secrets&object=default/made")["written"]
            assert (writer["controller"], writer["resource"], writer["object"]) == (
                "maps",
                "configmaps",
                "default/writes",
            )
            assert writer["reconcile"]["id"] == found["reconciles"][0]["id"]


async def test_a_requeue_is_listed_with_its_time() -> None:
    async with cluster_client() as client:
        reports = Reports(client)
        async with running(reports.manager):
            await created(client, "later")
            found = await reports.of("later")
            assert (found["reconciles"][0]["result"], found["reconciles"][0]["nextSeconds"]) == ("requeue-after", 300)
            assert found["nextDue"] > found["reconciles"][0]["started"]


async def test_a_report_that_has_not_changed_is_not_sent_again() -> None:
    async with cluster_client() as client:
        reports = Reports(client).manager.reports
        first = reports.report("")
        assert reports.report("", first.tag).code == 304


async def test_invalid_queries_are_refused() -> None:
    async with cluster_client() as client:
        reports = Reports(client).manager.reports
        assert reports.report("controller=maps&limit=0").code == 400
        assert reports.report("controller=maps&limit=" + "9" * 5000).code == 400
        assert reports.report("controller=none").code == 404
        assert json.loads(reports.report("resource=configmaps&object=").body)["reconciled"] == []
