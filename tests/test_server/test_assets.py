"""The programs for KUBEBUILDER_ASSETS, used as envtest uses them."""

import http.client
import re
import signal
import ssl
import subprocess
from collections.abc import Iterator, Sequence
from contextlib import closing, contextmanager, suppress
from pathlib import Path

import pytest
from cryptography.hazmat.primitives.serialization import Encoding, NoEncryption, PrivateFormat

from sampan.core.clock import utc_now
from sampan.server.pki.certificates import KeyPair, make_ca, make_client, make_serving
from tests.ports import free_port
from tests.test_server.api import until


@contextmanager
def program(command: Sequence[object], environment: dict[str, str]) -> Iterator["subprocess.Popen[bytes]"]:
    """Run a program of the assets until the end of the block."""
    process = subprocess.Popen([str(word) for word in command], env=environment, stderr=subprocess.DEVNULL)
    with process:
        try:
            yield process
        finally:
            process.kill()


class Envtest:
    """Certificates and options in the form in which envtest passes them."""

    def __init__(self, directory: Path) -> None:
        self.port, self.directory = free_port(), directory
        self.ca = make_ca("envtest", utc_now())
        directory.mkdir()
        self._write("apiserver", make_serving(self.ca, ("127.0.0.1", "localhost"), utc_now()))
        self._write("sa-signer", make_ca("sa", utc_now()))
        self._write("client", make_client(self.ca, "default", ("system:masters",), utc_now()))
        (directory / "client-cert-auth-ca.crt").write_bytes(self.ca.certificate_pem())

    def _write(self, stem: str, pair: KeyPair) -> None:
        (self.directory / f"{stem}.crt").write_bytes(pair.certificate_pem())
        key = pair.key.private_bytes(Encoding.PEM, PrivateFormat.PKCS8, NoEncryption())
        (self.directory / f"{stem}.key").write_bytes(key)

    def options(self) -> list[str]:
        """Return the options of kube-apiserver."""
        at = self.directory
        return [
            "--allow-privileged=true",
            "--authorization-mode=RBAC",
            "--bind-address=127.0.0.1",
            f"--cert-dir={at}",
            f"--client-ca-file={at / 'client-cert-auth-ca.crt'}",
            "--disable-admission-plugins=ServiceAccount",
            "--etcd-servers=http://127.0.0.1:1",
            "--option-of-a-later-version=7",
            f"--secure-port={self.port}",
            f"--service-account-issuer=https://127.0.0.1:{self.port}/",
            f"--service-account-key-file={at / 'sa-signer.crt'}",
            f"--service-account-signing-key-file={at / 'sa-signer.key'}",
            "--service-cluster-ip-range=10.0.0.0/24",
        ]

    def status(self, path: str, *, user: bool = False) -> int:
        """Return the status of a GET, 0 without a server."""
        context = ssl.create_default_context(cadata=self.ca.certificate_pem().decode())
        if user:
            context.load_cert_chain(self.directory / "client.crt", self.directory / "client.key")
        connection = http.client.HTTPSConnection("127.0.0.1", self.port, context=context, timeout=20)
        with closing(connection), suppress(ConnectionError):
            connection.request("GET", path)
            with connection.getresponse() as response:
                return response.status
        return 0


@pytest.fixture(scope="module")
def envtest(tmp_path_factory: pytest.TempPathFactory) -> Envtest:
    """Return certificates and a port."""
    return Envtest(tmp_path_factory.mktemp("envtest") / "certificates")


def test_a_server_obeys_the_contract_of_envtest(envtest: Envtest, assets: Path, environment: dict[str, str]) -> None:
    with program([assets / "kube-apiserver", *envtest.options()], environment) as process:
        until(lambda: envtest.status("/healthz") == 200)
        anonymous = envtest.status("/api/v1/namespaces/default")
        assert (anonymous, envtest.status("/api/v1/namespaces/default", user=True)) == (403, 200)
        process.send_signal(signal.SIGTERM)
        assert process.wait(5) == 0
    assert envtest.status("/healthz") == 0


@pytest.mark.parametrize(("more", "expected"), [((), 404), (("--extra-apis",), 200)], ids=["default", "extra"])
def test_a_server_has_the_apis_of_kubernetes_only(
    envtest: Envtest, assets: Path, environment: dict[str, str], more: tuple[str, ...], expected: int
) -> None:
    extra = ("/apis/batch/v1beta1", "/apis/batch/v2alpha1", "/apis/apiextensions.k8s.io/v1beta1")
    with program([assets / "kube-apiserver", *envtest.options(), *more], environment) as process:
        until(lambda: envtest.status("/readyz") == 200)
        found = [envtest.status(path, user=True) for path in (*extra, "/apis/conversion.sampan.dev/v1alpha1")]
        services = "/apis/apiregistration.k8s.io/v1/apiservices/v1beta1.batch"
        assert (found, envtest.status(services, user=True)) == ([expected] * 4, expected)
        assert envtest.status("/apis/batch/v1", user=True) == 200
        process.send_signal(signal.SIGTERM)
        assert process.wait(5) == 0


def test_a_server_ends_when_its_program_is_killed(envtest: Envtest, assets: Path, environment: dict[str, str]) -> None:
    with program([assets / "kube-apiserver", *envtest.options()], environment) as process:
        until(lambda: envtest.status("/healthz") == 200)
        process.kill()
        until(lambda: envtest.status("/healthz") == 0)


def test_etcd_reports_that_it_is_healthy(assets: Path, environment: dict[str, str]) -> None:
    port = free_port()

    def health() -> bytes:
        connection = http.client.HTTPConnection("127.0.0.1", port, timeout=20)
        with closing(connection), suppress(ConnectionError):
            connection.request("GET", "/health")
            return connection.getresponse().read()
        return b""

    with program([assets / "etcd", f"--listen-client-urls=http://127.0.0.1:{port}"], environment) as process:
        until(lambda: b'"health":"true"' in health())
        process.send_signal(signal.SIGTERM)
        assert process.wait(5) == 0


@pytest.mark.parametrize("name", ["kube-apiserver", "etcd"])
def test_the_help_names_no_option_that_envtest_would_then_pass(
    name: str, assets: Path, environment: dict[str, str]
) -> None:
    done = subprocess.run([assets / name, "--help"], env=environment, capture_output=True, text=True, check=True)
    assert not re.search(r"(?m)^\s*--(insecure-port|unsafe-no-fsync)\b", done.stdout)


def test_kubectl_is_sampan_if_there_is_no_other(assets: Path, environment: dict[str, str]) -> None:
    command = [str(assets / "kubectl"), "--kubeconfig=/nonexistent", "get", "pods"]
    done = subprocess.run(
        command, env={**environment, "PATH": str(assets)}, capture_output=True, text=True, check=False
    )
    assert "/nonexistent" in done.stderr
