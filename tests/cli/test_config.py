"""`sampan config`, --config, and what the settings of all commands have in common."""

import re
from pathlib import Path

import click
import pytest
from click.testing import CliRunner, Result

from sampan.app.settings.up import UpSettings
from sampan.cli.apiserver_options import ACCEPTED
from sampan.cli.config import config_command
from sampan.cli.processes.controllers import controllers_command
from sampan.cli.processes.dns import dns_command
from sampan.cli.processes.loops import loops_command
from sampan.cli.processes.node import node_command
from sampan.cli.processes.proxy import proxy_command
from sampan.cli.processes.scheduler import scheduler_command
from sampan.cli.processes.up import up_command
from sampan.cli.settings_command import SettingsCommand
from sampan.core.settings import ListOf, Setting, build, settings_of
from sampan.core.settings.configuration import read_config_file
from sampan.core.settings.kinds import BOOLEAN, DIRECTORY

COMMANDS = {
    command.name: command
    for command in (
        up_command,
        config_command,
        controllers_command,
        dns_command,
        loops_command,
        node_command,
        proxy_command,
        scheduler_command,
    )
}
SETTINGS = settings_of(UpSettings())
VALUES = {
    "strict-transport-security-directives": "max-age=1",
    "bind": "::1",
    "advertise-address": "10.0.0.1",
    "controllers": "*,-job-controller",
    "cluster-cidr": "10.1.0.0/16,fd00:1::/48",
    "load-balancer-pool": "192.0.2.0/28,2001:db8::1-2001:db8::9",
    "loops-probe-address": "127.0.0.1:8080",
    "network-probe-address": "127.0.0.1:8081",
    "dns-address": "127.0.0.1:5353",
    "service-cluster-ip-range": "10.7.0.0/16,fd00:7::/108",
    "service-node-port-range": "31000-31007",
    "node-ip": "10.0.0.1,fd00::1",
    "node-cidr-mask-size-ipv4": "26",
    "node-cidr-mask-size-ipv6": "80",
    "service-account-max-token-expiration": "2h",
    "oidc-required-claim": "a=b, c",
    "tls-sni-cert-key": "a.crt,a.key:*.example.com,b",
    "tls-cipher-suites": "TLS_ECDHE_RSA_WITH_AES_256_GCM_SHA384",
    "etcd-servers": "https://a:1,http://b:2",
    "etcd-prefix": "/other",
}
"""Values of settings that do not take any text."""


def config(*options: str, code: int = 0) -> Result:
    result = CliRunner().invoke(config_command, options)
    assert result.exit_code == code, result.output
    return result


def other_value(option: Setting, directory: Path) -> str:
    """Return the text of a value that is not the default."""
    kind = option.kind.item if isinstance(option.kind, ListOf) else option.kind
    assert kind is not None
    if option.name in VALUES:
        return VALUES[option.name]
    if kind is BOOLEAN:
        return "false" if option.default else "true"
    if kind.choices:
        return next(choice for choice in kind.choices if choice != option.default)
    if kind.completion:
        path = directory / option.name
        if kind is DIRECTORY:
            path.mkdir(exist_ok=True)
        return str(path)
    if kind.metavar == "DURATION":
        return "1h1m1.5s"
    if isinstance(option.default, int | float):
        return option.kind.write(option.default * 2 + (1 << 20)) if option.default > 1 << 19 else "7"
    return 'a: "b" #c\u00e9'


@pytest.mark.parametrize("engine", ["sqlite", "etcd"])
def test_output_of_config_is_a_file_with_the_same_settings(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, engine: str
) -> None:
    # Files of etcd have to exist, and are read; they are not in this test.
    # One size of a node's range contradicts those of the two families.
    left_out = {"storage", "read-only", "node-cidr-mask-size", "etcd-cafile", "etcd-certfile", "etcd-keyfile"}
    if engine == "etcd":
        left_out.add("history-bytes")  # etcd limits its own database
    monkeypatch.chdir(tmp_path)
    texts = {each.name: other_value(each, tmp_path) for each in SETTINGS if each.name not in left_out}
    texts["storage"] = engine
    options = [f"--{name}={text}" for name, text in texts.items() if name != "scheduler"]
    if engine == "sqlite":
        options = [option for option in options if not option.startswith("--etcd-")]
    file = tmp_path / "elsewhere" / "sampan.yaml"
    file.parent.mkdir()
    first = config(*options, "--no-scheduler").stdout
    file.write_text(first)
    found = {name: given.value for name, given in read_config_file(file, SETTINGS).items()}
    by_name = {each.name: each for each in SETTINGS}
    expected = {name: by_name[name].read([text]) for name, text in texts.items() if name in found}
    assert {name for name in texts if not name.startswith("etcd-") or engine == "etcd"} <= found.keys()
    assert {name: found[name] for name in expected} == {
        name: by_name[name].kind.relocate(value, tmp_path) for name, value in expected.items()
    }
    assert all(found[name] != by_name[name].default for name in expected if name != "storage")
    second = config("--config", str(file)).stdout
    assert re.sub(f"  # {file}:.*", "", second) == re.sub("  # (command line|default)", "", first)


def test_defaults_are_a_file_with_the_defaults(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)
    file = tmp_path / "sampan.yaml"
    file.write_text(config().stdout)
    given = read_config_file(file, SETTINGS)
    values = {each.path: given[each.name].value for each in SETTINGS if each.name in given and each.name != "data"}
    assert build(UpSettings(), values) == UpSettings()
    assert given["data"].value == tmp_path / "sampan-data"


def test_command_line_overrides_the_file(tmp_path: Path) -> None:
    file = tmp_path / "sampan.yaml"
    file.write_text("port: 7443\nbind: ::1\nservice-account-issuer: [https://a, https://b]\n")
    shown = config("--config", str(file), "--port=8443", "--service-account-issuer=https://c").stdout.splitlines()
    assert "port: 8443  # command line" in shown
    assert f'bind: "::1"  # {file}:2' in shown
    assert "service-account-issuer: [https://c]  # command line" in shown
    assert "profiling: true  # default" in shown


def test_settings_that_another_one_implies_are_reported() -> None:
    shown = config("--read-only", "--storage=memory").stdout.splitlines()
    assert 'controllers: ""  # implied by read-only' in shown
    assert "# etcd-servers: URLS  # not used: storage is memory, not etcd" in shown


def test_warnings_are_on_standard_error(tmp_path: Path) -> None:
    result = config("--feature-gates=A=true", "--etcd-servers=http://a:1")
    assert "Warning: options of kube-apiserver without effect here: --feature-gates" in result.stderr
    assert "Warning: options without effect, as the storage is sqlite" in result.stderr
    assert "Warning" not in result.stdout


@pytest.mark.parametrize(
    ("text", "error"),
    [
        ("prot: 1", "sampan.yaml:1: unknown setting 'prot'; did you mean port?"),
        ("tls-cert-file: a.crt", "--tls-cert-file and --tls-private-key-file belong together"),
        ("etcd-prefix: /x", "--etcd-prefix needs --storage etcd: with sqlite nothing is kept in etcd"),
        ("controllers: nobody", "--controllers: 'nobody' is no controller: known controllers are "),
    ],
)
@pytest.mark.parametrize("command", [up_command, config_command], ids=["up", "config"])
def test_wrong_file_is_a_usage_error(tmp_path: Path, command: click.Command, text: str, error: str) -> None:
    (tmp_path / "sampan.yaml").write_text(text)
    result = CliRunner().invoke(command, ["--config", str(tmp_path / "sampan.yaml")])
    assert result.exit_code == 2
    assert error in result.output


def test_subcommands_are_those_of_kubectl() -> None:
    assert "use kubectl config view" in config("view", code=2).output


def test_other_commands_take_a_file(tmp_path: Path) -> None:
    file = tmp_path / "node.yaml"
    file.write_text("runtime: process\nsimulated: 2\n")
    result = CliRunner().invoke(node_command, ["--config", str(file)])
    assert result.exit_code == 2
    assert "--simulated cannot be combined" in result.output


@pytest.mark.parametrize("command", COMMANDS.values(), ids=COMMANDS)
def test_every_option_has_a_group_a_meaning_and_one_name(command: SettingsCommand) -> None:
    names = [name for option in command.options for name in (option.name, *option.aliases)]
    assert len(names) == len(set(names))
    shown = [option for option in command.options if not option.hidden]
    assert [option.name for option in shown if not option.group or not option.help.endswith(".")] == []
    for param in command.params:
        assert all(name.startswith("-") for name in param.opts)


@pytest.mark.parametrize("command", COMMANDS.values(), ids=COMMANDS)
def test_help_has_a_section_for_each_group(command: SettingsCommand) -> None:
    text = CliRunner().invoke(command, ["--help"]).output
    groups = list(dict.fromkeys(option.group for option in command.options if not option.hidden))
    sections = [line[:-1] for line in text.splitlines() if line.endswith(":") and not line.startswith(" ")]
    assert sections == ["Options", *groups]


def test_most_used_groups_come_first() -> None:
    groups = list(dict.fromkeys(each.group for each in SETTINGS))
    assert groups[:4] == ["Server", "Storage", "Control loops and nodes", "Authentication"]


def test_secrets_are_in_files() -> None:
    words = ("password", "secret", "private-key", "signing-key")
    secret = [each for each in SETTINGS if any(word in each.name for word in words)]
    assert secret
    assert all(each.kind.completion == "file" for each in secret)


def test_accepted_options_have_no_setting() -> None:
    assert not {each.name for each in ACCEPTED} & {each.name for each in SETTINGS}
