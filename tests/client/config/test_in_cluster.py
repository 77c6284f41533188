"""The configuration of a pod."""

from pathlib import Path

import pytest

from sampan.client.config import Config, in_cluster_config, load_config
from sampan.client.errors import ConfigError
from sampan.http.client.tls import TlsOptions

SERVICE = {"KUBERNETES_SERVICE_HOST": "10.0.0.1", "KUBERNETES_SERVICE_PORT": "443"}


@pytest.fixture
def mounted(tmp_path: Path) -> Path:
    for name, text in {"token": "t", "ca.crt": "CA", "namespace": "web\n"}.items():
        (tmp_path / name).write_text(text)
    return tmp_path


def test_it_is_used_when_there_is_no_kubeconfig(mounted: Path) -> None:
    config = load_config(environ=SERVICE, mounted=mounted)
    tls = TlsOptions(ca_file=str(mounted / "ca.crt"))
    assert config == Config("https://10.0.0.1", "web", tls, token_file=str(mounted / "token"))


def test_a_kubeconfig_goes_before_it(mounted: Path) -> None:
    path = mounted / "config"
    path.write_text(
        "{clusters: [{name: c, cluster: {server: 'https://h'}}], "
        "contexts: [{name: x, context: {cluster: c}}], current-context: x}"
    )
    assert load_config(environ={**SERVICE, "KUBECONFIG": str(path)}, mounted=mounted).server == "https://h"


def test_it_goes_before_a_kubeconfig_that_chooses_no_context(mounted: Path) -> None:
    (mounted / "config").write_text("contexts: [{name: x, context: {cluster: c}}]")
    environ = {**SERVICE, "KUBECONFIG": str(mounted / "config")}
    assert load_config(environ=environ, mounted=mounted).namespace == "web"


def test_a_kubeconfig_that_is_wrong_is_not_passed_over(mounted: Path) -> None:
    (mounted / "config").write_text("current-context: x")
    with pytest.raises(ConfigError, match='context "x" does not exist'):
        load_config(environ={**SERVICE, "KUBECONFIG": str(mounted / "config")}, mounted=mounted)


def test_addresses_of_ipv6_are_written_in_brackets(mounted: Path) -> None:
    environ = {**SERVICE, "KUBERNETES_SERVICE_HOST": "fd00::1", "KUBERNETES_SERVICE_PORT": "6443"}
    assert in_cluster_config(environ, mounted).server == "https://[fd00::1]:6443"


def test_the_environment_may_name_the_namespace(mounted: Path) -> None:
    assert in_cluster_config({**SERVICE, "POD_NAMESPACE": "other"}, mounted).namespace == "other"


def test_without_a_namespace_it_is_default(mounted: Path) -> None:
    (mounted / "namespace").unlink()
    assert in_cluster_config(SERVICE, mounted).namespace == "default"


@pytest.mark.parametrize(
    ("environ", "message"),
    [({}, "not in a cluster"), ({**SERVICE, "KUBERNETES_SERVICE_PORT": "x"}, "'x' is not a port number")],
    ids=["no pod", "bad port"],
)
def test_faults_are_reported(mounted: Path, environ: dict[str, str], message: str) -> None:
    with pytest.raises(ConfigError, match=message):
        in_cluster_config(environ, mounted)


def test_a_missing_token_is_reported(mounted: Path) -> None:
    (mounted / "token").unlink()
    with pytest.raises(ConfigError, match="cannot read service account token"):
        in_cluster_config(SERVICE, mounted)
