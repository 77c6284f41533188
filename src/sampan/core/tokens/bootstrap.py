"""Bootstrap tokens (`<id>.<secret>`), with which machines join a cluster, and signatures made with their secrets.

Source: kubernetes staging cluster-bootstrap token/{api,util,jws} (1.36).
"""

import base64
import hashlib
import hmac
import json
import re
import secrets
import string
from dataclasses import dataclass, field
from typing import Final

SECRET_TYPE: Final = "bootstrap.kubernetes.io/token"
SECRET_NAMESPACE: Final = "kube-system"
SECRET_PREFIX: Final = "bootstrap-token-"
USAGES: Final = ("authentication", "signing")
NODE_GROUP: Final = "system:bootstrappers:kubeadm:default-node-token"
"""Group of tokens for nodes. The roles of `sampan token create` and of kubeadm are bound to it."""
GROUP_PATTERN: Final = re.compile(r"system:bootstrappers:[a-z0-9:-]{0,255}[a-z0-9]")

CLUSTER_INFO: Final = "cluster-info"
CLUSTER_INFO_NAMESPACE: Final = "kube-public"
KUBECONFIG_KEY: Final = "kubeconfig"
SIGNATURE_PREFIX: Final = "jws-kubeconfig-"

_PATTERN: Final = re.compile(r"([a-z0-9]{6})\.([a-z0-9]{16})")
_ALPHABET: Final = string.ascii_lowercase + string.digits


@dataclass(frozen=True, slots=True)
class BootstrapToken:
    """Bootstrap token, split into its two parts. The id is public, the secret is not."""

    id: str
    secret: str = field(repr=False)

    def __str__(self) -> str:
        return f"{self.id}.{self.secret}"

    @property
    def secret_name(self) -> str:
        """Name of the token's Secret."""
        return SECRET_PREFIX + self.id


def parse_token(text: str) -> BootstrapToken:
    """Parse a bootstrap token. Raises `ValueError`; its message omits the text, because messages may be logged."""
    match = _PATTERN.fullmatch(text)
    if match is None:
        raise ValueError("a bootstrap token has the form abcdef.0123456789abcdef: 6 and 16 of a-z and 0-9")
    return BootstrapToken(*match.groups())


def new_token() -> BootstrapToken:
    """Return a random token."""
    return BootstrapToken(_random(6), _random(16))


def _random(length: int) -> str:
    return "".join(secrets.choice(_ALPHABET) for _ in range(length))


def sign(content: str, token: BootstrapToken) -> str:
    """Return the detached JWS (HS256) of a text: the header and the signature, without the text between them."""
    header = _encoded(json.dumps({"alg": "HS256", "kid": token.id}, separators=(",", ":")).encode())
    signed = f"{header}.{_encoded(content.encode())}".encode()
    return f"{header}..{_encoded(hmac.digest(token.secret.encode(), signed, hashlib.sha256))}"


def is_signed(content: str, signature: str, token: BootstrapToken) -> bool:
    """Return True if a detached JWS of the text was made with the token."""
    return hmac.compare_digest(sign(content, token).encode(), signature.encode())


def _encoded(data: bytes) -> str:
    return base64.urlsafe_b64encode(data).rstrip(b"=").decode()
