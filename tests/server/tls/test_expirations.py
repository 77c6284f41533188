"""The metric of the ends of certificates."""

from pathlib import Path

from sampan.server.pki.certificates import make_ca
from sampan.server.tls.expirations import CertificateExpirations
from sampan.server.tls.serving import ServingTls, TlsSettings
from tests.server.tls_files import NOW, make_files


def ends(tls: ServingTls) -> dict[tuple[str, str], float]:
    """Return the ends by use and subject."""
    (family,) = CertificateExpirations(lambda: tls.certificates, lambda: tls.verifier.authorities).collect()
    return {(each.labels["certificate"], each.labels["subject"]): each.value for each in family.samples}


def test_the_ends_of_the_serving_certificate_and_of_the_client_ca_are_metrics(tmp_path: Path) -> None:
    files = make_files(tmp_path)
    tls = ServingTls(TlsSettings(files.serving("default", "localhost"), client_ca_files=(files.ca_file,)))
    assert ends(tls) == {
        ("serving", tls.certificates[0].subject.rfc4514_string()): tls.certificates[0].not_valid_after_utc.timestamp(),
        ("client CA", "CN=test-ca"): files.ca.certificate.not_valid_after_utc.timestamp(),
    }


def test_a_reload_replaces_the_ends(tmp_path: Path) -> None:
    files = make_files(tmp_path)
    tls = ServingTls(TlsSettings(files.serving("default", "localhost"), client_ca_files=(files.ca_file,)))
    files.write("ca", make_ca("next-ca", NOW))
    assert tls.reload()
    assert [subject for use, subject in ends(tls) if use == "client CA"] == ["CN=next-ca"]
