"""Mistakes in every option of `sampan up`, from the declarations of its settings: new options are covered."""

import re
import socket
from collections.abc import Iterator
from pathlib import Path

import pytest

from sampan.app import main as program
from sampan.app.settings.up import UpSettings
from sampan.cli.main import main
from sampan.cli.processes import up
from sampan.core.settings import ListOf, Setting, settings_of

SETTINGS = {each.name: each for each in settings_of(UpSettings())}
CHOICES = [each for each in SETTINGS.values() if each.kind.choices]
FILES = [name for name, each in SETTINGS.items() if each.kind.completion == "file" and name != "audit-log-path"]
ALSO = {
    "authorization-policy-file": ["--authorization-mode=ABAC"],
    "authorization-webhook-config-file": ["--authorization-mode=Webhook"],
    "requestheader-client-ca-file": ["--requestheader-username-headers=X-Remote-User"],
    "oidc-ca-file": ["--oidc-issuer-url=https://issuer.example.com", "--oidc-client-id=client"],
    "audit-webhook-config-file": ["--audit-policy-file={policy}"],
    "service-account-signing-key-file": ["--service-account-issuer=https://issuer.example.com"],
}
"""Options that an option needs."""
PAIRS = (
    ("tls-cert-file", "tls-private-key-file"),
    ("kubelet-client-certificate", "kubelet-client-key"),
    ("proxy-client-cert-file", "proxy-client-key-file"),
    ("etcd-certfile", "etcd-keyfile"),
)
CONTENTS = {
    "words": b"some words\n",
    "binary": bytes(range(256)),
    "broken PEM": b"-----BEGIN CERTIFICATE-----\nAAAA\n-----END CERTIFICATE-----\n",
}


@pytest.fixture(scope="module")
def data(tmp_path_factory: pytest.TempPathFactory) -> Path:
    return tmp_path_factory.mktemp("up") / "data"


@pytest.fixture
def busy_port() -> Iterator[int]:
    with socket.socket() as sock:
        sock.bind(("127.0.0.1", 0))
        sock.listen()
        yield sock.getsockname()[1]


@pytest.fixture(autouse=True)
def quiet(monkeypatch: pytest.MonkeyPatch) -> None:
    """Do not change the logging and the limits of the test's process."""
    monkeypatch.setattr(up, "up", program._run_once)


def refused(capsys: pytest.CaptureFixture[str], *options: str) -> str:
    """Run `sampan up`, and return its error."""
    with pytest.raises(SystemExit) as ended:
        main(["up", *options])
    error = capsys.readouterr().err
    assert ended.value.code in (1, 2)
    assert len(error.splitlines()) == 1, error
    assert error.startswith("sampan: error: ")
    assert not re.search("https?://(?!issuer.example.com)|Traceback|_ssl.c", error), error
    return error


def started(data: Path, port: int, *options: str) -> list[str]:
    storage = "etcd" if any(each.startswith("--etcd") for each in options) else "memory"
    etcd = ["--etcd-servers=https://127.0.0.1:1"] if storage == "etcd" else []
    return [f"--data={data}", f"--port={port}", f"--storage={storage}", *etcd, *options]


def options_with(name: str, file: Path, policy: Path) -> list[str]:
    names = next((pair for pair in PAIRS if name in pair), (name,))
    return [*(f"--{each}={file}" for each in names), *(each.format(policy=policy) for each in ALSO.get(name, ()))]


@pytest.mark.parametrize("content", CONTENTS)
@pytest.mark.parametrize("name", FILES)
def test_a_file_with_a_wrong_content_is_named_before_the_port_is_needed(
    capsys: pytest.CaptureFixture[str], data: Path, tmp_path: Path, busy_port: int, name: str, content: str
) -> None:
    file, policy = tmp_path / "file", tmp_path / "policy"
    file.write_bytes(CONTENTS[content])
    policy.write_text('{"apiVersion": "audit.k8s.io/v1", "kind": "Policy", "rules": [{"level": "None"}]}')
    error = refused(capsys, *started(data, busy_port, *options_with(name, file, policy)))
    assert str(file) in error, error


@pytest.mark.parametrize("kind", ["missing", "directory"])
@pytest.mark.parametrize("name", FILES)
def test_a_file_that_cannot_be_read_is_named_before_the_port_is_needed(
    capsys: pytest.CaptureFixture[str], data: Path, tmp_path: Path, busy_port: int, name: str, kind: str
) -> None:
    file = tmp_path / "nothing" if kind == "missing" else tmp_path
    error = refused(capsys, *started(data, busy_port, *options_with(name, file, file)))
    assert str(file) in error, error


def test_a_busy_port_names_the_option(capsys: pytest.CaptureFixture[str], data: Path, busy_port: int) -> None:
    error = refused(capsys, *started(data, busy_port))
    assert f"127.0.0.1:{busy_port}: Address already in use" in error
    assert "--port" in error
    assert not (data / "kubeconfig").exists()


@pytest.mark.parametrize("setting", CHOICES, ids=lambda each: each.name)
def test_a_mistyped_choice_gets_a_suggestion(capsys: pytest.CaptureFixture[str], setting: Setting) -> None:
    right = max(setting.kind.choices, key=len)
    error = refused(capsys, f"--{setting.name}={right[:-2]}{right[-1]}")
    assert f"--{setting.name}" in error
    assert f"did you mean {right}?" in error


@pytest.mark.parametrize(
    ("option", "right"),
    [
        ("--authorization-mode=RBCA", "RBAC"),
        ("--controllers=deployment-controler", "deployment-controller"),
        ("--enable-admission-plugins=PodSecurityy", "PodSecurity"),
        ("--disable-admission-plugins=ResourceQota", "ResourceQuota"),
        ("--tls-cipher-suites=TLS_ECDHE_RSA_WITH_AES_128_GCM_SHA25", "TLS_ECDHE_RSA_WITH_AES_128_GCM_SHA256"),
    ],
)
def test_a_mistyped_name_in_a_list_gets_a_suggestion(
    capsys: pytest.CaptureFixture[str], data: Path, option: str, right: str
) -> None:
    error = refused(capsys, *started(data, 0, option))
    assert f"did you mean {right}?" in error
    assert option.partition("=")[0].lstrip("-") in error


@pytest.mark.parametrize("text", ["", "-1", "1e999", "\n", "x=y,z", "\x00", "9" * 400])
@pytest.mark.parametrize("setting", SETTINGS.values(), ids=SETTINGS)
def test_a_value_is_accepted_or_refused_in_one_line(setting: Setting, text: str) -> None:
    faults: list[str] = []
    try:
        setting.read([text])
    except ValueError as error:
        faults.append(str(error))
    assert not any("\n" in fault or "://" in fault for fault in faults)


def test_lists_of_choices_are_checked_too() -> None:
    assert all(each.kind.item is not None for each in SETTINGS.values() if isinstance(each.kind, ListOf))
