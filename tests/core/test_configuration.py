"""Configuration files: what they may contain, and what is wrong with them."""

import os
from pathlib import Path
from typing import Any

import pytest

from sampan.app.settings.up import UpSettings
from sampan.cli.apiserver_options import ACCEPTED
from sampan.core.settings import settings_of
from sampan.core.settings.configuration import ConfigFileError, read_config_file

OPTIONS = (*settings_of(UpSettings()), *ACCEPTED)


@pytest.fixture
def file(tmp_path: Path) -> Path:
    return tmp_path / "sampan.yaml"


def values(file: Path, text: str) -> dict[str, Any]:
    """The values of a file by their names."""
    file.write_text(text)
    return {name: given.value for name, given in read_config_file(file, OPTIONS).items()}


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("port: 7443", {"port": 7443}),
        ('port: "7443"', {"port": 7443}),
        ("secure-port: 7443", {"port": 7443}),
        ("profiling: off", {"profiling": False}),
        ("request-timeout: 1m30s", {"request-timeout": 90.0}),
        ("drain-timeout: 5", {"drain-timeout": 5.0}),
        ("audit-log-maxsize: 2", {"audit-log-maxsize": 2 << 20}),
        ("authorization-mode: Node,RBAC", {"authorization-mode": ("Node", "RBAC")}),
        ("authorization-mode: [Node, RBAC]", {"authorization-mode": ("Node", "RBAC")}),
        ("service-account-issuer: https://a", {"service-account-issuer": ("https://a",)}),
        ("service-account-issuer:\n- https://a\n- https://b", {"service-account-issuer": ("https://a", "https://b")}),
        ("oidc-client-id: 007", {"oidc-client-id": "007"}),
        ("oidc-client-id: on", {"oidc-client-id": "on"}),
        ("controllers: ''", {"controllers": ""}),
        ("feature-gates: A=true", {"feature-gates": ("A=true",)}),
        ("allow-privileged: true", {"allow-privileged": True}),
        ("bind: &b ::1\nadvertise-address: *b", {"bind": "::1", "advertise-address": "::1"}),
        ("", {}),
        ("# nothing", {}),
    ],
)
def test_file_has_the_values_of_the_options(file: Path, text: str, expected: dict[str, Any]) -> None:
    assert values(file, text) == expected


def test_relative_paths_are_those_of_the_file(file: Path) -> None:
    here = file.parent
    text = "data: d\nclient-ca-file: /ca\naudit-log-path: log\ntls-sni-cert-key: ['a,b:n']\nservice-account-key-file: k"
    found = values(file, text)
    assert (found["data"], found["client-ca-file"], found["audit-log-path"]) == (here / "d", Path("/ca"), f"{here}/log")
    assert (found["tls-sni-cert-key"][0].certificate, found["tls-sni-cert-key"][0].key) == (here / "a", here / "b")
    assert found["service-account-key-file"] == (here / "k",)
    assert values(file, "audit-log-path: '-'") == {"audit-log-path": "-"}


@pytest.mark.parametrize(
    ("text", "error"),
    [
        ("bind: a\nprot: 1", ":2: unknown setting 'prot'; did you mean port?"),
        ("--port: 1", ":1: unknown setting '--port'; did you mean port?"),
        ("tls_cert_file: a", ":1: unknown setting 'tls_cert_file'; did you mean tls-cert-file?"),
        ("qqqqqq: 1", ":1: unknown setting 'qqqqqq'; `sampan config` prints all settings"),
        ("[a]: 1", ":1: a key must be the name of an option"),
        ("port: 1\nbind: a\nport: 2", ":3: port: is set twice, first at FILE:1"),
        ("port: 1\nsecure-port: 2", ":2: secure-port: is set twice, first at FILE:1"),
        ("port: x", ":1: port: 'x' is not a valid integer"),
        ("port: 70000", ":1: port: 70000 is not in the range 0<=x<=65535"),
        ("port: [1]", ":1: port: expected PORT, not a list"),
        ("port: {a: 1}", ":1: port: expected a plain value, not a mapping"),
        ("api-audiences: [[a]]", ":1: api-audiences: expected a plain value, not a list"),
        ("port:", ":1: port: has no value: remove the line for the default"),
        ("port: null", ":1: port: has no value: remove the line for the default"),
        ("request-timeout: 5 parsecs", ":1: request-timeout: time: unknown unit"),
        ("request-timeout: 5", ":1: request-timeout: time: missing unit in duration"),
        ("storage: mysql", ":1: storage: 'mysql' is not one of 'etcd', 'memory', 'sqlite'"),
        ("service-cluster-ip-range: [10.0.0.0/24, 10.1.0.0/24]", "two entries must be of different IP families"),
        ("profiling: maybe", ":1: profiling: 'maybe' is not a valid boolean"),
        ("insecure-port: 8080", ":1: insecure-port: a port without TLS is not supported"),
        ("- port: 1", ":1: is not a mapping"),
        ("text", ":1: is not a mapping"),
        ("a: b: c", ":1: is not YAML: "),
        ("a: 1\n---\nb: 2", ": is not YAML: "),
        ("a: *nothing", ":1: is not YAML: "),
        ("a: \0", ": is not YAML: "),
    ],
)
def test_wrong_file_is_refused_with_line_and_key(file: Path, text: str, error: str) -> None:
    with pytest.raises(ConfigFileError) as raised:
        values(file, text)
    sent = str(raised.value)
    assert error.replace("FILE", str(file)) in sent
    assert sent.startswith(str(file))
    assert "\n" not in sent


def test_bytes_that_are_no_text_are_not_yaml(file: Path) -> None:
    file.write_bytes(b"a: \xff\xfe")
    with pytest.raises(ConfigFileError, match="is not YAML"):
        read_config_file(file, OPTIONS)


def test_file_that_cannot_be_read_is_an_error(file: Path) -> None:
    with pytest.raises(ConfigFileError, match=f"cannot read {file}: {os.strerror(2)}"):
        read_config_file(file, OPTIONS)
