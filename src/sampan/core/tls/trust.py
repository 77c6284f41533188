"""TLS contexts with chosen trust anchors, verified by the rules of Go's crypto/x509.

Every connection that verifies its peer gets its context from this module. The rules:

- Any certificate of the bundle is a trust anchor: a root, an intermediate, or the peer's own certificate, self-signed
  or not. OpenSSL calls this a partial chain.
- Host name, validity period and key usage are verified in each case, also for a peer's certificate in the bundle.
- A host name must be a subject alternative name. The common name does not count.

gRPC verifies with its own copy of BoringSSL, which trusts partial chains by default. It also accepts certificates
signed by a certificate of the bundle that is not a CA; OpenSSL and Go reject them.
Source: Go crypto/x509 Certificate.Verify, VerifyHostname (1.26).
"""

import ssl
from collections.abc import Sequence


def client_context(authorities: str | None, *, protocols: Sequence[str] = ()) -> ssl.SSLContext:
    """Return a context for a client that verifies the server.

    `authorities` is a PEM bundle; None means the system's authorities. `protocols` are offered in ALPN.
    Raises `ssl.SSLError` or `ValueError` for a bundle without a certificate.
    """
    context = ssl.SSLContext(ssl.PROTOCOL_TLS_CLIENT)
    context.minimum_version = ssl.TLSVersion.TLSv1_2
    context.hostname_checks_common_name = False
    if authorities is None:
        context.load_default_certs()
        _allow_partial_chains(context)
    else:
        trust(context, authorities)
    if protocols:
        context.set_alpn_protocols(list(protocols))
    return context


def unverified_context(*, protocols: Sequence[str] = ()) -> ssl.SSLContext:
    """Return a context for a client that accepts any server certificate."""
    context = ssl.SSLContext(ssl.PROTOCOL_TLS_CLIENT)
    context.minimum_version = ssl.TLSVersion.TLSv1_2
    context.check_hostname = False
    context.verify_mode = ssl.CERT_NONE
    if protocols:
        context.set_alpn_protocols(list(protocols))
    return context


def trust(context: ssl.SSLContext, authorities: str) -> None:
    """Trust each certificate of a PEM bundle, in addition to those that the context already trusts.

    Does not change the verification mode. Raises `ssl.SSLError` or `ValueError` for a bundle without a certificate.
    """
    if "-----BEGIN" not in authorities:
        raise ValueError("no PEM certificate found")
    context.load_verify_locations(cadata=authorities)
    _allow_partial_chains(context)


def _allow_partial_chains(context: ssl.SSLContext) -> None:
    context.verify_flags |= ssl.VERIFY_X509_PARTIAL_CHAIN
    # Newer Pythons set this flag; Go accepts certificates without the extensions that the flag requires.
    context.verify_flags &= ~ssl.VERIFY_X509_STRICT
