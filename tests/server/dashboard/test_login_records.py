"""Logins in the audit log and in a metric, and the bound of failed logins."""

from collections.abc import AsyncIterator

import pytest

from sampan.core.clock import unix_time
from sampan.core.errors import StatusError
from sampan.server.dashboard.login_limit import FAILURES_MAX, LoginLimit, network_of
from sampan.server.dashboard.settings import DashboardSettings
from tests.server.audit.recorder import Recorder, audit_to
from tests.server.cluster import Api, served
from tests.server.dashboard.browser import SESSION, Browser


@pytest.fixture
def recorder() -> Recorder:
    return Recorder()


@pytest.fixture
async def audited(recorder: Recorder) -> AsyncIterator[Api]:
    """Start a server with a dashboard and an audit log."""
    async with served(dashboard=DashboardSettings(), audit=audit_to(recorder)) as api:
        yield api


async def test_logins_failures_and_logouts_are_in_the_audit_log(audited: Api, recorder: Recorder) -> None:
    browser = await Browser(audited).log_in()
    assert (await browser.fetch("DELETE", SESSION)).code == 204
    assert (await browser.fetch("POST", SESSION, {"token": "guessed-secret"})).code == 401
    events = [event for event in recorder.events if event["requestURI"] == SESSION]
    kinds = [event["annotations"]["dashboard.sampan.dev/login"] for event in events]
    codes = [event["responseStatus"]["code"] for event in events]
    users = [event["user"].get("username", "") for event in events]
    assert list(zip(kinds, codes, users, strict=True)) == [
        ("token", 201, "jane"),
        ("logout", 204, "jane"),
        ("token", 401, ""),
    ]
    assert "secret" not in str(events)
    assert "jane-token" not in str(events)


async def test_logins_are_counted_by_method_and_result(api: Api) -> None:
    browser = await Browser(api).log_in()
    await browser.fetch("POST", SESSION, {"link": "wrong"})
    await browser.fetch("DELETE", SESSION)
    text = (await api.get("/metrics")).response.body.decode()
    for labels in (
        'method="token",result="success"',
        'method="link",result="failure"',
        'method="logout",result="success"',
    ):
        assert f"sampan_dashboard_logins_total{{{labels}}} 1.0" in text


async def test_after_many_failed_logins_an_address_waits(api: Api) -> None:
    browser = Browser(api)
    for _ in range(FAILURES_MAX):
        assert (await browser.fetch("POST", SESSION, {"token": "wrong"})).code == 401
    reply = await browser.fetch("POST", SESSION, {"token": "jane-token"})
    assert (reply.code, reply.body["details"]["retryAfterSeconds"]) == (429, 3)


async def test_logins_that_succeed_have_no_bound(api: Api) -> None:
    for _ in range(FAILURES_MAX + 2):
        await Browser(api).log_in()


def test_an_address_recovers_and_the_rest_is_not_affected(monkeypatch: pytest.MonkeyPatch) -> None:
    began = unix_time()
    passed = [0.0]
    monkeypatch.setattr("sampan.server.dashboard.login_limit.unix_time", lambda: began + passed[0])
    limit = LoginLimit()
    for _ in range(FAILURES_MAX):
        limit.failed("192.0.2.1")
    limit.check("192.0.2.2")
    with pytest.raises(StatusError, match="too many failed logins"):
        limit.check("192.0.2.1")
    passed[0] = 3.1
    limit.check("192.0.2.1")


def test_addresses_of_one_ipv6_network_share_a_bound() -> None:
    assert network_of("2001:db8::1") == network_of("2001:db8::ffff") != network_of("2001:db8:0:1::1")
    assert network_of("::ffff:192.0.2.1") == "192.0.2.1"
    assert network_of("") == ""
