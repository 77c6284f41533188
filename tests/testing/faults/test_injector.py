"""Faults at the request seam: which requests get them, and what their clients see."""

import asyncio
from collections.abc import AsyncIterator

import orjson
import pytest

from sampan.core.errors import StatusError
from sampan.server.request import Request, Response
from sampan.testing import virtual_time
from sampan.testing.faults import (
    Crash,
    EndStream,
    ErrorResponse,
    Fault,
    Latency,
    LostResponse,
    Plan,
    PlanError,
    What,
    Which,
)
from sampan.testing.faults.injector import FaultInjector
from tests.testing.faults.requests import SECRETS, Verb, injector, request

CONFLICT = What(error=ErrorResponse(code=409))
LOST = What(lost_response=LostResponse())


@virtual_time
async def test_an_error_before_the_write_prevents_it() -> None:
    verb = Verb()
    handler = injector(verb, Fault(what=CONFLICT)).filter(verb)
    with pytest.raises(StatusError) as raised:
        await handler(request("POST", SECRETS, {"metadata": {"name": "a"}}))
    assert (raised.value.code, raised.value.reason, verb.calls) == (409, "Conflict", 0)


@virtual_time
async def test_a_lost_response_after_the_write_leaves_the_object() -> None:
    verb = Verb()
    handler = injector(verb, Fault(what=LOST, when="after")).filter(verb)
    response = await handler(request("POST", SECRETS, {"metadata": {"name": "a"}}))
    assert response.lost
    assert "a" in verb.objects


@virtual_time
async def test_only_the_selected_occurrences_get_the_fault() -> None:
    verb = Verb()
    which = Which(verbs=("create",), resource="secrets", name="web-*", occurrence=2, times=2)
    handler = injector(verb, Fault(what=LOST, which=which)).filter(verb)
    names = ("web-1", "db-1", "web-2", "web-3", "web-4")
    lost = [(await handler(request("POST", SECRETS, {"metadata": {"name": name}}))).lost for name in names]
    assert lost == [False, False, True, True, False]


@pytest.mark.parametrize(
    ("which", "selected"),
    [
        (Which(resource="secrets"), True),
        (Which(resource="deployments.apps"), False),
        (Which(verbs=("delete",)), False),
        (Which(user="system:*"), False),
        (Which(user_agent="manager/*"), True),
        (Which(namespace="kube-*"), False),
        (Which(subresource="status"), False),
        (Which(object={"data.a": "1"}), True),
        (Which(object={"data.a": "2"}), False),
    ],
    ids=str,
)
def test_a_fault_occurs_if_all_conditions_match(which: Which, selected: bool) -> None:
    async def run() -> bool:
        verb = Verb()
        handler = injector(verb, Fault(what=LOST, which=which)).filter(verb)
        return (await handler(request("POST", SECRETS, {"metadata": {"name": "a"}, "data": {"a": "1"}}))).lost

    assert asyncio.run(run()) is selected


@virtual_time
async def test_a_change_is_selected_by_its_field() -> None:
    verb = Verb()
    which = Which(changed=("spec.replicas",))
    handler = injector(verb, Fault(what=LOST, which=which, when="after")).filter(verb)

    async def put(replicas: int, label: str) -> bool:
        body = {"metadata": {"name": "a", "labels": {"l": label}}, "spec": {"replicas": replicas}}
        return (await handler(request("PUT", f"{SECRETS}/a", body))).lost

    verb.objects["a"] = {"metadata": {"name": "a"}, "spec": {"replicas": 1}}
    assert [await put(1, "x"), await put(2, "x"), await put(3, "x")] == [False, True, False]


@virtual_time
async def test_a_crash_ends_the_operator_and_its_request_gets_no_response() -> None:
    verb, crashes = Verb(), []

    async def crash() -> None:
        crashes.append(len(verb.objects))

    handler = injector(verb, Fault(what=What(crash=Crash()), when="after"), crash=crash).filter(verb)
    response = await handler(request("POST", SECRETS, {"metadata": {"name": "a"}}))
    assert (response.lost, crashes) == (True, [1])


@virtual_time
async def test_latency_takes_its_time_from_the_event_loop() -> None:
    verb = Verb()
    handler = injector(verb, Fault(what=What(latency=Latency(seconds=60)))).filter(verb)
    began = asyncio.get_running_loop().time()
    await handler(request("GET", f"{SECRETS}/a"))
    assert asyncio.get_running_loop().time() - began == 60


@virtual_time
async def test_a_watch_ends_after_its_events_with_an_error() -> None:
    async def watch(incoming: Request) -> Response:
        async def events() -> AsyncIterator[bytes]:
            yield b'{"n":1}\n{"n":2}\n'
            yield b'{"n":3}\n'

        return Response(stream=events())

    end = EndStream(after_events=2, error=ErrorResponse(code=410))
    fault = Fault(which=Which(verbs=("watch",)), when="after", what=What(end_stream=end))
    faults = FaultInjector(Plan(faults=(fault,)), objects=Verb().read)
    response = await faults.filter(watch)(request("GET", f"{SECRETS}?watch=1"))
    assert response.stream is not None
    lines = [orjson.loads(line) async for line in response.stream]
    assert lines[:2] == [{"n": 1}, {"n": 2}]
    assert (lines[2]["type"], lines[2]["object"]["reason"], len(lines)) == ("ERROR", "Expired", 3)


@virtual_time
async def test_faults_that_have_not_occurred_are_listed() -> None:
    verb = Verb()
    first, never = Fault(what=LOST), Fault(what=LOST, which=Which(resource="nodes"))
    faults = injector(verb, first, never, Fault(what=LOST, which=Which(resource="pods"), optional=True))
    await faults.filter(verb)(request("GET", f"{SECRETS}/a"))
    assert ([fired.fault for fired in faults.fired], faults.unfired()) == ([first], [never])


@virtual_time
async def test_a_healed_server_injects_nothing() -> None:
    verb = Verb()
    faults = injector(verb, Fault(what=LOST, which=Which(times=0)))
    faults.active = False
    assert not (await faults.filter(verb)(request("GET", f"{SECRETS}/a"))).lost


def test_an_injector_refuses_a_fault_that_cannot_occur() -> None:
    with pytest.raises(PlanError, match="nothing has changed before the write"):
        injector(Verb(), Fault(what=LOST, which=Which(changed=("spec",))))
