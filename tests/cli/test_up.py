"""`sampan up` over real sockets."""

import http.client
import json
import signal
import socket
import ssl
import stat
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path

import pytest
import yaml
from click.testing import CliRunner

from sampan.cli.main import cli
from sampan.core.time import SystemClock
from sampan.server.pki.certificates import KeyPair, make_ca, make_client, make_serving
from tests.cli.server import Server, failing, running

NOW = SystemClock().now()


def write(pair: KeyPair, stem: Path) -> dict[str, Path]:
    """Certificate and key as files."""
    stem.with_suffix(".crt").write_bytes(pair.certificate_pem())
    stem.with_suffix(".key").write_bytes(pair.key_pem())
    return {"certificate": stem.with_suffix(".crt"), "key": stem.with_suffix(".key")}


@pytest.fixture(scope="module")
def ca(tmp_path_factory: pytest.TempPathFactory) -> tuple[KeyPair, Path]:
    """A client CA besides the server's own."""
    pair = make_ca("other", NOW)
    return pair, write(pair, tmp_path_factory.mktemp("ca") / "ca")["certificate"]


@pytest.fixture(scope="module")
def server(tmp_path_factory: pytest.TempPathFactory, ca: tuple[KeyPair, Path]) -> Iterator[Server]:
    data = tmp_path_factory.mktemp("up") / "data"
    tokens = data.parent / "tokens.csv"
    tokens.write_text('jane-token,jane,u1,"devs"\n')
    with running(
        data, "--storage", "memory", "--token-auth-file", str(tokens), "--client-ca-file", str(ca[1])
    ) as found:
        yield found


def test_the_ready_line_reports_where(server: Server) -> None:
    assert server.ready_line == f"ready https://127.0.0.1:{server.port} (kubeconfig {server.data / 'kubeconfig'})\n"


def test_the_kubeconfig_follows_the_port_and_is_private(server: Server) -> None:
    path = server.data / "kubeconfig"
    document = yaml.safe_load(path.read_text())
    assert document["clusters"][0]["cluster"]["server"] == f"https://127.0.0.1:{server.port}"
    assert stat.S_IMODE(path.stat().st_mode) == 0o600


def test_anybody_may_request_health_and_version(server: Server) -> None:
    assert server.get("/readyz") == (200, b"ok")
    assert server.status("/version")["gitVersion"].startswith("v1.36.")


def test_anonymous_may_do_nothing_else(server: Server) -> None:
    assert server.status("/api/v1/namespaces")["message"] == (
        'namespaces is forbidden: User "system:anonymous" cannot list resource "namespaces" in API group "" '
        "at the cluster scope"
    )


def test_the_admin_token_may_do_everything(server: Server) -> None:
    assert server.status("/api/v1/namespaces", server.token)["kind"] == "NamespaceList"


def test_the_admin_certificate_may_do_everything(server: Server) -> None:
    assert server.status("/api/v1/namespaces", files=server.admin)["kind"] == "NamespaceList"


def test_a_token_of_the_file_is_known(server: Server) -> None:
    assert 'User "jane"' in server.status("/api/v1/namespaces", "jane-token")["message"]


def test_a_wrong_token_is_refused(server: Server) -> None:
    assert server.status("/version", "wrong")["code"] == 401


def test_a_certificate_of_the_other_ca_is_known(server: Server, ca: tuple[KeyPair, Path], tmp_path: Path) -> None:
    files = write(make_client(ca[0], "joe", ("ops",), NOW), tmp_path / "joe")
    assert 'User "joe"' in server.status("/api/v1/namespaces", files=files)["message"]


def test_a_certificate_of_an_unknown_ca_is_unauthorized_even_where_no_client_would_be_called(
    server: Server, tmp_path: Path
) -> None:
    files = write(make_client(make_ca("nobody", NOW), "eve", ("system:masters",), NOW), tmp_path / "eve")
    status, body = server.get("/version", files=files)
    assert (status, json.loads(body)["reason"]) == (401, "Unauthorized")
    assert server.get("/version", server.token, files)[0] == 200
    assert server.get("/version")[0] == 200


def test_old_tls_is_refused(server: Server) -> None:
    context = ssl.create_default_context(cafile=str(server.data / "pki" / "ca.crt"))
    with pytest.warns(DeprecationWarning, match="TLSv1_1"):
        context.maximum_version = ssl.TLSVersion.TLSv1_1
    with socket.create_connection(("127.0.0.1", server.port)) as sock, pytest.raises((ssl.SSLError, OSError)):
        context.wrap_socket(sock, server_hostname="localhost")


@pytest.mark.parametrize("name", ["localhost", "127.0.0.1", "kubernetes.default.svc.cluster.local", "10.96.0.1"])
def test_the_serving_certificate_names(server: Server, name: str) -> None:
    context = ssl.create_default_context(cafile=str(server.data / "pki" / "ca.crt"))
    with socket.create_connection(("127.0.0.1", server.port)) as sock:
        context.wrap_socket(sock, server_hostname=name).close()


def test_a_first_start_makes_the_serving_certificate_once(server: Server) -> None:
    assert "reloaded serving certificates" not in server.data.with_suffix(".log").read_text()


def test_http_1_1_is_offered(server: Server) -> None:
    context = ssl.create_default_context(cafile=str(server.data / "pki" / "ca.crt"))
    context.set_alpn_protocols(["h2", "http/1.1"])
    with (
        socket.create_connection(("127.0.0.1", server.port)) as sock,
        context.wrap_socket(sock, server_hostname="localhost") as tls,
    ):
        assert tls.selected_alpn_protocol() == "http/1.1"


def test_a_data_directory_serves_one_process(server: Server) -> None:
    code, out, err = failing(server.data, "--storage", "memory")
    assert (code, out) == (1, "")
    assert err == f"sampan: error: the data directory {server.data} is in use by another sampan process\n"


def test_a_serving_certificate_can_be_configured(tmp_path: Path) -> None:
    own = make_ca("own", NOW)
    files = write(make_serving(own, ("127.0.0.1",), NOW), tmp_path / "serving")
    trust = write(own, tmp_path / "own")["certificate"]
    options = ("--tls-cert-file", str(files["certificate"]), "--tls-private-key-file", str(files["key"]))
    with running(tmp_path / "d", "--storage", "memory", *options) as server:
        context = ssl.create_default_context(cafile=str(trust))
        connection = http.client.HTTPSConnection("127.0.0.1", server.port, context=context, timeout=20)
        connection.request("GET", "/version")
        assert connection.getresponse().status == 200
        connection.close()


def test_the_kubeconfig_fits_a_serving_certificate_that_is_for_a_load_balancer_alone(tmp_path: Path) -> None:
    own = make_ca("own", NOW)
    files = write(make_serving(own, ("api.example.com",), NOW), tmp_path / "serving")
    options = ("--tls-cert-file", str(files["certificate"]), "--tls-private-key-file", str(files["key"]))
    with running(tmp_path / "d", "--storage", "memory", *options) as server:
        output = CliRunner().invoke(cli, ["get", "namespaces", "--kubeconfig", str(server.data / "kubeconfig")])
    assert output.exit_code == 0, output.output
    assert "default" in output.output


def watch(connection: http.client.HTTPSConnection, server: Server) -> http.client.HTTPResponse:
    """Open a watch."""
    headers = {"Authorization": f"Bearer {server.token}"}
    connection.request("GET", "/api/v1/configmaps?watch=1", headers=headers)
    response = connection.getresponse()
    assert response.status == 200
    return response


def test_sigterm_ends_watches_and_the_process(tmp_path: Path) -> None:
    with running(tmp_path / "d") as server:
        connection = server.connect()
        events = watch(connection, server)
        server.process.send_signal(signal.SIGTERM)
        events.read()
        connection.close()
        assert server.process.wait(20) == 0


def test_readyz_fails_before_the_end_and_a_second_signal_ends_at_once(tmp_path: Path) -> None:
    with running(tmp_path / "d", "--storage", "memory", "--shutdown-delay", "60") as server:
        connection = server.connect()
        connection.request("GET", "/readyz")
        assert connection.getresponse().read() == b"ok"
        server.process.send_signal(signal.SIGTERM)
        while server.get("/readyz") == (200, b"ok"):
            assert server.process.poll() is None
        assert b"[-]shutdown failed" in server.get("/readyz")[1]
        connection.request("GET", "/livez")
        assert connection.getresponse().read() == b"ok"
        connection.close()
        server.process.send_signal(signal.SIGTERM)
        assert server.process.wait(20) == 128 + signal.SIGTERM


def test_objects_outlive_the_process(tmp_path: Path) -> None:
    body = b'{"apiVersion":"v1","kind":"ConfigMap","metadata":{"name":"kept"},"data":{"a":"b"}}'
    path = "/api/v1/namespaces/default/configmaps"
    with running(tmp_path / "d") as server:
        connection = server.connect(**server.admin)
        connection.request("POST", path, body, {"Content-Type": "application/json"})
        assert connection.getresponse().status == 201
        connection.close()
    with running(tmp_path / "d") as server:
        assert server.status(f"{path}/kept", server.token)["data"] == {"a": "b"}


def test_version_reports_which_kubernetes() -> None:
    result = CliRunner().invoke(cli, ["version"])
    assert result.output.startswith("sampan ")
    assert "Kubernetes v1.36." in result.output


def test_the_version_needs_no_server() -> None:
    code = "import sys; from sampan.cli.main import cli; cli(['version'], standalone_mode=False)"
    code += "; print('sampan.app.up' in sys.modules)"
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    assert done.stdout.endswith("False\n")


def test_help_names_the_commands() -> None:
    shown = CliRunner().invoke(cli, ["--help"]).output
    assert "up " in shown
    assert "version " in shown
