"""Users pause the reconciliation of an object, resume it, and request a reconcile, by annotations."""

import asyncio
import json
from collections.abc import AsyncIterator, Callable
from contextlib import asynccontextmanager
from typing import Any

import pytest

from sampan.client import Client, MergePatch
from sampan.informer.ref import Ref
from sampan.operator import Builder, GenerationChanged, Manager, ManagerOptions, Request, Result, for_object
from sampan.operator.pausing import PAUSED, REQUESTED, cause_of, is_paused
from sampan.operator.queue import NO_CAUSES, CauseOrigin
from tests.operator.cluster import CONFIG_MAPS, cluster_client
from tests.operator.manager.frame import running
from tests.operator.refs import ref

ORIGIN = CauseOrigin("networks")
FINALIZER = "example.com/hold"


async def until(condition: Callable[[], bool], reconciled: list[str]) -> None:
    for _ in range(3000):
        if condition():
            return
        await asyncio.sleep(0.01)
    raise AssertionError(f"the condition did not become true: {reconciled}")


class Maps:
    """A manager with a controller of ConfigMaps. It gets no event of changed annotations but those of users."""

    def __init__(self, client: Client, options: ManagerOptions, *, pausable: bool) -> None:
        self.direct = client.resource(CONFIG_MAPS, namespace="default")
        self.manager = Manager(client, options)
        self.reconciled: list[str] = []
        self.held = asyncio.Event()
        self.held.set()
        builder = Builder(self.manager).for_(CONFIG_MAPS, predicates=[GenerationChanged()]).named("maps")
        self.controller = builder.with_options(pausable=pausable).complete(self.reconcile)

    async def reconcile(self, request: Request) -> Result | None:
        if request.namespace == "default" and request.name != "kube-root-ca.crt":
            self.reconciled.append(request.name)
            await self.held.wait()
            if request.name == "often":
                return Result(requeue_after_s=0.01)
        return None

    async def create(self, name: str, **metadata: Any) -> None:
        await self.direct.create({"metadata": {"name": name, "namespace": "default", **metadata}})

    async def annotate(self, name: str, annotation: str, value: str | None) -> None:
        await self.direct.patch(name, MergePatch({"metadata": {"annotations": {annotation: value}}}))

    async def until(self, condition: Callable[[], bool]) -> None:
        await until(condition, self.reconciled)

    def report(self, name: str) -> Any:
        """Return what the report shows of an object; None if it does not know it."""
        found = self.manager.reports.report(f"resource=configmaps&object=default/{name}")
        [shown] = json.loads(found.body)["reconciled"] or [None]
        return shown

    async def until_paused(self, name: str) -> None:
        """Wait until the operator has the annotation, and nothing is queued."""
        await self.until(lambda: self.controller.is_paused(Request("default", name)) and not len(self.controller.queue))


@asynccontextmanager
async def maps(
    client: Client | None = None, options: ManagerOptions = ManagerOptions(), *, pausable: bool = True
) -> AsyncIterator[Maps]:
    async with cluster_client() as own:
        made = Maps(client or own, options, pausable=pausable)
        async with running(made.manager):
            yield made


async def test_a_paused_object_is_reconciled_after_it_is_resumed() -> None:
    async with maps() as here:
        await here.create("a")
        await here.until(lambda: here.reconciled == ["a"])
        await here.annotate("a", PAUSED, "true")
        await here.until_paused("a")
        here.controller.queue.add(Request("default", "a"))  # as a timer, a resync, or the change of an owned object
        await here.create("b")
        await here.until(lambda: "b" in here.reconciled)
        assert here.reconciled == ["a", "b"]
        await here.annotate("a", PAUSED, None)
        await here.until(lambda: here.reconciled == ["a", "b", "a"])
        await here.until(lambda: bool(here.report("a")["reconciles"][1:]))
        assert [each["event"] for each in here.report("a")["reconciles"][0]["causes"]] == ["resume"]


async def test_a_timer_does_not_reconcile_a_paused_object() -> None:
    async with maps() as here:
        await here.create("often")
        await here.until(lambda: len(here.reconciled) > 2)
        await here.annotate("often", PAUSED, "true")
        await here.until(lambda: here.controller.is_paused(Request("default", "often")))
        await here.until(lambda: here.report("often")["nextDue"] is None and not here.report("often")["runningSince"])
        assert not here.controller.queue.waiting


async def test_a_request_leads_to_one_reconcile_with_its_cause() -> None:
    async with maps() as here:
        await here.create("a")
        await here.until(lambda: here.reconciled == ["a"])
        await here.annotate("a", REQUESTED, "1")
        await here.until(lambda: here.report("a")["total"] == 2)
        [cause] = here.report("a")["reconciles"][0]["causes"]
        assert (cause["event"], cause["object"]) == ("request", "default/a")
        assert cause["predicates"] == []  # it needs to pass none
        assert here.reconciled == ["a", "a"]


async def test_a_paused_object_stays_paused_after_a_restart_and_during_its_deletion() -> None:
    async with cluster_client() as client:
        direct = client.resource(CONFIG_MAPS, namespace="default")
        metadata = {"name": "a", "annotations": {PAUSED: "true"}, "finalizers": [FINALIZER]}
        await direct.create({"metadata": metadata})
        async with maps(client) as here:
            await here.until_paused("a")
            await direct.delete("a")
            await here.create("b")
            await here.until(lambda: "b" in here.reconciled)
            assert (await direct.get("a"))["metadata"]["deletionTimestamp"]
            shown = here.report("a")
            assert (shown["paused"], shown["pausable"], shown["reconciles"]) == (True, True, [])
            assert here.reconciled == ["b"]
            await here.annotate("a", PAUSED, None)
            await here.until(lambda: here.reconciled == ["b", "a"])


async def test_the_report_shows_that_a_paused_object_is_still_reconciled() -> None:
    async with maps() as here:
        here.held.clear()
        await here.create("a")
        await here.until(lambda: here.reconciled == ["a"])
        await here.annotate("a", PAUSED, "true")
        await here.until(lambda: here.controller.is_paused(Request("default", "a")))
        tag = here.manager.reports.report("").tag
        assert here.report("a")["runningSince"] is not None
        here.held.set()
        await here.until(lambda: here.report("a")["runningSince"] is None)
        shown = here.report("a")
        assert (shown["paused"], shown["total"]) == (True, 1)
        assert here.manager.reports.report("").tag != tag


@pytest.mark.parametrize(
    ("options", "pausable"),
    [(ManagerOptions(), False), (ManagerOptions(pausable=False), True)],
    ids=["controller", "manager"],
)
async def test_an_operator_can_ignore_the_annotations(options: ManagerOptions, pausable: bool) -> None:
    async with maps(options=options, pausable=pausable) as here:
        await here.create("a", annotations={PAUSED: "true"})
        await here.until(lambda: bool(here.report("a")))
        assert (here.report("a")["paused"], here.report("a")["pausable"]) == (False, False)


# --- annotations


def annotated(version: int = 1, **values: str) -> Ref[Any]:
    names = {"paused": PAUSED, "requested": REQUESTED}
    return ref(version=version, annotations={names[name]: value for name, value in values.items()})


@pytest.mark.parametrize(
    ("found", "paused"),
    [
        (ref(), False),
        (annotated(paused="true"), True),
        (annotated(paused="2026-01-01T00:00:00Z"), True),
        (annotated(paused="false"), False),
        (annotated(paused=""), False),
        (ref(spec={"text": f'"{PAUSED}'}), False),
    ],
    ids=["none", "true", "time", "false", "empty", "text in the spec"],
)
def test_any_value_but_false_pauses(found: Ref[Any], paused: bool) -> None:
    assert is_paused(found) is paused


@pytest.mark.parametrize(
    ("old", "new", "event"),
    [
        (ref(), ref(version=2), ""),
        (ref(), annotated(2, paused="true"), "pause"),
        (annotated(paused="true"), ref(version=2), "resume"),
        (annotated(paused="true"), annotated(2, paused="yes"), ""),
        (ref(), annotated(2, requested="1"), "request"),
        (annotated(requested="1"), annotated(2, requested="2"), "request"),
        (annotated(requested="1"), annotated(2, requested="1"), ""),
        (annotated(requested="1"), ref(version=2), ""),
        (annotated(paused="true"), annotated(2, paused="true", requested="1"), ""),
        (annotated(paused="true"), annotated(2, requested="1"), "resume"),
    ],
    ids=["none", "pause", "resume", "other value", "first", "next", "same", "removed", "while paused", "both"],
)
def test_only_changes_of_the_annotations_are_causes(old: Ref[Any], new: Ref[Any], event: str) -> None:
    cause = cause_of(old, new, ORIGIN)
    assert ("" if cause is None else cause.event) == event
    if cause is not None:
        assert NO_CAUSES.merged(cause).listed == (cause,)
        assert (cause.origin, cause.key, cause.resource_version) == (ORIGIN, "default/a", "2")


async def test_a_controller_without_for_is_paused_by_the_objects_that_it_watches_for_themselves() -> None:
    async with cluster_client() as client:
        manager = Manager(client)
        reconciled: list[str] = []

        async def reconcile(request: Request) -> None:
            reconciled.append(request.key)

        controller = Builder(manager).watches(CONFIG_MAPS, for_object).named("maps").complete(reconcile)
        own = client.resource(CONFIG_MAPS, namespace="default")
        paused = {"name": "a", "namespace": "default", "annotations": {PAUSED: "true"}}
        await own.create({"metadata": paused})
        async with running(manager):
            await manager.elected.wait()
            await until(lambda: not (len(controller.queue) or controller.active), reconciled)
            assert controller.is_paused(Request("default", "a"))
            assert "default/a" not in reconciled
            await own.patch("a", MergePatch({"metadata": {"annotations": {PAUSED: None}}}))
            await until(lambda: "default/a" in reconciled, reconciled)


async def test_reports_name_the_reason_for_which_an_object_cannot_be_paused() -> None:
    async with cluster_client() as client:
        manager = Manager(client)

        async def reconcile(request: Request) -> None:
            pass

        async def to_one(ref: Ref[Any]) -> list[Request]:
            return [Request("default", "a")]

        mapped = Builder(manager).watches(CONFIG_MAPS, to_one).named("mapped").complete(reconcile)
        off = Builder(manager).for_(CONFIG_MAPS).named("off").with_options(pausable=False).complete(reconcile)
        on = Builder(manager).for_(CONFIG_MAPS).named("on").complete(reconcile)
        await client.resource(CONFIG_MAPS, namespace="default").create({"metadata": {"name": "a"}})
        async with running(manager):
            keys = [(each.name, Request("default", "a")) for each in (mapped, off, on)]
            await until(lambda: all(map(manager.history.of, keys)), [])
        found = json.loads(manager.reports.report("resource=configmaps&object=default/a").body)["reconciled"]
        assert {each["controller"]: each["unpausable"] for each in found} == {"mapped": "kind", "off": "off", "on": ""}
