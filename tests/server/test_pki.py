"""Certificates and the data directory."""

import datetime
import ssl
from pathlib import Path

import pytest
import yaml
from cryptography import x509
from cryptography.hazmat.primitives import hashes
from cryptography.hazmat.primitives.asymmetric import ec, rsa
from cryptography.x509.oid import NameOID

from sampan.server.authentication.client_certificate import UID_OID, certificate_user
from sampan.server.pki.certificates import (
    covers,
    make_admin,
    make_ca,
    make_client,
    make_serving,
    needs_renewal,
    read_key_pair,
    signed_by,
)
from sampan.server.pki.directory import prepare_credentials, write_private
from sampan.server.pki.kubeconfig import kubeconfig

NOW = datetime.datetime(2026, 6, 1, tzinfo=datetime.UTC)
HOSTS = ("localhost", "127.0.0.1", "::1")
FILES = (
    "pki/ca.crt",
    "pki/ca.key",
    "pki/apiserver.crt",
    "pki/apiserver.key",
    "pki/admin.crt",
    "pki/admin.key",
    "pki/apiserver-kubelet-client.crt",
    "pki/apiserver-kubelet-client.key",
    "admin.token",
)
WRITTEN = (
    "pki/ca.key",
    "pki/ca.crt",
    "pki/apiserver.key",
    "pki/apiserver.crt",
    "pki/admin.key",
    "pki/admin.crt",
    "pki/apiserver-kubelet-client.key",
    "pki/apiserver-kubelet-client.crt",
    "admin.token",
)
"""Return the files in the order in which a first start writes them."""


def contents(directory: Path) -> dict[str, bytes]:
    return {name: (directory / name).read_bytes() for name in FILES}


def test_the_first_start_makes_everything_private(tmp_path: Path) -> None:
    prepare_credentials(tmp_path, HOSTS, NOW)
    assert {name: (tmp_path / name).stat().st_mode & 0o777 for name in FILES} == dict.fromkeys(FILES, 0o600)


def test_java_can_read_the_key_of_the_kubeconfig(tmp_path: Path) -> None:
    """fabric8 reads a key without `EC PRIVATE KEY` as RSA. For EC keys it needs another library."""
    prepare_credentials(tmp_path, HOSTS, NOW)
    assert (tmp_path / "pki/admin.key").read_text().startswith("-----BEGIN RSA PRIVATE KEY-----\n")


def test_a_key_of_the_administrator_that_java_cannot_read_is_replaced(tmp_path: Path) -> None:
    prepare_credentials(tmp_path, HOSTS, NOW)
    ca = read_key_pair(*((tmp_path / "pki" / name).read_bytes() for name in ("ca.crt", "ca.key")))
    earlier = make_client(ca, "admin", ("system:masters",), NOW)
    (tmp_path / "pki/admin.key").write_bytes(earlier.key_pem())
    (tmp_path / "pki/admin.crt").write_bytes(earlier.certificate_pem())
    assert isinstance(prepare_credentials(tmp_path, HOSTS, NOW).admin.key, rsa.RSAPrivateKey)


def test_the_second_start_keeps_it(tmp_path: Path) -> None:
    prepare_credentials(tmp_path, HOSTS, NOW)
    before = contents(tmp_path)
    prepare_credentials(tmp_path, HOSTS, NOW + datetime.timedelta(days=100))
    assert contents(tmp_path) == before


def changed(tmp_path: Path, before: dict[str, bytes]) -> set[str]:
    after = contents(tmp_path)
    return {name for name in FILES if after[name] != before[name]}


def test_certificates_near_their_end_are_renewed_and_the_ca_stays(tmp_path: Path) -> None:
    prepare_credentials(tmp_path, HOSTS, NOW)
    before = contents(tmp_path)
    prepare_credentials(tmp_path, HOSTS, NOW + datetime.timedelta(days=336))
    leaves = ("apiserver", "admin", "apiserver-kubelet-client")
    assert changed(tmp_path, before) == {f"pki/{n}.{x}" for n in leaves for x in ("crt", "key")}


def test_another_address_gets_another_serving_certificate(tmp_path: Path) -> None:
    prepare_credentials(tmp_path, HOSTS, NOW)
    before = contents(tmp_path)
    prepare_credentials(tmp_path, (*HOSTS, "192.0.2.1"), NOW)
    assert changed(tmp_path, before) == {"pki/apiserver.crt", "pki/apiserver.key"}


def test_a_certificate_of_another_ca_is_replaced(tmp_path: Path) -> None:
    prepare_credentials(tmp_path, HOSTS, NOW)
    before = contents(tmp_path)
    (tmp_path / "pki/ca.crt").unlink()
    (tmp_path / "pki/ca.key").unlink()
    prepare_credentials(tmp_path, HOSTS, NOW)
    assert changed(tmp_path, before) == set(FILES) - {"admin.token"}


def test_a_file_with_the_same_content_is_not_written(tmp_path: Path) -> None:
    path = tmp_path / "f"
    write_private(path, b"1")
    before = path.stat().st_ino
    write_private(path, b"1")
    assert path.stat().st_ino == before


def test_a_file_readable_by_other_users_is_replaced(tmp_path: Path) -> None:
    path = tmp_path / "f"
    path.write_bytes(b"1")
    path.chmod(0o644)
    write_private(path, b"1")
    assert path.stat().st_mode & 0o777 == 0o600


def test_a_file_that_cannot_be_replaced_leaves_no_draft(tmp_path: Path) -> None:
    (tmp_path / "f").mkdir()
    with pytest.raises(OSError, match="directory"):
        write_private(tmp_path / "f", b"1")
    assert [path.name for path in tmp_path.iterdir()] == ["f"]


def test_a_damaged_ca_is_an_error(tmp_path: Path) -> None:
    prepare_credentials(tmp_path, HOSTS, NOW)
    (tmp_path / "pki/ca.crt").write_bytes(b"x")
    with pytest.raises(ValueError, match="cannot use the CA"):
        prepare_credentials(tmp_path, HOSTS, NOW)


@pytest.mark.parametrize("count", range(len(WRITTEN)))
def test_an_interrupted_first_start_is_repeated(tmp_path: Path, count: int) -> None:
    prepare_credentials(tmp_path, HOSTS, NOW)
    for name in WRITTEN[count:]:
        (tmp_path / name).unlink()
    prepare_credentials(tmp_path, HOSTS, NOW)
    assert all(contents(tmp_path).values())


def test_a_ca_that_lost_its_certificate_is_an_error(tmp_path: Path) -> None:
    prepare_credentials(tmp_path, HOSTS, NOW)
    (tmp_path / "pki" / "ca.crt").unlink()
    with pytest.raises(ValueError, match=r"ca\.crt is missing: put the files of this cluster back"):
        prepare_credentials(tmp_path, HOSTS, NOW)


def test_a_damaged_certificate_is_replaced(tmp_path: Path) -> None:
    prepare_credentials(tmp_path, HOSTS, NOW)
    (tmp_path / "pki/apiserver.crt").write_bytes(b"x")
    prepare_credentials(tmp_path, HOSTS, NOW)
    assert (tmp_path / "pki/apiserver.crt").read_bytes().startswith(b"-----BEGIN CERTIFICATE")


def test_a_serving_certificate_covers_its_hosts_only() -> None:
    pair = make_serving(make_ca("ca", NOW), HOSTS, NOW)
    assert covers(pair.certificate, HOSTS)
    assert not covers(pair.certificate, ("example.com",))


def test_a_key_of_another_certificate_is_refused() -> None:
    ca = make_ca("ca", NOW)
    other = make_ca("ca", NOW)
    with pytest.raises(ValueError, match="do not belong together"):
        read_key_pair(ca.certificate_pem(), other.key_pem())


def test_an_authority_with_an_rsa_key_signs() -> None:
    """As kubeadm makes it."""
    ca = make_admin(make_ca("ca", NOW), "authority", (), NOW)
    ca = read_key_pair(ca.certificate_pem(), ca.key_pem())
    assert signed_by(make_client(ca, "jane", (), NOW).certificate, ca)


def test_renewal_begins_thirty_days_before_the_end() -> None:
    certificate = make_client(make_ca("ca", NOW), "u", (), NOW).certificate
    assert not needs_renewal(certificate, NOW + datetime.timedelta(days=334))
    assert needs_renewal(certificate, NOW + datetime.timedelta(days=335))


def test_a_client_certificate_names_user_and_groups() -> None:
    user = certificate_user(make_client(make_ca("ca", NOW), "jane", ("a", "b"), NOW).certificate)
    assert user is not None
    assert (user.name, user.groups) == ("jane", ("a", "b", "system:authenticated"))
    assert user.extra["authentication.kubernetes.io/credential-id"][0].startswith("X509SHA256=")


@pytest.mark.parametrize(
    ("uids", "fault"),
    [
        pytest.param(["a", "b"], r"expected 1 UID, but found multiple: \[a b\]", id="two"),
        pytest.param([""], "UID cannot be an empty string", id="empty"),
    ],
)
def test_a_client_certificate_names_one_uid(uids: list[str], fault: str) -> None:
    subject = [x509.NameAttribute(NameOID.COMMON_NAME, "jane")]
    subject += [x509.NameAttribute(UID_OID, uid, _validate=False) for uid in uids]
    key = ec.generate_private_key(ec.SECP256R1())
    builder = x509.CertificateBuilder(x509.Name([]), x509.Name(subject), key.public_key(), 1, NOW, NOW)
    with pytest.raises(ValueError, match=fault):
        certificate_user(builder.sign(key, hashes.SHA256()))


def test_the_kubeconfig_contains_server_ca_and_client(tmp_path: Path) -> None:
    credentials = prepare_credentials(tmp_path, HOSTS, NOW)
    document = yaml.safe_load(kubeconfig("https://127.0.0.1:1", credentials.ca_pem, credentials.admin))
    cluster = document["clusters"][0]["cluster"]
    assert cluster["server"] == "https://127.0.0.1:1"
    assert document["current-context"] == document["contexts"][0]["name"]
    assert document["users"][0]["user"].keys() == {"client-certificate-data", "client-key-data"}


def test_the_ca_verifies_what_it_signed(tmp_path: Path) -> None:
    prepare_credentials(tmp_path, HOSTS, NOW)
    context = ssl.create_default_context(cafile=str(tmp_path / "pki/ca.crt"))
    context.load_cert_chain(tmp_path / "pki/admin.crt", tmp_path / "pki/admin.key")
    assert context.cert_store_stats()["x509_ca"] == 1
