"""Events of requests that end without a successful response."""

import asyncio
from collections.abc import AsyncIterator

import msgspec
import pytest

from sampan.server.audit.audit import ENDINGS_MAX
from sampan.server.request import Request, Response
from sampan.storage.store import OutcomeUnknown, StoreUnavailable
from tests.server.audit.recorder import Recorder, audit_to
from tests.server.cluster import served
from tests.server.frame import MASTER, Frame

METADATA = {"level": "Metadata", "omitStages": ["RequestReceived"]}


async def test_a_fault_of_the_server_is_the_stage_panic() -> None:
    async def route(request: Request) -> Response:
        raise KeyError("what")

    recorder = Recorder()
    frame = Frame(route, audit=audit_to(recorder, METADATA))
    assert (await frame.client(MASTER).get("/version")).status == 500
    (event,) = recorder.events
    assert (event["stage"], event["responseStatus"]["code"]) == ("Panic", 500)
    assert event["responseStatus"]["message"] == "APIServer panic'd: 'what'"


@pytest.mark.parametrize(
    ("error", "code"),
    [(StoreUnavailable("disk gone"), 503), (OutcomeUnknown("no answer"), 504)],
    ids=["gone", "silent"],
)
async def test_errors_of_the_store_are_recorded_with_the_status_of_the_response(error: Exception, code: int) -> None:
    async def route(request: Request) -> Response:
        raise error

    recorder = Recorder()
    response = await Frame(route, audit=audit_to(recorder, METADATA)).client(MASTER).get("/version")
    (event,) = recorder.events
    assert (event["stage"], event["responseStatus"]["code"], response.status) == ("ResponseComplete", code, code)


async def test_a_slow_request_is_recorded_with_its_latencies() -> None:
    async def route(request: Request) -> Response:
        shift = -2 if "slow" in request.wire.query else 2
        request.wire = msgspec.structs.replace(request.wire, received=request.wire.received + shift)
        request.latencies["mutating-webhook"] = 1.5
        return Response()

    recorder = Recorder()
    client = Frame(route, audit=audit_to(recorder, METADATA)).client(MASTER)
    await client.get("/version")
    await client.get("/version?slow=1")
    fast, slow = (event["annotations"] for event in recorder.events)
    assert not [name for name in fast if name.startswith("apiserver.latency.k8s.io/")]
    assert slow["apiserver.latency.k8s.io/mutating-webhook"] == "1.5s"
    assert slow["apiserver.latency.k8s.io/total"].startswith("2.")


async def test_a_slow_write_is_recorded_with_the_latency_of_each_part(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("sampan.server.audit.context._SLOW_S", -1.0)
    recorder = Recorder()
    async with served(audit=audit_to(recorder, METADATA)) as api:
        body = {"metadata": {"name": "a"}}
        target = "/api/v1/namespaces/default/configmaps"
        await api.fetch("POST", target, body, accept="application/yaml", impersonate_user="u", impersonate_group="devs")
        await api.fetch("POST", target, body, accept="application/yaml")
    refused, made = (event["annotations"] for event in recorder.events)
    prefix = "apiserver.latency.k8s.io/"
    assert {f"{prefix}{name}" for name in ("authentication", "impersonation", "authorization", "total")} <= set(refused)
    assert {f"{prefix}{name}" for name in ("authentication", "etcd", "serialize-response-object")} <= set(made)


async def test_a_request_that_is_late_is_504() -> None:
    async def route(request: Request) -> Response:
        await asyncio.Event().wait()
        raise AssertionError

    recorder = Recorder()
    frame = Frame(route, audit=audit_to(recorder, METADATA))
    assert (await frame.client(MASTER).get("/version?timeout=10ms")).status == 504
    status = recorder.events[0]["responseStatus"]
    assert (status["code"], status["reason"]) == (504, "Timeout")


async def test_a_cancelled_request_is_recorded() -> None:
    begun = asyncio.Event()

    async def route(request: Request) -> Response:
        begun.set()
        await asyncio.Event().wait()
        raise AssertionError

    recorder = Recorder()
    client = Frame(route, audit=audit_to(recorder, METADATA)).client(MASTER)
    asking = asyncio.create_task(client.get("/version"))
    await begun.wait()
    asking.cancel()
    with pytest.raises(asyncio.CancelledError):
        await asking
    assert recorder.events[0]["responseStatus"]["message"] == "Connection closed early"


async def test_ends_of_streams_beyond_the_bound_are_counted() -> None:
    async def route(request: Request) -> Response:
        async def nothing() -> AsyncIterator[bytes]:
            yield b""

        return Response(stream=nothing())

    recorder = Recorder()
    audit = audit_to(recorder, METADATA)
    response = await Frame(route, audit=audit).client(MASTER).get("/version")
    assert response.finished is not None
    for _ in range(ENDINGS_MAX + 3):
        response.finished()
    assert audit.metrics.errors.counts == {("audit",): 3}
    assert recorder.events == []
