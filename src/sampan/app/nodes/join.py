"""`join`: makes this machine a node of a cluster.

The first run gets a certificate with a bootstrap token. Later runs use the certificate, and need no token.
"""

import asyncio
import ipaddress
import logging
import socket
from dataclasses import replace
from urllib.parse import urlsplit

from sampan.app.controller_manager.join_settings import JoinSettings
from sampan.app.controller_manager.proxy_settings import NodeProxy, ProxyRuleSettings
from sampan.app.controller_manager.run import run_loops
from sampan.app.controller_manager.settings import LoopSettings, NodeSettings, ProcessSettings
from sampan.app.errors import StartError
from sampan.app.listen import address_towards
from sampan.client import ApiError, Client, ClientError, Config, NotFound, TransportError, Unauthorized
from sampan.component_base.resources import NODES
from sampan.core.addresses.url import split_url
from sampan.core.clock import utc_now
from sampan.core.telemetry.log import configure_logging
from sampan.core.tls.certificates import KeyPair
from sampan.core.tokens.bootstrap import parse_token
from sampan.core.validation.names import dns1123_subdomain_errors
from sampan.http.client.tls import TlsOptions
from sampan.node.joining.certificate import request_certificate, user_of
from sampan.node.joining.credentials import NodeCredentials
from sampan.node.joining.discovery import Trust, discover, unreachable
from sampan.node.joining.errors import JoinError

_log = logging.getLogger("sampan.app")


def join(server: str, settings: JoinSettings) -> None:
    """Join the cluster unless the node has already joined, and run the node. Raises `StartError`."""
    configure_logging(settings.log.level, settings.log.format)
    url = server_url(server)
    name = node_name(settings.node_name)
    credentials = NodeCredentials(settings.node.root)
    try:
        if not _has_joined(credentials, url, name):
            asyncio.run(_join(url, name, settings, credentials))
    except (JoinError, ClientError) as error:
        raise StartError(f"cannot join {url}: {error}") from error
    except (OSError, ValueError) as error:
        raise StartError(f"cannot use the directory {settings.node.root}: {error}") from error
    process = ProcessSettings(credentials.kubeconfig, settings.probe_address, settings.log)
    proxy = NodeProxy(name, ProxyRuleSettings()) if settings.service_proxy else None
    run_loops(
        LoopSettings(
            process, nodes=(name,), node=settings.node, joined=credentials, proxy=proxy, tunnel=settings.tunnel
        )
    )


def server_url(text: str) -> str:
    """Return the URL of a server: `https://` may be omitted. Raises `StartError`."""
    url = text if "://" in text else f"https://{text}"
    try:
        parts = split_url(url)
        valid = parts.scheme == "https" and bool(parts.hostname) and parts.port != 0
    except ValueError:
        valid = False
    if not valid or parts.path.strip("/") or parts.query or parts.username:
        raise StartError(f"{text!r} is not the URL of a server, such as https://192.0.2.1:6443")
    return f"https://{parts.netloc}"


def node_name(given: str) -> str:
    """Return the name of the node. Raises `StartError` for an invalid one."""
    name = given or socket.gethostname().strip().lower()
    errors = dns1123_subdomain_errors(name)
    if errors:
        raise StartError(f"{name!r} is no valid name of a node; set --node-name: {errors[0]}")
    return name


def reachable_address(server: str, node: NodeSettings, *, given: bool) -> NodeSettings:
    """Return the settings with an address at which the API server reaches the node, unless one is given."""
    host = urlsplit(server).hostname or ""
    if given or _is_loopback(host):
        return node
    return replace(node, address=address_towards(host))


def _is_loopback(host: str) -> bool:
    try:
        return ipaddress.ip_address(host).is_loopback
    except ValueError:
        return host == "localhost"


def _has_joined(credentials: NodeCredentials, server: str, name: str) -> bool:
    """Return True if the directory has a valid certificate of this node.

    Raises `JoinError` if it belongs to another node or cluster.
    """
    found = credentials.read()
    if found is None:
        return False
    user = found.certificate.subject.rfc4514_string()
    if f"CN={user_of(name)}" not in user.split(","):
        raise JoinError(
            f"the directory has the certificate of another node ({user}); set its --node-name or another --root"
        )
    if credentials.server() != server:
        raise JoinError(f"the directory belongs to a node of {credentials.server()}; set another --root, or delete it")
    if found.certificate.not_valid_after_utc <= utc_now():
        _log.warning("client certificate has expired; joining again with the token")
        return False
    _log.info("already joined", extra={"server": server, "node": name})
    return True


async def _join(server: str, name: str, settings: JoinSettings, credentials: NodeCredentials) -> None:
    """Get and store the CA and a certificate. Raises `JoinError`, `ClientError`, `OSError`."""
    if not settings.token:
        raise JoinError("set --token; `sampan token create --print-join-command` prints the whole command")
    if not settings.ca_cert_hashes and not settings.skip_ca_verification:
        raise JoinError("set --ca-cert-hash, which the join command contains, or --unsafe-skip-ca-verification")
    token = parse_token(settings.token)
    ca_pem = await discover(server, Trust(token, settings.ca_cert_hashes))
    _log.info("server verified", extra={"server": server})
    async with Client.from_config(Config(server, tls=TlsOptions(ca_data=ca_pem), token=str(token))) as client:
        try:
            await _check_name(client, name)
            certificate = await request_certificate(client, name, timeout_s=settings.timeout_s)
        except Unauthorized as error:
            raise JoinError(
                f"the server does not accept the token {token.id}: it has expired, has no usage authentication, or the "
                "server runs with --enable-bootstrap-token-auth=false"
            ) from error
        except TransportError as error:
            raise JoinError(unreachable(server, error)) from error
    _check_time(certificate)
    credentials.write(server, ca_pem, name, certificate)
    _log.info("joined the cluster", extra={"server": server, "node": name})


async def _check_name(client: Client, name: str) -> None:
    """Raise `JoinError` if another machine runs a node of this name."""
    try:
        node = await client.resource(NODES).get(name)
    except NotFound:
        return
    except Unauthorized:
        raise
    except ApiError as error:
        _log.warning("cannot check that the name of the node is free: %s", error)
        return
    status = node.get("status")
    conditions = (status.get("conditions") if status else None) or ()
    if any(each.get("type") == "Ready" and each.get("status") == "True" for each in conditions):
        raise JoinError(
            f"the cluster has a node {name} that is Ready: set another --node-name, or stop that node and delete it "
            f"with `kubectl delete node {name}`"
        )


def _check_time(certificate: KeyPair) -> None:
    start, now = certificate.certificate.not_valid_before_utc, utc_now()
    if start > now:
        raise JoinError(f"the certificate is valid from {start}, but the clock of this machine shows {now}: correct it")
