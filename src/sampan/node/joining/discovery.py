"""`discover`: gets the CA of a cluster from its server, and verifies both with a bootstrap token and the CA's hash.

The token's signature alone does not suffice: every machine with the same token could forge it. So the hash of the CA's
public key is required, unless the caller explicitly disables this check.
Source: kubeadm app/discovery/token/token.go (1.36).
"""

from __future__ import annotations

import base64
from dataclasses import dataclass
from typing import Final

import yaml
from cryptography import x509

from sampan.client import Client, ClientError, Config, Forbidden, NotFound, TransportError, Unauthorized
from sampan.component_base.resources import CONFIG_MAPS
from sampan.core.clock import utc_now
from sampan.core.tokens.bootstrap import (
    CLUSTER_INFO,
    CLUSTER_INFO_NAMESPACE,
    KUBECONFIG_KEY,
    SIGNATURE_PREFIX,
    BootstrapToken,
    is_signed,
)
from sampan.http.client.tls import TlsOptions
from sampan.kinds import core_v1
from sampan.node.joining.ca_hash import ca_hash
from sampan.node.joining.errors import JoinError

_CERTIFICATES_MAX: Final = 100


@dataclass(frozen=True, slots=True)
class Trust:
    """Bootstrap token and hashes that verify a cluster's CA."""

    token: BootstrapToken
    ca_hashes: tuple[str, ...] = ()
    """Hashes `sha256:<hex>` of public keys. The public key of a CA of the cluster must have one of these hashes. If
    empty, hashes are not verified.
    """


async def discover(server: str, trust: Trust) -> bytes:
    """Return the verified CA certificates (PEM) of the cluster. Raises `JoinError`."""
    # There is no CA yet to verify with. Nothing secret is sent, and the result is not trusted before the checks below.
    unverified = await _cluster_info(server, TlsOptions(insecure=True), trust.token)
    authorities = _authorities(_signed_content(unverified, trust.token))
    # Before the second request, so that nothing is sent to a server whose CA is not the expected one.
    if trust.ca_hashes:
        _check_hashes(authorities, trust.ca_hashes)
    # Now the server must show a certificate of that CA, and the same information.
    verified = await _cluster_info(server, TlsOptions(ca_data=authorities), trust.token)
    if _authorities(_signed_content(verified, trust.token)) != authorities:
        raise JoinError(f"{server} sent another CA over the verified connection: another server may be in between")
    return authorities


async def _cluster_info(server: str, tls: TlsOptions, token: BootstrapToken) -> core_v1.ConfigMap:
    """Return the ConfigMap with the cluster information, read without credentials."""
    try:
        async with Client.from_config(Config(server, tls=tls)) as client:
            return await client.resource(CONFIG_MAPS, namespace=CLUSTER_INFO_NAMESPACE).get(CLUSTER_INFO)
    except (Unauthorized, Forbidden, NotFound) as error:
        raise JoinError(
            f"{server} does not publish its cluster information ({error.message}): run `sampan token create` there"
        ) from error
    except TransportError as error:
        raise JoinError(unreachable(server, error)) from error
    except ClientError as error:
        raise JoinError(f"cannot read the cluster information of {server}: {error}") from error


def unreachable(server: str, error: TransportError) -> str:
    """Return the message for a server that cannot be reached or verified, with a hint at a wrong clock."""
    text = str(error)
    if "not yet valid" in text or "has expired" in text:
        return f"the certificate of {server} is not valid now: {text}; the clock of this machine shows {utc_now()}"
    if "CERTIFICATE_VERIFY_FAILED" in text or "certificate verify failed" in text:
        return f"the server at {server} is not the one that the token belongs to: {text}"
    return f"cannot reach {server}: {text}"


def _signed_content(info: core_v1.ConfigMap, token: BootstrapToken) -> str:
    """Return the kubeconfig of the cluster information, if it is signed with the token."""
    data: dict[str, str] = info.get("data") or {}
    content, signature = data.get(KUBECONFIG_KEY, ""), data.get(SIGNATURE_PREFIX + token.id)
    if signature is None:
        raise JoinError(
            f"the cluster has no token {token.id}: it is unknown or has expired; create one with `sampan token create`"
        )
    if not is_signed(content, signature, token):
        raise JoinError(f"the secret part of token {token.id} is wrong, or the cluster information was forged")
    return content


def _authorities(kubeconfig: str) -> bytes:
    """Return the CA certificates of the only cluster in a kubeconfig."""
    try:
        [cluster] = yaml.safe_load(kubeconfig)["clusters"]
        pem = base64.b64decode(cluster["cluster"]["certificate-authority-data"], validate=True)
        found = x509.load_pem_x509_certificates(pem)
    except (yaml.YAMLError, TypeError, KeyError, ValueError) as error:
        raise JoinError(f"the cluster information has no valid CA certificate: {error}") from error
    # Every holder of the token can sign the content, so its size needs a limit.
    if len(found) > _CERTIFICATES_MAX:
        raise JoinError(f"the cluster information has more than {_CERTIFICATES_MAX} CA certificates")
    return pem


def _check_hashes(authorities: bytes, hashes: tuple[str, ...]) -> None:
    found = [ca_hash(certificate) for certificate in x509.load_pem_x509_certificates(authorities)]
    if not set(found) & set(hashes):
        raise JoinError(
            f"--ca-cert-hash does not match: the cluster's CA has {', '.join(found)}; the hash is wrong, or this is "
            "another cluster"
        )
