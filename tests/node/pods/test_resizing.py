"""Changes of the resources of running containers."""

from dataclasses import dataclass, field, replace
from typing import Any

import msgspec
import orjson

from sampan.node.admission.checks import LabelsAndTaints, NodeAdmission, PodRejection
from sampan.node.node_home import NodeHome
from sampan.node.pods.plan import PodActions, plan
from sampan.node.pods.resizing import Resizes
from sampan.node.pods.status import Observation, difference, pod_status
from sampan.node.runtime import ContainerRecord
from sampan.node.views.pod import Pod
from tests.node.scripted import EPOCH, RecordedEvents, ScriptedRuntime, detailed


@dataclass
class Node:
    """Node with one Pod, whose two containers run."""

    runtime: ScriptedRuntime = field(default_factory=ScriptedRuntime)
    events: RecordedEvents = field(default_factory=RecordedEvents)
    refusal: PodRejection | None = None
    counts: dict[str, int] = field(default_factory=lambda: {"a": 0, "b": 0})

    def __post_init__(self) -> None:
        self.home = NodeHome(("10.0.0.1",), self.runtime, {"cpu": "4", "memory": "4Gi"})
        self.resizes = Resizes(self.events)  # type: ignore[arg-type]  # what it calls of the events

    @property
    def records(self) -> dict[str, ContainerRecord]:
        return {
            name: ContainerRecord(name, f"scripted://{name}", "image", count, EPOCH)
            for name, count in self.counts.items()
        }

    def allocate(self, pod: Pod) -> Pod:
        return self.resizes.allocate(pod, lambda pod: self.refusal)

    async def apply(self, pod: Pod) -> list[str]:
        return list(await self.resizes.apply(self.allocate(pod), self.home, self.records))

    @property
    def conditions(self) -> list[tuple[str, str]]:
        return [(each.type, each.reason) for each in self.resizes.conditions("uid")]

    @property
    def reported(self) -> list[str]:
        return [reason for _, reason, _, _ in self.events.recorded]


def pod(a: str = "1", b: str = "1", *, policy: str = "NotRequired", **status: Any) -> Pod:
    """Return a Pod whose containers request this much CPU."""
    policies = [{"resourceName": "cpu", "restartPolicy": policy}]
    made = detailed(
        {"name": "a", "resources": {"requests": {"cpu": a}}, "resizePolicy": policies},
        {"name": "b", "resources": {"requests": {"cpu": b}}},
        metadata={"uid": "uid", "generation": 2},
    )
    return msgspec.structs.replace(made, status=status)


async def test_changed_containers_get_their_new_resources_and_events_report_it() -> None:
    node = Node()
    await node.apply(pod())
    assert node.runtime.resized == []
    assert await node.apply(pod(a="2")) == []
    assert node.runtime.resized == [("a",)]
    assert node.conditions == []
    assert node.reported == ["ResizeStarted", "ResizeCompleted"]
    assert node.resizes.resources("uid")["a"].requests == {"cpu": "2"}  # type: ignore[index]


async def test_equal_quantities_are_no_resize() -> None:
    node = Node()
    await node.apply(pod(a="1"))
    await node.apply(pod(a="1000m"))
    assert (node.runtime.resized, node.reported) == ([], [])


async def test_without_room_containers_keep_what_they_have() -> None:
    node = Node()
    await node.apply(pod())
    node.refusal = PodRejection("Deferred", "no room")
    held = node.allocate(pod(a="3"))
    assert held.spec.container("a").resources.requests == {"cpu": "1"}
    assert node.conditions == [("PodResizePending", "Deferred")]
    assert node.resizes.deferred() == ["uid"]
    node.allocate(pod(a="3"))
    assert node.reported == ["ResizeDeferred"]
    node.refusal = None
    await node.apply(pod(a="3"))
    assert (node.runtime.resized, node.conditions) == ([("a",)], [])


async def test_taking_a_pending_resize_back_ends_it() -> None:
    node = Node()
    await node.apply(pod())
    node.refusal = PodRejection("Infeasible", "too much")
    node.allocate(pod(a="99"))
    await node.apply(pod())
    assert (node.conditions, node.runtime.resized) == ([], [])


async def test_an_error_of_the_runtime_is_reported_once_and_tried_again() -> None:
    node = Node()
    await node.apply(pod())
    node.runtime.resize_error = "busy"
    await node.apply(pod(a="2"))
    await node.apply(pod(a="2"))
    assert node.conditions == [("PodResizeInProgress", "Error")]
    assert node.reported == ["ResizeStarted", "ResizeError"]
    assert node.resizes.wake_s("uid") == 10.0
    node.runtime.resize_error = ""
    await node.apply(pod(a="2"))
    assert (node.conditions, node.reported[-1]) == ([], "ResizeCompleted")


async def test_a_container_restarts_if_its_policy_is_reported_whatever_the_restart_policy() -> None:
    node = Node()
    await node.apply(pod(policy="RestartContainer"))
    changed = pod(a="2", policy="RestartContainer")
    changed.spec.restart_policy = "Never"
    assert await node.apply(changed) == ["a"]
    ended = replace(node.records["a"], finished_at=EPOCH, exit_code=0)
    records = node.resizes.marked("uid", {**node.records, "a": ended})
    assert [(each.name, count) for each, count in plan(changed, records, EPOCH).start] == [("a", 1)]
    node.counts["a"] = 1
    assert await node.apply(changed) == []
    assert (node.conditions, node.reported[-1]) == ([], "ResizeCompleted")
    assert node.resizes.marked("uid", node.records) == node.records


async def test_a_restarted_agent_continues_a_resize_from_the_status() -> None:
    node = Node()
    reported = [{"name": "a", "resources": {"requests": {"cpu": "1"}}}]
    await node.apply(pod(a="2", containerStatuses=reported))
    assert node.runtime.resized == [("a",)]


async def test_the_status_has_what_containers_have_and_drops_old_conditions() -> None:
    node = Node()
    await node.apply(pod())
    node.refusal = PodRejection("Deferred", "no room")
    desired = pod(a="3", conditions=[{"type": "PodResizeInProgress", "status": "True"}])
    held = node.allocate(desired)
    observed = Observation(
        node.records,
        PodActions(initialized=True),
        ("10.0.0.1",),
        (),
        EPOCH,
        reports_resources=True,
        resources=node.resizes.resources("uid") or {},
        allocated=node.resizes.allocated("uid"),
        resizes=node.resizes.conditions("uid"),
    )
    change = difference(held, pod_status(held, observed))
    first = change["containerStatuses"][0]
    assert (first["resources"], first["allocatedResources"]) == ({"requests": {"cpu": "1"}}, {"cpu": "1"})
    assert {"$patch": "delete", "type": "PodResizeInProgress"} in change["conditions"]
    pending = next(each for each in change["conditions"] if each.get("type") == "PodResizePending")
    assert (pending["reason"], pending["message"], pending["observedGeneration"]) == ("Deferred", "no room", 2)


def test_a_node_defers_what_it_could_run_and_refuses_what_it_never_can() -> None:
    home = NodeHome(("10.0.0.1",), ScriptedRuntime(), {"cpu": "4", "pods": "10"})
    node = NodeAdmission({"node": home}, lambda name: LabelsAndTaints({}))

    def raw(cpu: str) -> bytes:
        return orjson.dumps({"spec": {"containers": [{"name": "a", "resources": {"requests": {"cpu": cpu}}}]}})

    for uid in ("one", "two"):
        assert node.admit("node", uid, raw("1500m")) is None
    assert node.resize("node", "one", raw("2500m")) is None
    deferred = node.resize("node", "one", raw("3"))
    text = "Node didn't have enough resource: cpu, requested: 3000, used: 1500, capacity: 4000"
    assert deferred == PodRejection("Deferred", text)
    infeasible = node.resize("node", "one", raw("5"))
    assert infeasible is not None
    assert infeasible.reason == "Infeasible"
    node.release("node", "two")
    assert node.resize("node", "one", raw("3")) is None
