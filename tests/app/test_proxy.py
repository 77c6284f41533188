"""Effect of the options for kubelets of `sampan up`."""

import datetime
from pathlib import Path

import pytest

from sampan.app.errors import StartError
from sampan.app.proxy import proxy_settings
from sampan.app.settings.up import UpSettings
from sampan.core.tls.certificates import read_key_pair
from sampan.server.authentication.client_certificate import certificate_user
from sampan.server.pki.directory import ServerCredentials, prepare_credentials
from sampan.server.proxy.kubelet import KubeletSettings


@pytest.fixture
def credentials(tmp_path: Path) -> ServerCredentials:
    return prepare_credentials(tmp_path, ["localhost"], datetime.datetime.now(datetime.UTC))


def test_kubelets_are_shown_the_certificate_of_the_data_directory(credentials: ServerCredentials) -> None:
    kubelet = proxy_settings(UpSettings(), credentials).kubelet
    assert kubelet.client_certificate is not None
    assert kubelet.client_key is not None
    pair = read_key_pair(kubelet.client_certificate.read_bytes(), kubelet.client_key.read_bytes())
    user = certificate_user(pair.certificate)
    assert user is not None
    assert user.name == "kube-apiserver-kubelet-client"
    assert "system:masters" in user.groups
    assert kubelet.certificate_authority is None


@pytest.mark.parametrize(
    ("bind", "reported", "allowed"),
    [
        ("127.0.0.1", None, True),
        ("::1", None, True),
        ("localhost", None, True),
        ("0.0.0.0", None, False),
        ("::", None, False),
        ("10.0.0.1", None, False),
        ("api.example.com", None, False),
        ("127.0.0.1", False, False),
        ("0.0.0.0", True, True),
    ],
)
def test_loopback_is_for_servers_on_loopback_or_by_order(
    credentials: ServerCredentials, bind: str, reported: bool | None, allowed: bool
) -> None:
    settings = UpSettings(bind=bind, proxy_allow_loopback=reported)
    assert proxy_settings(settings, credentials).allow_loopback is allowed


def test_files_that_cannot_be_used_are_reported_at_the_start(credentials: ServerCredentials, tmp_path: Path) -> None:
    with pytest.raises(StartError, match="cannot read"):
        proxy_settings(UpSettings(kubelet=KubeletSettings(certificate_authority=tmp_path / "none")), credentials)
    (tmp_path / "bad").write_text("x")
    with pytest.raises(StartError, match="cannot use the files of the kubelet client"):
        proxy_settings(UpSettings(kubelet=KubeletSettings(certificate_authority=tmp_path / "bad")), credentials)
