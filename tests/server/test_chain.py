"""The filters around a handler, in process."""

import asyncio
import logging
from collections.abc import AsyncIterator

import pytest

from sampan.core.errors import not_found, too_many_requests
from sampan.core.gvk import GroupResource
from sampan.server.filters.audit_id import audit_ids
from sampan.server.filters.warnings import warning_headers
from sampan.server.incoming import ClientGone
from sampan.server.request import BY_ROUTE, Request, Response
from sampan.storage.store import (
    OutcomeUnknown,
    StoreDamaged,
    StoreFull,
    StoreUnavailable,
    StoreUnreachable,
    ValueTooLarge,
)
from tests.server.client import Client, header, status_of
from tests.server.frame import JANE, Frame, ok

POD = "/api/v1/namespaces/a/pods/p"


def raising(error: Exception) -> Frame:
    async def route(request: Request) -> Response:
        raise error

    return Frame(route)


async def test_a_response_has_an_audit_id_and_is_private() -> None:
    response = await Frame(ok).client().get(POD)
    assert response.status == 200
    assert header(response, "Audit-Id")
    assert header(response, "Cache-Control") == "no-cache, private"


async def test_the_clients_audit_id_is_repeated() -> None:
    response = await Frame(ok).client().get(POD, audit_id="mine")
    assert header(response, "Audit-Id") == "mine"


def test_audit_ids_are_uuids_that_do_not_repeat() -> None:
    fresh = audit_ids()
    found = {fresh() for _ in range(1000)}
    assert len(found) == 1000
    assert all([len(part) for part in text.split("-")] == [8, 4, 4, 4, 12] for text in found)


async def test_a_handlers_cache_control_stays() -> None:
    async def route(request: Request) -> Response:
        return Response(headers=[(b"Cache-Control", b"public")])

    response = await Frame(route).client().get(POD)
    assert [v for n, v in response.headers if n == b"Cache-Control"] == [b"public"]


async def test_a_status_error_becomes_a_status() -> None:
    response = await raising(not_found(GroupResource("", "pods"), "p")).client().get(POD)
    status = status_of(response)
    assert (response.status, status["reason"], status["message"]) == (404, "NotFound", 'pods "p" not found')
    assert status["details"] == {"name": "p", "kind": "pods"}
    assert header(response, "Audit-Id")
    assert header(response, "Cache-Control")


async def test_a_client_that_cannot_be_authorized_is_reported_why_as_text() -> None:
    response = await Frame(ok).client(JANE).get("/fault")
    assert (response.status, response.body) == (500, b'Internal Server Error: "/fault": no answer\n')


async def test_retry_after_is_a_header_too() -> None:
    response = await raising(too_many_requests("later", 7)).client().get(POD)
    assert (response.status, header(response, "Retry-After")) == (429, "7")


async def test_a_client_that_goes_while_it_sends_is_no_warning(caplog: pytest.LogCaptureFixture) -> None:
    async def gone(request: Request) -> Response:
        raise ClientGone("the client went away while sending the body")

    with caplog.at_level(logging.INFO):
        assert (await Frame(gone).client().get(POD)).status == 500
    assert [(record.levelname, record.getMessage()) for record in caplog.records] == [
        ("INFO", "client disconnected while sending its request")
    ]


async def test_a_fault_is_logged_and_not_reported(caplog: pytest.LogCaptureFixture) -> None:
    with caplog.at_level(logging.ERROR):
        response = await raising(ZeroDivisionError("secret")).client().get(POD)
    assert status_of(response)["reason"] == "InternalError"
    assert b"secret" not in response.body
    assert "secret" in caplog.text


async def test_warnings_become_headers_of_errors_too() -> None:
    async def route(request: Request) -> Response:
        request.warnings += ["mind", "mind", 'say "x"']
        raise not_found(GroupResource("", "pods"), "p")

    response = await Frame(route).client().get(POD)
    assert [v for n, v in response.headers if n == b"Warning"] == [b'299 - "mind"', b'299 - "say \\"x\\""']


def test_too_many_warnings_are_cut() -> None:
    texts = [str(i) + "x" * 500 for i in range(20)]
    headers = warning_headers(texts)
    assert len(headers) == 16
    assert all(len(text) == 256 + len('299 - ""') for text in headers)


def test_warnings_with_control_characters_are_dropped() -> None:
    assert warning_headers(["a\r\nb", "", "ok"]) == ['299 - "ok"']


async def test_without_credentials_one_is_anonymous() -> None:
    response = await Frame(ok).client({}).get(POD)
    assert response.status == 403
    assert status_of(response)["message"] == (
        'pods "p" is forbidden: User "system:anonymous" cannot get resource "pods" in API group "" in the namespace "a"'
    )


async def test_a_wrong_token_is_refused_where_anonymous_would_pass() -> None:
    frame = Frame(ok)
    assert (await frame.client({}).get("/version")).status == 200
    response = await frame.client({"authorization": "Bearer wrong"}).get("/version")
    assert (response.status, status_of(response)["message"]) == (401, "Unauthorized")


async def test_the_user_is_set_and_the_token_gone() -> None:
    observed = []

    async def route(request: Request) -> Response:
        observed.append((request.user, request.headers))
        return Response()

    frame = Frame(route)
    for _ in range(2):
        await frame.client().get(POD)
    assert len(observed) == 2
    for user, headers in observed:
        assert user is not None
        assert (user.name, user.groups) == ("admin", ("system:masters", "system:authenticated"))
        assert "authorization" not in headers


@pytest.mark.parametrize(
    ("method", "target", "message"),
    [
        (
            "GET",
            "/apis/apps/v1/deployments",
            'deployments.apps is forbidden: User "jane" cannot list resource "deployments" in API group "apps" '
            "at the cluster scope",
        ),
        (
            "PUT",
            "/apis/apps/v1/namespaces/a/deployments/d/status",
            'deployments.apps "d" is forbidden: User "jane" cannot update resource "deployments/status" in API group '
            '"apps" in the namespace "a"',
        ),
        ("GET", "/metrics", 'forbidden: User "jane" cannot get path "/metrics"'),
        ("POST", "/version", 'forbidden: User "jane" cannot post path "/version"'),
    ],
)
async def test_a_refusal_names_the_user_the_verb_and_the_resource(method: str, target: str, message: str) -> None:
    response = await Frame(ok).client(JANE).request(method, target)
    assert (response.status, status_of(response)["message"]) == (403, message)


@pytest.mark.parametrize("path", ["/healthz", "/livez/ping", "/readyz", "/version"])
async def test_health_and_version_are_for_everybody(path: str) -> None:
    assert (await Frame(ok).client({}).get(path)).status == 200


async def test_a_refusal_is_not_html() -> None:
    frame = Frame(ok)
    response = await frame.client(JANE).get("/api/v1/namespaces/a/pods/%3Cscript%3E/x%3Cy")
    assert "pods/x&lt;y" in status_of(response)["message"]


async def test_while_draining_new_requests_are_sent_elsewhere() -> None:
    frame = Frame(ok)
    frame.lifecycle.draining = True
    for path in (POD, "/api/v1/pods?watch=1"):
        response = await frame.client().get(path)
        assert (response.status, header(response, "Retry-After"), response.close) == (429, "5", True)
    assert (await frame.client().get("/readyz")).status == 200


async def test_an_unreadable_timeout_is_a_bad_request() -> None:
    response = await Frame(ok).client().get(f"{POD}?timeout=soon")
    assert response.status == 400
    assert status_of(response)["message"].startswith("invalid timeout specified in the request URL - ")


async def forever(request: Request) -> Response:
    await asyncio.get_running_loop().create_future()
    raise AssertionError


async def begun(frame: Frame) -> asyncio.Task[Response]:
    """A request that has reached its handler."""
    task = asyncio.create_task(frame.client().get(POD))
    await asyncio.sleep(0)
    assert frame.deadlines.under_way()
    return task


async def test_the_clients_timeout_ends_a_request() -> None:
    response = await Frame(forever).client().get(f"{POD}?timeout=1ms")
    assert response.status == 504
    assert status_of(response)["message"] == "Timeout: request did not complete within the allotted timeout"


async def test_the_common_deadline_ends_a_request() -> None:
    frame = Frame(forever)
    task = await begun(frame)
    now = asyncio.get_running_loop().time()
    frame.deadlines.expire(now + 59)
    await asyncio.sleep(0)
    assert not task.done()
    frame.deadlines.expire(now + 61)
    assert (await task).status == 504
    assert not frame.deadlines.under_way()


async def test_a_cancelled_request_stays_cancelled() -> None:
    frame = Frame(forever)
    task = await begun(frame)
    task.cancel()
    with pytest.raises(asyncio.CancelledError):
        await task


async def test_a_watch_has_no_deadline() -> None:
    frame = Frame(forever)
    task = asyncio.create_task(frame.client().get("/api/v1/pods?watch=1"))
    await asyncio.sleep(0)
    assert not frame.deadlines.under_way()
    task.cancel()


async def test_origins_that_match_are_allowed() -> None:
    client = Frame(ok, cors=("^https://good",)).client()
    assert header(await client.get(POD, origin="https://good.example"), "Access-Control-Allow-Origin") == (
        "https://good.example"
    )
    assert header(await client.get(POD, origin="https://bad.example"), "Access-Control-Allow-Origin") is None


async def test_a_preflight_needs_no_credentials() -> None:
    client = Frame(ok, cors=(".*",)).client({})
    response = await client.request("OPTIONS", POD, headers={"origin": "https://x"})
    assert (response.status, header(response, "Access-Control-Allow-Credentials")) == (204, "true")


async def test_hsts_is_on_all_responses_if_it_is_configured() -> None:
    name = "Strict-Transport-Security"
    client = Frame(ok, hsts=("max-age=31536000", "includeSubDomains")).client()
    assert header(await client.get(POD), name) == "max-age=31536000; includeSubDomains"
    refused = await Frame(ok, hsts=("max-age=1",)).client({}).get(POD)
    assert (refused.status, header(refused, name)) == (403, "max-age=1")
    assert header(await Frame(ok).client().get(POD), name) is None


async def test_requests_are_counted_under_kubernetes_names() -> None:
    async def served(request: Request) -> Response:
        request.counted = BY_ROUTE
        return await ok(request)

    frame = Frame(served)
    client: Client = frame.client()
    for _ in range(3):
        await client.get(POD)
    await client.request("PATCH", POD, headers={"content-type": "application/apply-patch+yaml"})
    text = (await frame.metrics.exposition()).decode()
    labels = 'component="apiserver",dry_run="",group="",resource="pods",scope="resource",subresource=""'
    assert f'apiserver_request_total{{code="200",{labels},verb="GET",version="v1"}} 3.0' in text
    assert f'apiserver_request_total{{code="200",{labels},verb="APPLY",version="v1"}} 1.0' in text
    assert f'apiserver_request_duration_seconds_count{{{labels},verb="GET",version="v1"}} 3.0' in text


async def test_open_streams_are_counted_until_they_are_finished() -> None:
    async def events() -> AsyncIterator[bytes]:
        yield b"{}\n"

    async def route(request: Request) -> Response:
        request.counted = BY_ROUTE
        return Response(stream=events())

    frame = Frame(route)
    response = await frame.client().get("/api/v1/pods?watch=1")
    assert list(frame.metrics.long_running.values()) == [1]
    assert response.finished is not None
    response.finished()
    assert list(frame.metrics.long_running.values()) == [0]


@pytest.mark.parametrize(
    ("error", "code", "reason", "text"),
    [
        (StoreUnavailable("disk I/O error"), 503, "ServiceUnavailable", "the store cannot be written: disk I/O error"),
        (StoreUnreachable("no route"), 503, "ServiceUnavailable", "the store cannot be reached: no route"),
    ],
    ids=["failing", "unreachable"],
)
async def test_a_store_that_cannot_be_written_is_reported_and_when_to_try_again(
    error: Exception, code: int, reason: str, text: str
) -> None:
    response = await raising(error).client().request("DELETE", POD)
    status = status_of(response)
    assert (response.status, status["reason"]) == (code, reason)
    assert text in status["message"]
    assert header(response, "Retry-After") == "5"


@pytest.mark.parametrize("error", [StoreFull("etcdserver: mvcc: database space exceeded"), StoreDamaged("page 3")])
async def test_a_full_or_damaged_store_is_an_error_that_clients_do_not_retry(error: Exception) -> None:
    response = await raising(error).client().request("POST", POD)
    status = status_of(response)
    assert (response.status, status.get("reason"), status["message"]) == (500, None, str(error))
    assert header(response, "Retry-After") is None


async def test_an_object_that_the_store_finds_too_large_is_refused_for_good() -> None:
    response = await raising(ValueTooLarge("request is too large")).client().request("POST", POD)
    assert (response.status, status_of(response)["reason"]) == (413, "RequestEntityTooLarge")
    assert header(response, "Retry-After") is None


async def test_a_write_that_may_have_been_made_is_a_timeout_that_is_not_tried_again_by_itself() -> None:
    response = await raising(OutcomeUnknown("request timed out")).client().request("POST", POD)
    status = status_of(response)
    assert (response.status, status["reason"]) == (504, "Timeout")
    assert "did not confirm the write in time" in status["message"]
    assert header(response, "Retry-After") is None
