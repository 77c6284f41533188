"""The CA bundle of a conversion webhook: base64 of PEM with at least one certificate.

Source: apiserver pkg/util/webhook/validation.go ValidateCABundle, client-go transport/transport.go (1.36).
"""

import base64
import binascii
import re

from cryptography import x509

from sampan.core.object import Object

_BLOCK = re.compile(rb"-----BEGIN ([^\n]*?)-----\s*?\n(.*?)-----END \1-----[ \t\r]*\n?", re.DOTALL)
_CERTIFICATE = b"CERTIFICATE"


def ca_bundle_of(crd: Object) -> str:
    """The bundle of a CRD's conversion webhook, base64 as in the CRD; "" when there is none."""
    webhook = (crd["spec"].get("conversion") or {}).get("webhook") or {}
    bundle: str = (webhook.get("clientConfig") or {}).get("caBundle") or ""
    return bundle


def ca_bundle_error(bundle: str) -> str:
    """Why a bundle (base64) cannot be used; "" when it can, or when it is empty."""
    if not bundle:
        return ""
    try:
        pem = base64.b64decode(bundle, validate=True)
    except (binascii.Error, ValueError):
        pem = bundle.encode()
    texts = [_certificate_error(match[2]) for match in _BLOCK.finditer(pem) if match[1] == _CERTIFICATE]
    if "" in texts:
        return ""
    if texts:
        reason = f"failed to parse certificate: {texts[0]}"
    elif _BLOCK.sub(b"", pem):
        reason = "unable to parse bytes as PEM block"
    else:
        reason = "no valid certificate authority data seen"
    return f"unable to load root certificates: {reason}"


def _certificate_error(body: bytes) -> str:
    try:
        x509.load_der_x509_certificate(base64.b64decode(body))
    except ValueError:
        return "x509: malformed certificate"
    return ""
