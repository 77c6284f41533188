"""Priority and fairness in a server: headers, refusals, conditions, tables and metrics."""

import asyncio
from typing import Any

import pytest

from sampan.core.event_loop.task_scope import TaskScope
from sampan.registry.kinds.flowcontrol.bootstrap import AUTO_UPDATE
from sampan.server.flow_control.controller import FlowController
from sampan.server.flow_control.filter import with_priority_and_fairness
from sampan.server.flow_control.flow_control import FlowControl
from sampan.server.flow_control.queues.ticket import Work
from sampan.server.flow_control.settings import FlowControlSettings
from sampan.server.post_start_hooks.flow_control import ensure_flow_control
from sampan.server.request import Request, Response, UserInfo
from sampan.server.request_info import parse_target
from tests.server.client import header
from tests.server.cluster import Api, Watch, served
from tests.server.frame import JANE
from tests.server.requests import make_request

BASE = "/apis/flowcontrol.apiserver.k8s.io/v1"
SCHEMAS, LEVELS = f"{BASE}/flowschemas", f"{BASE}/prioritylevelconfigurations"
JANES = UserInfo("jane", groups=("devs", "system:authenticated"))
EVERYTHING = {
    "resourceRules": [
        {"verbs": ["*"], "apiGroups": ["*"], "resources": ["*"], "namespaces": ["*"], "clusterScope": True}
    ]
}


def controller_of(api: Api) -> FlowController:
    controller = api.server.flow_control.controller
    assert controller is not None
    return controller


def schema(name: str, level: str) -> dict[str, Any]:
    rule = {"subjects": [{"kind": "User", "user": {"name": "jane"}}], **EVERYTHING}
    spec = {"priorityLevelConfiguration": {"name": level}, "matchingPrecedence": 50, "rules": [rule]}
    return {"metadata": {"name": name}, "spec": spec}


def level(name: str, shares: int = 1, **limited: Any) -> dict[str, Any]:
    spec = {"nominalConcurrencyShares": shares, "limitResponse": {"type": "Reject"}, **limited}
    return {"metadata": {"name": name}, "spec": {"type": "Limited", "limited": spec}}


async def uid(api: Api, target: str) -> str:
    found: str = (await api.get(target)).metadata["uid"]
    return found


@pytest.mark.parametrize(
    ("headers", "target", "schema_name", "level_name"),
    [
        ({}, "/api/v1/pods", "exempt", "exempt"),
        (JANE, "/api/v1/pods", "global-default", "global-default"),
        (JANE, "/healthz", "probes", "exempt"),
        ({"authorization": ""}, "/version", "global-default", "global-default"),
    ],
    ids=["administrators", "a refused user", "probes", "anonymous"],
)
async def test_every_response_names_schema_and_level(
    headers: dict[str, str], target: str, schema_name: str, level_name: str
) -> None:
    async with served() as api:
        controller_of(api).refresh()
        response = await api.get(target, **headers)
        schema_uid, level_uid = await uid(api, f"{SCHEMAS}/{schema_name}"), await uid(api, f"{LEVELS}/{level_name}")
        assert header(response.response, "X-Kubernetes-PF-FlowSchema-UID") == schema_uid
        assert header(response.response, "X-Kubernetes-PF-PriorityLevel-UID") == level_uid


async def test_a_custom_schema_with_a_low_precedence_matches_first() -> None:
    async with served() as api:
        await api.create(LEVELS, level("mine"))
        await api.create(SCHEMAS, schema("mine", "mine"))
        controller_of(api).refresh()
        info = parse_target("GET", b"/api/v1/pods").info
        assert controller_of(api).classify(JANES, info).level.name == "mine"


POD = "/api/v1/namespaces/a/pods/p"
DIFFERENT = {
    "user": ("GET", POD, UserInfo("joe", groups=("devs",))),
    "groups": ("GET", POD, UserInfo("jane")),
    "verb": ("DELETE", POD, JANES),
    "API group": ("GET", "/apis/apps/v1/namespaces/a/pods/p", JANES),
    "resource": ("GET", "/api/v1/namespaces/a/secrets/p", JANES),
    "subresource": ("GET", f"{POD}/log", JANES),
    "namespace": ("GET", "/api/v1/namespaces/b/pods/p", JANES),
}
"""Requests that differ in one part from one of the schema `mine`."""


@pytest.mark.parametrize("order", [1, -1], ids=["of the schema first", "other first"])
@pytest.mark.parametrize("part", DIFFERENT)
async def test_a_cached_classification_is_for_its_request_alone(part: str, order: int) -> None:
    rule = {"verbs": ["get"], "apiGroups": [""], "resources": ["pods"], "namespaces": ["a"]}
    subject = {"kind": "Group", "group": {"name": "devs"}}
    if part == "user":
        subject = {"kind": "User", "user": {"name": "jane"}}
    mine = schema("mine", "mine")
    mine["spec"]["rules"] = [{"subjects": [subject], "resourceRules": [rule]}]
    async with served() as api:
        await api.create(LEVELS, level("mine"))
        await api.create(SCHEMAS, mine)
        controller, found = controller_of(api), {}
        controller.refresh()
        for name, (method, target, user) in (("mine", ("GET", POD, JANES)), ("other", DIFFERENT[part]))[::order]:
            found[name] = controller.classify(user, parse_target(method, target.encode()).info).level.name
        assert (found["mine"], found["other"] == "mine") == ("mine", False)


async def test_the_condition_of_a_schema_reports_whether_its_level_exists() -> None:
    async with served() as api:
        controller = controller_of(api)
        await api.create(SCHEMAS, schema("mine", "none"))

        async def condition() -> dict[str, Any]:
            controller.refresh()
            await controller.write_conditions()
            found: dict[str, Any] = (await api.get(f"{SCHEMAS}/mine")).body["status"]["conditions"][0]
            return found

        dangling = await condition()
        assert (dangling["type"], dangling["status"], dangling["reason"]) == ("Dangling", "True", "NotFound")
        assert dangling["message"] == (
            'This FlowSchema references the PriorityLevelConfiguration object named "none" but there is no such object'
        )
        await api.create(LEVELS, level("none"))
        found = await condition()
        assert (found["status"], found["reason"]) == ("False", "Found")


class Gate:
    """Handler that responds when the test permits it, behind the filter of one level with one seat."""

    def __init__(self, controller: FlowController) -> None:
        self.open = asyncio.Event()
        self.running = 0
        self.handler = with_priority_and_fairness(controller)(self._route)

    async def _route(self, requested: Request) -> Response:
        self.running += 1
        await self.open.wait()
        return Response()

    async def fetch(self, deadline_s: float = 60.0, target: str = "/api/v1/namespaces/a/pods/p") -> Response:
        async def read_body(limit: int) -> bytes:
            return b""

        now = asyncio.get_running_loop().time()
        parsed = parse_target("GET", target.encode())
        wire = {"received": now, "long_running": parsed.long_running}
        requested = make_request("GET", parsed.path, "", {}, read_body, parsed.query, parsed.info, user=JANES, **wire)
        requested.deadline = now + deadline_s
        return await self.handler(requested)


QUEUE = {"type": "Queue", "queuing": {"queues": 1, "handSize": 1, "queueLengthLimit": 1}}


async def gate(api: Api, **limited: Any) -> Gate:
    """Jane's level has one seat, whatever is borrowed."""
    await api.create(LEVELS, level("mine", 1, borrowingLimitPercent=0, **limited))
    await api.create(SCHEMAS, schema("mine", "mine"))
    controller = FlowController(
        api.cluster, FlowControlSettings(max_requests_inflight=1, max_mutating_requests_inflight=0)
    )
    controller.refresh()
    return Gate(controller)


async def test_beyond_the_seats_a_level_without_queues_refuses() -> None:
    async with served() as api:
        found = await gate(api)
        async with asyncio.TaskGroup() as group:
            first = group.create_task(found.fetch())
            await asyncio.sleep(0)
            refused = await found.fetch()
            found.open.set()
        assert (first.result().status, refused.status) == (200, 429)
        assert refused.body == b"Too many requests, please try again later.\n"
        assert header(refused, "Retry-After") == "1"


async def test_a_request_that_waits_runs_when_a_seat_is_free() -> None:
    async with served() as api:
        found = await gate(api, limitResponse=QUEUE)
        async with asyncio.TaskGroup() as group:
            tasks = [group.create_task(found.fetch()) for _ in range(3)]
            await asyncio.wait(tasks, return_when=asyncio.FIRST_COMPLETED)
            assert found.running == 1
            found.open.set()
        assert [task.result().status for task in tasks] == [200, 200, 429]


async def test_a_request_waits_for_a_quarter_of_its_time() -> None:
    async with served() as api:
        found = await gate(api, limitResponse=QUEUE)
        async with asyncio.TaskGroup() as group:
            group.create_task(found.fetch())
            await asyncio.sleep(0)
            refused = await found.fetch(deadline_s=0.04)
            found.open.set()
        assert refused.status == 429
        assert found.running == 1


async def test_a_cancelled_request_leaves_its_queue() -> None:
    async with served() as api:
        found = await gate(api, limitResponse=QUEUE)
        async with asyncio.TaskGroup() as group:
            group.create_task(found.fetch())
            await asyncio.sleep(0)
            waiting = group.create_task(found.fetch())
            await asyncio.sleep(0)
            waiting.cancel()
            await asyncio.wait([waiting])
            next_one = group.create_task(found.fetch())
            await asyncio.sleep(0)
            found.open.set()
        assert next_one.result().status == 200


async def test_a_stream_that_is_no_watch_needs_no_seat() -> None:
    async with served() as api:
        found = await gate(api)
        async with asyncio.TaskGroup() as group:
            group.create_task(found.fetch())
            log = group.create_task(found.fetch(target="/api/v1/namespaces/a/pods/p/log?follow=1"))
            await asyncio.sleep(0)
            assert found.running == 2
            found.open.set()
        assert log.result().status == 200


async def read_all(watch: Watch) -> None:
    """Read events until cancelled."""
    while True:
        await watch.event()


async def test_a_watch_gives_its_seat_back_when_it_has_begun() -> None:
    async with served() as api, api.watch("/api/v1/namespaces?watch=1") as watch:
        controller = controller_of(api)
        assert controller.levels["exempt"].queue_set.executing == 1
        async with TaskScope() as tasks:
            tasks.begin(read_all(watch))
            while controller.levels["exempt"].queue_set.executing:  # noqa: ASYNC110  # a seat notifies nothing
                await asyncio.sleep(0)
        assert controller.watches.count(parse_target("PUT", b"/api/v1/namespaces/a").info) == 1
    assert controller.watches.count(parse_target("PUT", b"/api/v1/namespaces/a").info) == 0


async def test_bootstrap_objects_are_restored() -> None:
    async with served() as api:
        for target in (f"{SCHEMAS}/global-default", f"{SCHEMAS}/catch-all", f"{LEVELS}/system"):
            assert (await api.delete(target)).code == 200
        await ensure_flow_control(api.cluster.endpoint, api.cluster.clock)
        for target in (f"{SCHEMAS}/global-default", f"{SCHEMAS}/catch-all", f"{LEVELS}/system"):
            assert (await api.get(target)).code == 200


@pytest.mark.parametrize(("automatic", "shares"), [("true", 30), ("false", 7)])
async def test_a_suggested_spec_is_restored_unless_its_annotation_prevents_it(automatic: str, shares: int) -> None:
    async with served() as api:
        change = {
            "metadata": {"annotations": {AUTO_UPDATE: automatic}},
            "spec": {"limited": {"nominalConcurrencyShares": 7}},
        }
        assert (await api.patch(f"{LEVELS}/system", change)).code == 200
        await ensure_flow_control(api.cluster.endpoint, api.cluster.clock)
        found = (await api.get(f"{LEVELS}/system")).body
        assert found["spec"]["limited"]["nominalConcurrencyShares"] == shares
        assert found["metadata"]["annotations"][AUTO_UPDATE] == automatic


async def test_a_mandatory_spec_cannot_be_changed() -> None:
    async with served() as api:
        response = await api.patch(f"{LEVELS}/catch-all", {"spec": {"limited": {"nominalConcurrencyShares": 7}}})
        assert response.code == 422
        assert "spec of 'catch-all' must equal the fixed value" in response.message
        response = await api.patch(f"{SCHEMAS}/exempt", {"spec": {"matchingPrecedence": 2}})
        assert "spec of 'exempt' must equal the fixed value" in response.message
        assert (await api.patch(f"{LEVELS}/exempt", {"spec": {"exempt": {"lendablePercent": 5}}})).code == 200


async def test_objects_of_another_release_are_removed() -> None:
    async with served() as api:
        old = level("old")
        old["metadata"]["annotations"] = {AUTO_UPDATE: "true"}
        await api.create(LEVELS, old)
        await api.create(LEVELS, level("mine"))
        await ensure_flow_control(api.cluster.endpoint, api.cluster.clock)
        assert (await api.get(f"{LEVELS}/old")).code == 404
        assert (await api.get(f"{LEVELS}/mine")).code == 200


async def test_the_tables_show_what_runs() -> None:
    async with served() as api:
        controller_of(api).refresh()
        base = "/debug/api_priority_and_fairness/dump_"
        levels = (await api.get(f"{base}priority_levels")).body.decode().splitlines()
        assert levels[0].split(",")[:3] == ["PriorityLevelName", " ActiveQueues", " IsIdle"]
        assert [line.split(",")[0] for line in levels[1:3]] == ["catch-all", "exempt"]
        requests = (await api.get(f"{base}requests")).body.decode().splitlines()
        assert requests[1].split(",")[:3] == ["exempt", " " * 12 + "exempt", " " * 9 + "-1"]
        detailed = (await api.get(f"{base}requests?includeRequestDetails=1")).body.decode().splitlines()
        cells = [[cell.strip() for cell in line.split(",")] for line in detailed]
        assert cells[0][10:13] == ["UserName", "Verb", "APIPath"]
        assert cells[1][10:13] == ["admin", "get", f"{base}requests"]
        queues = (await api.get(f"{base}queues")).body.decode().splitlines()
        assert len(queues) > 64


async def test_metrics_contain_seats_and_requests() -> None:
    async with served() as api:
        controller_of(api).refresh()
        await api.get("/api/v1/pods", **JANE)
        text = (await api.get("/metrics")).body.decode()
        flow = '{flow_schema="global-default",priority_level="global-default"}'
        assert f"apiserver_flowcontrol_dispatched_requests_total{flow} 1.0" in text
        assert 'apiserver_flowcontrol_nominal_limit_seats{priority_level="workload-low"} 245.0' in text
        assert "apiserver_flowcontrol_request_execution_seconds_bucket" in text
        level = 'priority_level="workload-low"'
        assert f"apiserver_flowcontrol_demand_seats_count{{{level}}}" in text
        for phase in ("waiting", "executing"):
            assert f'apiserver_flowcontrol_priority_level_request_utilization_sum{{phase="{phase}",{level}}}' in text
        assert f'apiserver_flowcontrol_priority_level_seat_utilization_sum{{phase="executing",{level}}}' in text


async def test_metrics_contain_waiting_reads_and_writes() -> None:
    async with served() as api:
        controller_of(api).refresh()
        level = controller_of(api).levels["global-default"]
        level.limit(1)
        for target in ("/api/v1/pods", "/api/v1/nodes"):
            ticket = level.queue_set.start(controller_of(api).classify(JANES, get(target).info).flow, Work(1))
            assert ticket is not None
            ticket.request = get(target)
        text = (await api.get("/metrics")).body.decode()
        assert 'apiserver_current_inqueue_requests{request_kind="readOnly"} 1.0' in text
        assert 'apiserver_current_inqueue_requests{request_kind="mutating"} 0.0' in text


async def test_without_priority_and_fairness_only_the_two_limits_apply() -> None:
    async with served() as api:
        off = FlowControl(api.cluster, FlowControlSettings(priority_and_fairness=False))
        assert off.controller is None
        assert (await off.filter(api.server.routes.handle)(get("/version"))).headers == []


def get(target: str) -> Request:
    async def read_body(limit: int) -> bytes:
        return b""

    parsed = parse_target("GET", target.encode())
    return make_request("GET", parsed.path, "", {}, read_body, parsed.query, parsed.info, user=JANES)
