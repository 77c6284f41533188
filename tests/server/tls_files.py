"""Certificates on disk, and contexts of clients, for tests of TLS."""

import datetime
import ssl
from dataclasses import dataclass
from pathlib import Path

from sampan.server.pki.certificates import KeyPair, make_ca, make_client, make_serving
from sampan.server.tls.sni import CertKey

NOW = datetime.datetime.now(datetime.UTC)
YEARS_AGO = NOW - datetime.timedelta(days=800)


@dataclass(frozen=True)
class Files:
    """A folder with a CA, and what it has signed."""

    folder: Path
    ca: KeyPair

    def write(self, name: str, pair: KeyPair, *chain: KeyPair) -> CertKey:
        """Write a certificate with its chain, and its key."""
        certificate, key = self.folder / f"{name}.crt", self.folder / f"{name}.key"
        certificate.write_bytes(b"".join(one.certificate_pem() for one in (pair, *chain)))
        key.write_bytes(pair.key_pem())
        return CertKey(certificate, key)

    def serving(self, name: str, *hosts: str) -> CertKey:
        """A serving certificate for these hosts."""
        return self.write(name, make_serving(self.ca, hosts or ("localhost",), NOW))

    def client(self, name: str, *, ca: KeyPair | None = None, made: datetime.datetime = NOW) -> CertKey:
        """A client certificate of a user of that name."""
        return self.write(name, make_client(ca or self.ca, name, ("devs",), made))

    @property
    def ca_file(self) -> Path:
        return self.folder / "ca.crt"


def make_files(folder: Path) -> Files:
    """A CA in `folder`."""
    files = Files(folder, make_ca("test-ca", NOW))
    files.write("ca", files.ca)
    return files


def client_context(files: Files, pair: CertKey | None = None, *, protocols: tuple[str, ...] = ()) -> ssl.SSLContext:
    """Return the TLS context of a client that trusts this CA."""
    context = ssl.create_default_context(cafile=str(files.ca_file))
    if pair is not None:
        context.load_cert_chain(pair.certificate, pair.key)
    if protocols:
        context.set_alpn_protocols(list(protocols))
    return context
