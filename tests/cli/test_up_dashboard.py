"""The dashboard of a real server: its link, its logins over TLS, and where it is on."""

import json
from collections.abc import Iterator
from contextlib import closing
from pathlib import Path
from typing import Any

import pytest

from tests.cli.server import Server, running

SESSION = "/dashboard/session"
NAMESPACES = "/api/v1/namespaces"
PAGE = {"X-Sampan-Page": "1", "Sec-Fetch-Site": "same-origin", "Content-Type": "application/json"}


@pytest.fixture(scope="module")
def server(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Server]:
    with running(tmp_path_factory.mktemp("dashboard") / "data", "--storage", "memory") as found:
        yield found


def send(
    server: Server, method: str, target: str, body: Any = None, *, files: Any = None, **headers: str
) -> tuple[int, str, bytes]:
    """Send a request on a new connection. Return the code, the new cookie and the body."""
    with closing(server.connect(**(files or {}))) as connection:
        connection.request(method, target, json.dumps(body) if body is not None else None, {**PAGE, **headers})
        response = connection.getresponse()
        return response.status, (response.getheader("Set-Cookie") or "").partition(";")[0], response.read()


def test_the_link_logs_the_administrator_in_once(server: Server) -> None:
    assert server.process.stdout is not None
    word, link, *_ = server.process.stdout.readline().split()
    start = f"https://127.0.0.1:{server.port}/dashboard/login#"
    assert (word, link[: len(start)]) == ("dashboard", start)
    code, cookie, _ = send(server, "POST", SESSION, {"link": link.removeprefix(start)})
    assert (code, cookie.partition("=")[0]) == (201, f"__Host-sampan-{server.port}")
    assert send(server, "GET", NAMESPACES, Cookie=cookie)[0] == 200
    assert send(server, "POST", SESSION, {"link": link.removeprefix(start)})[0] == 401
    assert link.removeprefix(start) not in server.data.with_suffix(".log").read_text()


def test_a_client_certificate_begins_a_session_that_needs_no_certificate(server: Server) -> None:
    assert "certificate" in json.loads(send(server, "GET", SESSION, files=server.admin)[2])["logins"]
    code, cookie, _ = send(server, "POST", SESSION, {"certificate": True}, files=server.admin)
    assert code == 201
    assert send(server, "GET", NAMESPACES, Cookie=cookie)[0] == 200
    assert send(server, "POST", SESSION, {"certificate": True})[0] == 401


def test_a_host_name_that_is_not_in_the_certificate_is_misdirected(server: Server) -> None:
    assert send(server, "GET", "/dashboard/", Host="evil.example")[0] == 421


@pytest.mark.parametrize(
    ("options", "code"),
    [(("--dashboard=false",), 403), (("--bind", "0.0.0.0"), 403), (("--bind", "0.0.0.0", "--dashboard"), 200)],
    ids=["off", "other machines reach it", "requested"],
)
def test_the_dashboard_is_on_at_loopback_or_if_requested(tmp_path: Path, options: tuple[str, ...], code: int) -> None:
    with running(tmp_path / "data", "--storage", "memory", *options) as found:
        assert send(found, "GET", "/dashboard/")[0] == code
