"""Options that other programs pass to kube-apiserver."""

import json
from pathlib import Path
from typing import Any

import pytest
from click.testing import CliRunner

from sampan.app.settings.up import UpSettings
from sampan.cli.apiserver_options import REFUSED
from sampan.cli.processes.up import up_command
from sampan.core.tls.certificates import KeyPair
from sampan.server.pki.certificates import make_ca, make_client, make_serving
from tests.cli.server import running
from tests.server.tls_files import NOW

ENVTEST = (
    "--allow-privileged=true",
    "--authorization-mode=RBAC",
    "--bind-address=127.0.0.1",
    "--disable-admission-plugins=ServiceAccount",
    "--etcd-servers=http://127.0.0.1:2379",
    "--service-cluster-ip-range=10.0.0.0/24",
    "--advertise-address=127.0.0.1",
    "--service-account-issuer=https://127.0.0.1:1/",
    "--insecure-port=0",
)
KUBEADM = (
    "--advertise-address=127.0.0.1",
    "--allow-privileged",
    "--authorization-mode=Node,RBAC",
    "--enable-admission-plugins=NodeRestriction",
    "--enable-bootstrap-token-auth=true",
    "--etcd-servers=https://127.0.0.1:2379",
    "--kubelet-preferred-address-types=InternalIP,ExternalIP,Hostname",
    "--requestheader-allowed-names=front-proxy-client",
    "--requestheader-extra-headers-prefix=X-Remote-Extra-",
    "--requestheader-group-headers=X-Remote-Group",
    "--requestheader-username-headers=X-Remote-User",
    "--secure-port=6443",
    "--service-account-issuer=https://kubernetes.default.svc.cluster.local",
    "--service-cluster-ip-range=10.96.0.0/12,fd00::/108",
)
KUBECTL_SUITE = (
    "--advertise-address=10.10.10.10",
    "--etcd-servers=http://127.0.0.1:2379",
    "--authorization-mode=RBAC",
    "--secure-port=6443",
    "--enable-admission-plugins=LimitRanger,ResourceQuota",
    "--disable-admission-plugins=ServiceAccount",
    "--runtime-config=api/v1,apps/v1",
    "--feature-gates=A=true,B=false",
    "--service-cluster-ip-range=10.0.0.0/24",
    "--service-account-lookup=true",
    "--storage-media-type=",
    "--tls-min-version=",
    "--audit-policy-file=",
    "--token-auth-file=",
    "--egress-selector-config-file=",
    "--strict-transport-security-directives=max-age=31536000,includeSubDomains",
    "--shutdown-delay-duration=2s",
    "--event-ttl=1h",
    "-v",
    "4",
)


@pytest.fixture
def settings(monkeypatch: pytest.MonkeyPatch) -> list[UpSettings]:
    """Settings of the servers. None is started."""
    reported: list[UpSettings] = []
    monkeypatch.setattr("sampan.cli.processes.up.up", lambda settings, announce: reported.append(settings))
    return reported


def invoke(*options: str) -> tuple[int, str]:
    result = CliRunner().invoke(up_command, options)
    return result.exit_code, result.output


@pytest.mark.parametrize("options", [ENVTEST, KUBEADM, KUBECTL_SUITE], ids=["envtest", "kubeadm", "kubectl"])
def test_command_lines_of_other_programs_are_accepted(settings: list[UpSettings], options: tuple[str, ...]) -> None:
    assert invoke(*options) == (0, "")
    [note] = [note for note in settings[0].notes if "storage" in note]
    assert note.startswith("options without effect, as the storage is sqlite (--storage etcd uses them): --etcd-")


def test_every_option_of_kube_apiserver_is_accepted_or_refused_with_a_remedy(settings: list[UpSettings]) -> None:
    names = Path(__file__).with_name("kube_apiserver_options.txt").read_text().split()
    known = {name for parameter in up_command.params for name in parameter.opts}
    assert [name for name in names if f"--{name}" not in known] == []
    for name, remedy in REFUSED.items():
        code, output = invoke(f"--{name}=x")
        assert (code, f"not supported: {remedy}" in " ".join(output.split())) == (2, True), output
        assert invoke(f"--{name}=")[0] == 0


def test_empty_values_are_the_defaults(settings: list[UpSettings]) -> None:
    invoke(*KUBECTL_SUITE)
    [found] = settings
    assert (found.storage_media_type, found.tls_min_version) == ("application/json", "VersionTLS12")
    assert (found.audit.policy_file, found.shutdown_delay_s) == (None, 2.0)
    assert found.hsts_directives == ("max-age=31536000", "includeSubDomains")


def test_options_without_effect_are_named_in_one_note(settings: list[UpSettings]) -> None:
    invoke("--feature-gates=A=true", "--runtime-config", "api/all=true", "--watch-cache", "--vmodule=a")
    [note] = settings[0].notes
    assert note.endswith("without effect here: --feature-gates, --runtime-config, --vmodule, --watch-cache")


def test_servers_of_etcd_do_not_change_the_storage(settings: list[UpSettings]) -> None:
    invoke("--etcd-servers=http://127.0.0.1:2379", "--etcd-prefix=/x")
    [note] = settings[0].notes
    assert settings[0].storage.name == "sqlite"
    assert note.endswith(": --etcd-servers, --etcd-prefix")


def test_bind_address_and_secure_port_are_other_names(settings: list[UpSettings]) -> None:
    invoke("--bind-address=::1", "--secure-port=8443")
    assert (settings[0].bind, settings[0].port) == ("::1", 8443)


@pytest.mark.parametrize(
    ("option", "text"),
    [
        ("--service-cluster-ip-range=x", "'x' does not appear to be an IPv4 or IPv6 network"),
        ("--service-cluster-ip-range=10.0.0.1/24", "10.0.0.1/24 has host bits set"),
        ("--service-cluster-ip-range=10.0.0.0/24,10.1.0.0/24", "two entries must be of different IP families"),
        ("--service-cluster-ip-range=10.0.0.0/24,fd00::/108,10.1.0.0/24", "must not contain more than two entries"),
        ("--service-cluster-ip-range=10.0.0.0/30", "10.0.0.0/30 is too small"),
        ("--service-node-port-range=30000", "'30000' is not FIRST-LAST"),
        ("--service-node-port-range=2-1", "'2-1' is not FIRST-LAST"),
        ("--service-node-port-range=1-99999", "'1-99999' is not FIRST-LAST"),
        ("--advertise-address=here", "'here' does not appear to be an IPv4 or IPv6 address"),
        ("--allow-privileged=false", "false is not supported"),
        ("--insecure-port=8080", "only 0 is accepted"),
        ("--cluster-cidr=x", "--cluster-cidr: 'x' does not appear"),
        ("--cluster-cidr=10.0.0.0/16,10.1.0.0/16", "--cluster-cidr: two entries must be of different IP families"),
        ("--cluster-cidr=10.0.0.0/16,fd00::/80", "--cluster-cidr: fd00::/80 has no parts of the size /64"),
        ("--node-cidr-mask-size-ipv6=80", "--node-cidr-mask-size-ipv6: --cluster-cidr has no IPv6 network"),
        ("--node-cidr-mask-size=8", "--cluster-cidr: 10.128.0.0/9 has no parts of the size /8"),
        ("--strict-transport-security-directives=max-age", "'max-age' is not max-age=SECONDS, includeSubDomains"),
        ("--request-timeout=0s", "0s is not more than zero"),
    ],
)
def test_an_invalid_apiserver_option_is_a_usage_error(settings: list[UpSettings], option: str, text: str) -> None:
    code, output = invoke(option)
    assert (code, text in output, settings) == (2, True, []), output


def test_the_help_does_not_offer_an_insecure_port() -> None:
    """envtest passes --insecure-port if it finds a line for it."""
    code, output = invoke("--help")
    assert code == 0
    assert "insecure-port" not in output


def env(folder: Path) -> tuple[KeyPair, list[str]]:
    """The files that envtest makes. Gives the authority of clients, and the options that name the files."""
    ca = make_ca("envtest", NOW)
    serving = make_serving(ca, ("127.0.0.1", "localhost"), NOW)
    (folder / "apiserver.crt").write_bytes(serving.certificate_pem())
    (folder / "apiserver.key").write_bytes(serving.key_pem())
    (folder / "client-ca.crt").write_bytes(ca.certificate_pem())
    client = make_client(ca, "admin", ("system:masters",), NOW)
    (folder / "admin.crt").write_bytes(client.certificate_pem())
    (folder / "admin.key").write_bytes(client.key_pem())
    signer = make_ca("sa-signer", NOW)
    (folder / "sa-signer.crt").write_bytes(signer.certificate_pem())
    (folder / "sa-signer.key").write_bytes(signer.key_pem())
    return ca, [
        f"--cert-dir={folder}",
        f"--client-ca-file={folder / 'client-ca.crt'}",
        f"--service-account-key-file={folder / 'sa-signer.crt'}",
        f"--service-account-signing-key-file={folder / 'sa-signer.key'}",
    ]


def test_a_server_with_the_options_of_envtest_serves_what_they_state(tmp_path: Path) -> None:
    certs = tmp_path / "certs"
    certs.mkdir()
    ca, files = env(certs)
    with running(tmp_path / "data", *ENVTEST, *files, "--storage=memory") as server:
        (tmp_path / "data" / "pki" / "ca.crt").write_bytes(ca.certificate_pem())  # what the test's client trusts
        admin = {"certificate": certs / "admin.crt", "key": certs / "admin.key"}
        service = server.status("/api/v1/namespaces/default/services/kubernetes", files=admin)
        assert service["spec"]["clusterIPs"] == ["10.0.0.1"]
        cidr = server.status("/apis/networking.k8s.io/v1/servicecidrs/kubernetes", files=admin)
        assert cidr["spec"]["cidrs"] == ["10.0.0.0/24"]
        assert server.get("/healthz")[0] == 200


def test_two_networks_give_services_two_addresses_and_stay(tmp_path: Path) -> None:
    data = tmp_path / "data"
    with running(data, "--service-cluster-ip-range=10.7.0.0/16,fd00:7::/108", "--service-node-port-range=31000-31007"):
        pass
    with running(data, "--service-cluster-ip-range=10.8.0.0/16", "--service-node-port-range=32000-32007") as server:
        connection = server.connect()
        spec = {"type": "NodePort", "ipFamilyPolicy": "RequireDualStack", "ports": [{"port": 80}]}
        body: Any = {"apiVersion": "v1", "kind": "Service", "metadata": {"name": "s"}, "spec": spec}
        headers = {"Authorization": f"Bearer {server.token}", "Content-Type": "application/json"}
        connection.request("POST", "/api/v1/namespaces/default/services", json.dumps(body), headers)
        made = json.loads(connection.getresponse().read())["spec"]
        connection.close()
        assert made["clusterIPs"][0].startswith("10.7.")
        assert made["clusterIPs"][1].startswith("fd00:7::")
        kubernetes = server.status("/api/v1/namespaces/default/services/kubernetes", server.token)
        assert kubernetes["spec"]["clusterIP"] == "10.7.0.1"
    assert "--service-cluster-ip-range has no effect" in data.with_suffix(".log").read_text()


def test_an_empty_directory_gets_the_certificate_that_is_served(tmp_path: Path) -> None:
    certs = tmp_path / "certs"
    for _ in range(2):
        with running(tmp_path / "data", f"--cert-dir={certs}", "--storage=memory") as server:
            assert server.get("/healthz")[0] == 200
            own = tmp_path / "data" / "pki" / "apiserver.crt"
            assert (certs / "apiserver.crt").read_bytes() == own.read_bytes()
