"""CA bundle of a conversion webhook: base64 of PEM with at least one certificate.

Source: apiserver pkg/util/webhook/validation.go ValidateCABundle, client-go transport/transport.go (1.36).
"""

import base64
import binascii
from collections.abc import Iterator
from typing import NamedTuple

from cryptography import x509

from sampan.core.object import Object

_BEGIN, _DASHES = b"-----BEGIN ", b"-----"
_CERTIFICATE = b"CERTIFICATE"


def ca_bundle_of(crd: Object) -> str:
    """Return the bundle of a CRD's conversion webhook, in base64 as in the CRD; "" if there is none."""
    webhook = (crd["spec"].get("conversion") or {}).get("webhook") or {}
    bundle: str = (webhook.get("clientConfig") or {}).get("caBundle") or ""
    return bundle


def ca_bundle_error(bundle: str) -> str:
    """Return the reason why a bundle (base64) is not usable; "" if it is usable or empty."""
    if not bundle:
        return ""
    try:
        pem = base64.b64decode(bundle, validate=True)
    except (binascii.Error, ValueError):
        pem = bundle.encode()
    blocks = list(_blocks(pem))
    texts = [_certificate_error(block.body) for block in blocks if block.kind == _CERTIFICATE]
    if "" in texts:
        return ""
    if texts:
        reason = f"failed to parse certificate: {texts[0]}"
    elif sum(block.size_bytes for block in blocks) < len(pem):
        reason = "unable to parse bytes as PEM block"
    else:
        reason = "no valid certificate authority data seen"
    return f"unable to load root certificates: {reason}"


class _Block(NamedTuple):
    kind: bytes
    body: bytes
    size_bytes: int


def _blocks(pem: bytes) -> Iterator[_Block]:
    """Yield the PEM blocks in one pass: a block ends before the next one begins."""
    begin = pem.find(_BEGIN)
    while begin >= 0:
        following = pem.find(_BEGIN, begin + 1)
        part = pem[begin : following if following >= 0 else len(pem)]
        head, newline, rest = part.partition(b"\n")
        kind = head.rstrip()[len(_BEGIN) : -len(_DASHES)]
        body, end, tail = rest.partition(b"-----END " + kind + _DASHES)
        if newline and end and head.rstrip().endswith(_DASHES):
            kept = tail.lstrip(b" \t\r")
            yield _Block(kind, body, len(part) - len(kept) + kept.startswith(b"\n"))
        begin = following


def _certificate_error(body: bytes) -> str:
    try:
        x509.load_der_x509_certificate(base64.b64decode(body))
    except ValueError:
        return "x509: malformed certificate"
    return ""
