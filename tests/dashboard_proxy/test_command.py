"""`sampan dashboard` as a process: its link, its end, and what it prints when it cannot start."""

import datetime as dt
import json
import signal
import socket
import subprocess
import sys
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

import httpx
import pytest

from sampan.core.clock import utc_now
from sampan.core.tls.certificates import make_authority, make_client_certificate, read_key_pair
from tests.cli.server import Server, running
from tests.dashboard_proxy.browsing import PAGE, SESSION
from tests.dashboard_proxy.process import LocalDashboard, local_dashboard, write_kubeconfig
from tests.ports import free_ports
from tests.user_environment import user_environment

NAMESPACES = "/api/v1/namespaces"


@pytest.fixture(scope="module")
def server(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Server]:
    with running(tmp_path_factory.mktemp("dashboard") / "data", "--storage", "memory", "--dashboard=false") as found:
        yield found


def address(server: Server) -> str:
    return f"https://127.0.0.1:{server.port}"


@contextmanager
def logged_in(dashboard: LocalDashboard, link: str) -> Iterator[httpx.Client]:
    """Give the block a client with the session of a link."""
    with httpx.Client(base_url=dashboard.address, headers=PAGE, timeout=30) as http:
        reply = http.post(SESSION, json={"link": link.partition("#")[2]})
        assert reply.status_code == 201, reply.text
        yield http


def refused(*arguments: str, **environment: str) -> str:
    """Return the one line that a command prints which cannot start."""
    command = [sys.executable, "-m", "sampan", "dashboard", "--port", "0", *arguments]
    done = subprocess.run(
        command, capture_output=True, text=True, timeout=60, check=False, env=user_environment(**environment)
    )
    assert (done.returncode, done.stdout) == (1, "")
    (line,) = done.stderr.splitlines()
    return line.removeprefix("sampan: error: ")


def test_the_printed_link_gives_the_rights_of_the_kubeconfig(server: Server) -> None:
    with local_dashboard(server.data / "kubeconfig") as dashboard:
        assert dashboard.ready_line == f"ready {dashboard.address} (context sampan, {address(server)}, user admin)\n"
        assert dashboard.address.startswith("http://127.0.0.1:")
        with logged_in(dashboard, dashboard.link) as http:
            assert http.get(NAMESPACES).status_code == 200
            http.delete(SESSION).raise_for_status()
            assert http.get(SESSION).json() == {"logins": ["link"]}
        with logged_in(dashboard, dashboard.next_link()) as http:
            assert http.get(NAMESPACES).status_code == 200


@pytest.mark.parametrize("number", [signal.SIGINT, signal.SIGTERM], ids=["Ctrl-C", "SIGTERM"])
def test_a_signal_ends_it_and_its_watches(server: Server, number: signal.Signals) -> None:
    with (
        local_dashboard(server.data / "kubeconfig") as dashboard,
        logged_in(dashboard, dashboard.link) as http,
        http.stream("GET", f"{NAMESPACES}?watch=1") as watch,
    ):
        next(watch.iter_lines())
        dashboard.process.send_signal(number)
        output, errors = dashboard.process.communicate(timeout=60)
        assert (dashboard.process.returncode, output, errors) == (130, "", "")


def test_a_token_has_its_own_rights(server: Server, tmp_path: Path) -> None:
    file = tmp_path / "kubeconfig"
    write_kubeconfig(file, address(server), {"token": server.token, "as": "jane"}, ca=server.data / "pki" / "ca.crt")
    with local_dashboard(file) as dashboard, logged_in(dashboard, dashboard.link) as http:
        assert http.get(SESSION).json()["user"]["username"] == "jane"
        assert http.get("/api/v1/secrets").status_code == 403


def test_a_program_that_prints_credentials_runs_once(server: Server, tmp_path: Path) -> None:
    program = tmp_path / "login"
    version = "client.authentication.k8s.io/v1"
    printed = json.dumps({"apiVersion": version, "kind": "ExecCredential", "status": {"token": server.token}})
    program.write_text(f"#!/bin/sh\necho run >> {tmp_path}/runs\necho '{printed}'\n")
    program.chmod(0o755)
    user = {"exec": {"apiVersion": version, "command": str(program), "interactiveMode": "Never"}}
    file = write_kubeconfig(tmp_path / "kubeconfig", address(server), user, ca=server.data / "pki" / "ca.crt")
    with local_dashboard(file) as dashboard, logged_in(dashboard, dashboard.link) as http:
        assert http.get(NAMESPACES).status_code == 200
        assert (tmp_path / "runs").read_text() == "run\n"


def test_the_page_has_tls_for_an_address_that_other_machines_reach(server: Server) -> None:
    pki = server.data / "pki"
    tls = ("--tls-cert-file", str(pki / "apiserver.crt"), "--tls-private-key-file", str(pki / "apiserver.key"))
    with local_dashboard(server.data / "kubeconfig", "--address", "0.0.0.0", *tls) as dashboard:
        assert dashboard.address.startswith("https://127.0.0.1:")
        with httpx.Client(base_url=dashboard.address, headers=PAGE, verify=False) as http:  # the test's own server
            reply = http.post(SESSION, json={"link": dashboard.link.partition("#")[2]})
            assert reply.headers["set-cookie"].startswith("__Host-sampan-")
            assert http.get(NAMESPACES).status_code == 200
            assert http.get("/dashboard/", headers={"Host": "evil.example"}).status_code == 421


def test_the_cause_of_an_unusable_kubeconfig_is_named(tmp_path: Path, server: Server) -> None:
    assert "searched" in refused(KUBECONFIG="", HOME=str(tmp_path))
    assert refused("--kubeconfig", str(tmp_path / "none")).startswith(f"{tmp_path / 'none'}: file does not exist")
    line = refused("--kubeconfig", str(server.data / "kubeconfig"), "--context", "nope")
    assert line.startswith('context "nope" does not exist (existing: sampan)')


def test_a_cluster_that_is_away_is_named(tmp_path: Path) -> None:
    (port,) = free_ports(1)
    line = refused("--kubeconfig", str(write_kubeconfig(tmp_path / "config", f"https://127.0.0.1:{port}", {})))
    assert line.startswith("cannot reach the cluster of context 'shop': cannot connect to https://127.0.0.1:")
    assert line.endswith("Check that it runs, or choose another context with --context")


def test_a_certificate_of_the_cluster_that_is_not_trusted_is_named(tmp_path: Path, server: Server) -> None:
    line = refused("--kubeconfig", str(write_kubeconfig(tmp_path / "config", address(server), {})))
    assert "its certificate is not trusted" in line


def test_refused_credentials_are_named(tmp_path: Path, server: Server) -> None:
    ca = server.data / "pki" / "ca.crt"
    file = write_kubeconfig(tmp_path / "config", address(server), {"token": "old"}, ca=ca)
    line = refused("--kubeconfig", str(file))
    assert f"{address(server)} refuses the credentials of context 'shop' (401 Unauthorized)" in line


def test_the_end_of_an_expired_client_certificate_is_named(tmp_path: Path, server: Server) -> None:
    began = utc_now() - dt.timedelta(days=10)
    ca = read_key_pair((server.data / "pki" / "ca.crt").read_bytes(), (server.data / "pki" / "ca.key").read_bytes())
    pair = make_client_certificate(ca, "admin", ["system:masters"], began, dt.timedelta(days=1))
    (tmp_path / "crt").write_bytes(pair.certificate_pem())
    (tmp_path / "key").write_bytes(pair.key_pem())
    user = {"client-certificate": "crt", "client-key": "key"}
    file = write_kubeconfig(tmp_path / "config", address(server), user, ca=server.data / "pki" / "ca.crt")
    assert "its client certificate has expired at " in refused("--kubeconfig", str(file))


def test_a_port_in_use_is_named(server: Server) -> None:
    with socket.socket() as taken:
        taken.bind(("127.0.0.1", 0))
        taken.listen()
        port = str(taken.getsockname()[1])
        line = refused("--kubeconfig", str(server.data / "kubeconfig"), "--port", port)
    assert line.startswith(f"cannot listen on 127.0.0.1:{port}: Address already in use: ")
    assert "--port (0: a free one)" in line


def test_another_address_needs_tls(server: Server) -> None:
    line = refused("--kubeconfig", str(server.data / "kubeconfig"), "--address", "0.0.0.0")
    assert line.startswith("other machines reach 0.0.0.0, so the page needs TLS")


def test_the_authority_of_another_cluster_is_no_cause_of_a_traceback(tmp_path: Path, server: Server) -> None:
    other = make_authority("other", utc_now(), dt.timedelta(days=1))
    (tmp_path / "ca").write_bytes(other.certificate_pem())
    file = write_kubeconfig(tmp_path / "config", address(server), {}, ca=tmp_path / "ca")
    assert "its certificate is not trusted" in refused("--kubeconfig", str(file))
