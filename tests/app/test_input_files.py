"""Certificates in the files of options: what clients refuse is logged, and a key of another certificate is an error."""

import datetime as dt
from dataclasses import replace
from pathlib import Path

import pytest

from sampan.app.errors import StartError
from sampan.app.input_files import check_input_files
from sampan.app.settings.up import UpSettings
from sampan.server.pki.certificates import make_ca, make_serving
from sampan.server.proxy.kubelet import KubeletSettings

NOW = dt.datetime(2026, 1, 1, tzinfo=dt.UTC)


def settings_with(folder: Path, made: dt.datetime, *, address: str = "") -> UpSettings:
    pair = make_serving(make_ca("ca", made), ["127.0.0.1"], made)
    (folder / "tls.crt").write_bytes(pair.certificate_pem())
    (folder / "tls.key").write_bytes(pair.key_pem())
    return UpSettings(
        tls_cert_file=folder / "tls.crt", tls_private_key_file=folder / "tls.key", advertise_address=address
    )


@pytest.mark.parametrize(
    ("made", "address", "text"),
    [
        (NOW - dt.timedelta(days=9000), "", "expired at"),
        (NOW + dt.timedelta(days=9), "", "is not valid before"),
        (NOW, "192.0.2.1", "is not valid for 192.0.2.1 (--advertise-address)"),
    ],
    ids=["expired", "not yet valid", "another address"],
)
def test_a_certificate_that_clients_refuse_is_a_warning(
    tmp_path: Path, caplog: pytest.LogCaptureFixture, made: dt.datetime, address: str, text: str
) -> None:
    check_input_files(settings_with(tmp_path, made, address=address), NOW)
    [record] = caplog.records
    assert record.levelname == "WARNING"
    assert f"--tls-cert-file: the certificate in {tmp_path / 'tls.crt'} {text}" in record.getMessage()


def test_a_valid_certificate_logs_nothing(tmp_path: Path, caplog: pytest.LogCaptureFixture) -> None:
    check_input_files(settings_with(tmp_path, NOW, address="127.0.0.1"), NOW)
    assert caplog.records == []


def test_a_key_of_another_certificate_is_an_error(tmp_path: Path) -> None:
    settings = settings_with(tmp_path, NOW)
    other = make_serving(make_ca("ca", NOW), ["127.0.0.1"], NOW)
    (tmp_path / "tls.key").write_bytes(other.key_pem())
    with pytest.raises(StartError, match=r"--tls-private-key-file: .*tls.key is not the key of the certificate in"):
        check_input_files(settings, NOW)


def test_a_file_that_the_first_start_makes_may_be_absent(tmp_path: Path) -> None:
    ca = tmp_path / "data" / "pki" / "ca.crt"
    settings = UpSettings(data=tmp_path / "data", kubelet=KubeletSettings(certificate_authority=ca))
    check_input_files(settings, NOW)
    with pytest.raises(StartError, match="--kubelet-certificate-authority: cannot read"):
        check_input_files(replace(settings, data=tmp_path / "other"), NOW)
