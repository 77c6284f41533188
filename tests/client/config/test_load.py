"""The configuration that is found, and the error if there is none."""

import base64
import os
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest
import yaml

from sampan.client.config import Config, ConfigOverrides, ExecConfig, load_config
from sampan.client.errors import ConfigError
from sampan.client.identity import Impersonation
from sampan.http.client.tls import TlsOptions

SERVER = "https://example.org:6443"


def kubeconfig(name: str = "a", *, cluster: Any = None, user: Any = None, **context: str) -> dict[str, Any]:
    """A kubeconfig with one of each."""
    return {
        "apiVersion": "v1",
        "kind": "Config",
        "current-context": name,
        "clusters": [{"name": name, "cluster": {"server": SERVER} if cluster is None else cluster}],
        "users": [{"name": name, "user": user or {}}],
        "contexts": [{"name": name, "context": {"cluster": name, "user": name, **context}}],
    }


Write = Callable[..., Path]


@pytest.fixture
def write(tmp_path: Path) -> Write:
    def written(document: Any, name: str = "config") -> Path:
        path = tmp_path / name
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text(document if isinstance(document, str) else yaml.safe_dump(document))
        return path

    return written


def load(path: Path | str | None = None, **environ: str) -> Config:
    return load_config(path, environ=environ, mounted=Path("/nonexistent"))


def test_a_file_gives_server_and_namespace(write: Write) -> None:
    config = load(write(kubeconfig(namespace="web")))
    assert (config.server, config.namespace, config.context) == (SERVER, "web", "a")


def test_the_namespace_is_default_when_no_client_states(write: Write) -> None:
    assert load(write(kubeconfig())).namespace == "default"


def test_the_file_in_the_home_folder_is_the_default(write: Write, tmp_path: Path) -> None:
    write(kubeconfig(), ".kube/config")
    assert load(HOME=str(tmp_path)).server == SERVER


def test_kubeconfig_names_files_of_which_missing_ones_are_left_out(write: Write, tmp_path: Path) -> None:
    path = write(kubeconfig("b"))
    assert load(KUBECONFIG=f"{tmp_path}/missing{os.pathsep}{os.pathsep}{path}", HOME="/x").context == "b"


def test_an_explicit_file_goes_before_the_environment(write: Write) -> None:
    other = write(kubeconfig("other"), "other")
    assert load(write(kubeconfig("a")), KUBECONFIG=str(other)).context == "a"


def test_json_is_yaml(write: Write) -> None:
    text = '{"clusters":[{"name":"c","cluster":{"server":"https://h"}}],"contexts":[{"name":"x","context":{"cluster":"c"}}],"current-context":"x"}'
    assert load(write(text)).server == "https://h"


class TestMerging:
    """The first of several files that names an entry wins."""

    def load(self, write: Write, *documents: Any, **overrides: Any) -> Config:
        paths = [str(write(document, f"f{i}/config")) for i, document in enumerate(documents)]
        environ = {"KUBECONFIG": os.pathsep.join(paths)}
        return load_config(environ=environ, overrides=ConfigOverrides(**overrides), mounted=Path("/nonexistent"))

    def test_the_first_current_context_wins(self, write: Write) -> None:
        first = {**kubeconfig("a"), "current-context": ""}
        assert self.load(write, first, kubeconfig("b"), kubeconfig("c")).context == "b"

    def test_the_first_entry_of_a_name_wins_whole(self, write: Write) -> None:
        second = kubeconfig("a", cluster={"server": "https://second", "tls-server-name": "x"}, namespace="second")
        config = self.load(write, kubeconfig("a"), second)
        assert (config.server, config.tls.server_name, config.namespace) == (SERVER, "", "default")

    def test_entries_of_all_files_are_known(self, write: Write) -> None:
        context = {"current-context": "m", "contexts": [{"name": "m", "context": {"cluster": "a", "user": "b"}}]}
        config = self.load(write, context, kubeconfig("a"), kubeconfig("b", user={"token": "t"}))
        assert (config.server, config.token) == (SERVER, "t")

    def test_relative_paths_are_relative_to_their_file(self, write: Write, tmp_path: Path) -> None:
        (tmp_path / "f1").mkdir()
        (tmp_path / "f1" / "ca.crt").touch()
        second = kubeconfig("b", cluster={"server": SERVER, "certificate-authority": "ca.crt"})
        config = self.load(write, kubeconfig("a"), second, context="b")
        assert config.tls.ca_file == str(tmp_path / "f1" / "ca.crt")


@pytest.mark.parametrize(
    ("overrides", "found"),
    [
        (ConfigOverrides(), ("a", SERVER, "", "default")),
        (ConfigOverrides(context="b"), ("b", "https://b", "tb", "nb")),
        (ConfigOverrides(cluster="b"), ("a", "https://b", "", "default")),
        (ConfigOverrides(user="b"), ("a", SERVER, "tb", "default")),
        (ConfigOverrides(namespace="x"), ("a", SERVER, "", "x")),
    ],
    ids=["none", "context", "cluster", "user", "namespace"],
)
def test_overrides_go_before_the_files(
    write: Write, overrides: ConfigOverrides, found: tuple[str, str, str, str]
) -> None:
    a, b = kubeconfig("a"), kubeconfig("b", cluster={"server": "https://b"}, user={"token": "tb"}, namespace="nb")
    both = {**a, **{kind: a[kind] + b[kind] for kind in ("clusters", "users", "contexts")}}
    config = load_config(write(both), overrides=overrides, environ={})
    assert (config.context, config.server, config.token, config.namespace) == found


def test_all_that_a_cluster_may_state(write: Write) -> None:
    cluster = {
        "server": "https://h/prefix/",
        "certificate-authority-data": base64.b64encode(b"CA").decode(),
        "tls-server-name": "other",
        "proxy-url": "http://proxy:3128",
        "disable-compression": True,
        "extensions": [{"name": "client.authentication.k8s.io/exec", "extension": {"audience": "x"}}],
        "unknown": 1,
    }
    config = load(write(kubeconfig(cluster=cluster)))
    assert config.server == "https://h/prefix"
    assert config.tls == TlsOptions(ca_data=b"CA", server_name="other")
    assert (config.proxy_url, config.compression) == ("http://proxy:3128", False)
    assert config.exec_cluster_config == {"audience": "x"}


def test_all_that_a_user_may_state(write: Write, tmp_path: Path) -> None:
    for name in ("c.crt", "c.key"):
        (tmp_path / name).touch()
    user = {
        "client-certificate": "c.crt",
        "client-key": "c.key",
        "token": "t",
        "tokenFile": "token",
        "as": "jane",
        "as-uid": "u",
        "as-groups": ["g"],
        "as-user-extra": {"k": ["v"]},
        "password": None,
    }
    config = load(write(kubeconfig(user=user)))
    assert config.tls.certificate_file == str(tmp_path / "c.crt")
    assert config.tls.key_file == str(tmp_path / "c.key")
    assert (config.token, config.token_file) == ("t", str(tmp_path / "token"))
    assert config.impersonation == Impersonation("jane", "u", ("g",), {"k": ("v",)})


def test_a_program_with_a_slash_is_taken_from_the_folder_of_its_file(write: Write, tmp_path: Path) -> None:
    plugin = {
        "apiVersion": "client.authentication.k8s.io/v1",
        "command": "./bin/login",
        "args": ["-x"],
        "env": [{"name": "A", "value": "b"}],
        "installHint": "hint",
        "provideClusterInfo": True,
        "interactiveMode": "Never",
    }
    assert load(write(kubeconfig(user={"exec": plugin}))).exec == ExecConfig(
        "client.authentication.k8s.io/v1", str(tmp_path / "bin/login"), ("-x",), {"A": "b"}, "hint", True, "Never"
    )


def test_a_program_of_v1beta1_may_request_where_it_can(write: Write) -> None:
    plugin = {"apiVersion": "client.authentication.k8s.io/v1beta1", "command": "login"}
    found = load(write(kubeconfig(user={"exec": plugin}))).exec
    assert found is not None
    assert (found.command, found.interactive_mode) == ("login", "IfAvailable")


def test_no_credentials_go_to_a_server_without_tls(write: Write) -> None:
    config = load(write(kubeconfig(cluster={"server": "http://h"}, user={"token": "t", "as": "jane"})))
    assert (config.token, config.impersonation.user) == ("", "jane")


@pytest.mark.parametrize(
    ("cluster", "server"),
    [
        ({"server": "h:80"}, "http://h"),
        ({"server": "h:6443", "insecure-skip-tls-verify": True}, "https://h:6443"),
        ({"server": "https://[::1]:6443"}, "https://[::1]:6443"),
    ],
)
def test_a_server_without_a_scheme_has_tls_when_something_is_reported_about_it(
    write: Write, cluster: dict[str, Any], server: str
) -> None:
    assert load(write(kubeconfig(cluster=cluster))).server == server


def exec_user(**output: Any) -> dict[str, Any]:
    return {
        "exec": {"apiVersion": "client.authentication.k8s.io/v1", "command": "x", "interactiveMode": "Never", **output}
    }


CA = {"certificate-authority-data": "Q0E="}
BAD_ENTRIES: dict[str, tuple[Any, Any, str]] = {
    "no server": ({}, None, 'cluster "a": it has no server'),
    "server is a number": ({"server": 5}, None, 'cluster "a": .*Expected `str`'),
    "server of another kind": ({"server": "ftp://h"}, None, 'cluster "a": server: .*ftp://h'),
    "not base64": ({"server": SERVER, "certificate-authority-data": "!"}, None, 'cluster "a": .*(?i:base64)'),
    "authority missing": ({"server": SERVER, "certificate-authority": "/no/ca"}, None, "certificate-authority: /no/ca"),
    "authority and insecure": ({"server": SERVER, "insecure-skip-tls-verify": True, **CA}, None, "exclude each other"),
    "authority twice": ({"server": SERVER, "certificate-authority": "/no/ca", **CA}, None, "both given"),
    "proxy of another kind": ({"server": SERVER, "proxy-url": "ftp://p"}, None, 'cluster "a": proxy-url'),
    "key missing": (None, {"client-certificate-data": "Q0E="}, 'user "a": a client certificate needs'),
    "certificate missing": (None, {"client-certificate": "/no/c", "client-key-data": "Q0E="}, "/no/c cannot be read"),
    "two ways": (None, {"token": "t", "username": "u", "password": "p"}, 'user "a": token and username'),
    "groups without user": (None, {"as-groups": ["g"]}, 'user "a": as-uid, as-groups'),
    "auth provider": (None, {"auth-provider": {"name": "gcp"}}, "'gcp' is not supported"),
    "exec without command": (None, exec_user(command=""), 'user "a": exec: command must be given'),
    "exec without version": (None, exec_user(apiVersion=""), "exec: apiVersion must be given"),
    "exec of v1alpha1": (None, exec_user(apiVersion="client.authentication.k8s.io/v1alpha1"), "v1alpha1' is unknown"),
    "exec of v1 without mode": (None, exec_user(interactiveMode=""), "interactiveMode must be given"),
    "exec with unknown mode": (None, exec_user(interactiveMode="Some"), "interactiveMode 'Some' is unknown"),
    "exec with nameless variable": (None, exec_user(env=[{"value": "x"}]), "a variable of env has no name"),
}


@pytest.mark.parametrize(("cluster", "user", "message"), BAD_ENTRIES.values(), ids=BAD_ENTRIES)
def test_an_entry_that_cannot_be_used_is_named_with_its_file(
    write: Write, cluster: Any, user: Any, message: str
) -> None:
    path = write(kubeconfig(cluster=cluster, user=user))
    with pytest.raises(ConfigError, match=message) as caught:
        load(path)
    assert str(path) in str(caught.value)


X = "current-context: x\ncontexts: "
BAD_FILES = {
    "no yaml": ("a: [", "yaml: "),
    "a list": ("[]", "must be a map"),
    "something else": ("apiVersion: v1\nkind: Pod\n", "expected v1 Config, got v1 Pod"),
    "users no list": ("clusters: {}\nusers: 5\n", "users must be a list"),
    "no name": ("contexts: [{}]", r"contexts\[0\] has no name"),
    "twice": ("users: [{name: a}, {name: a}]", 'user "a" occurs twice'),
    "context no string": ("current-context: 5", "current-context must be a string"),
    "no user": (
        X + "[{name: x, context: {cluster: c, user: u}}]\nclusters: [{name: c, cluster: {server: h}}]",
        'context "x": user "u" does not exist',
    ),
    "no cluster": (X + "[{name: x, context: {cluster: c}}]", 'context "x": cluster "c" does not exist'),
    "context without cluster": (X + "[{name: x}]", "no cluster is set"),
    "no current context": ("contexts: [{name: x}, {name: a}]", r"no current-context \(existing: a, x\)"),
}


@pytest.mark.parametrize(("text", "message"), BAD_FILES.values(), ids=BAD_FILES)
def test_a_file_that_cannot_be_used_is_named(write: Write, text: str, message: str) -> None:
    path = write(text)
    with pytest.raises(ConfigError, match=message) as caught:
        load(path)
    assert str(path) in str(caught.value)


def test_a_context_that_does_not_exist_is_named_with_those_that_do(write: Write) -> None:
    with pytest.raises(ConfigError, match=r'context "x" does not exist \(existing: a\)'):
        load_config(write(kubeconfig("a")), overrides=ConfigOverrides(context="x"), environ={})


def test_an_explicit_file_must_exist() -> None:
    with pytest.raises(ConfigError, match="/no/such: file does not exist"):
        load("/no/such")


def test_an_empty_file_names_no_cluster(write: Write) -> None:
    with pytest.raises(ConfigError, match="no cluster is set"):
        load(write(""))


def test_without_anything_it_is_reported_where_was_looked() -> None:
    with pytest.raises(ConfigError, match=r"searched: /home/me/.kube/config"):
        load(HOME="/home/me")


def test_files_that_are_all_missing_are_logged(caplog: pytest.LogCaptureFixture) -> None:
    with pytest.raises(ConfigError, match="no configuration"):
        load(KUBECONFIG="/no/such")
    assert "/no/such" in caplog.text


def test_secrets_do_not_show(write: Write) -> None:
    config = load(write(kubeconfig(user={"username": "u", "password": "secret"})))
    assert config.password == "secret"
    assert "secret" not in repr(config)


class TestOverrides:
    """Options of the command line take precedence over the files."""

    def load(self, write: Write, document: Any, **overrides: Any) -> Config:
        path = write(document)
        return load_config(path, overrides=ConfigOverrides(**overrides), environ={}, mounted=Path("/nonexistent"))

    def test_a_server(self, write: Write) -> None:
        assert self.load(write, kubeconfig(), server="https://other:1").server == "https://other:1"

    def test_a_server_and_a_token_need_no_kubeconfig(self) -> None:
        overrides = ConfigOverrides(server="https://other:1", token="t")
        config = load_config(overrides=overrides, environ={"HOME": "/nonexistent"}, mounted=Path("/nonexistent"))
        assert (config.server, config.token) == ("https://other:1", "t")

    def test_a_token_goes_before_other_credentials(self, write: Write) -> None:
        config = self.load(write, kubeconfig(user={"username": "u", "password": "p"}), token="t")
        assert (config.token, config.username, config.password) == ("t", "", "")

    def test_trust_in_any_certificate_forgets_the_ca(self, write: Write) -> None:
        document = kubeconfig(cluster={"server": SERVER, "certificate-authority-data": base64.b64encode(b"x").decode()})
        assert self.load(write, document, insecure_skip_tls_verify=True).tls == TlsOptions(insecure=True)

    def test_the_impersonation_argument_overrides_the_kubeconfig(self, write: Write) -> None:
        jane = Impersonation("jane", groups=("people",))
        assert self.load(write, kubeconfig(user={"as": "bob"}), impersonation=jane).impersonation == jane
