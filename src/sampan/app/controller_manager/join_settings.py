"""Settings of `sampan join` and `sampan leave`."""

from dataclasses import dataclass
from pathlib import Path
from typing import Final

from sampan.app.controller_manager.settings import CRI_NODES, NODES, PROCESS, TUNNEL_HELP, CriNodeSettings, NodeSettings
from sampan.core.settings import ValueKind, nested, setting
from sampan.core.settings.kinds import DIRECTORY, HOST_AND_PORT, POSITIVE_DURATION, list_of
from sampan.core.telemetry.log_settings import LogSettings
from sampan.core.tokens.bootstrap import parse_token
from sampan.node.joining.ca_hash import check_hash

JOIN: Final = "Joining"


def _read_token(text: str) -> str:
    return str(parse_token(text)) if text else ""


@dataclass(frozen=True, slots=True)
class JoinSettings:
    """Options of `sampan join`."""

    token: str = setting(
        "",
        "Bootstrap token. Needed until the node has a certificate.",
        kind=ValueKind("TOKEN", _read_token),
        group=JOIN,
    )
    ca_cert_hashes: tuple[str, ...] = setting(
        (),
        "Hash of the public key of the cluster's CA. Can be repeated.",
        name="ca-cert-hash",
        kind=list_of(ValueKind("sha256:HEX", check_hash), separator="", repeat=True),
        group=JOIN,
    )
    skip_ca_verification: bool = setting(
        False,
        "Join without --ca-cert-hash. Any machine with the token could then pretend to be the server.",
        name="unsafe-skip-ca-verification",
        group=JOIN,
    )
    timeout_s: float = setting(300.0, "Time to wait for the signed certificate.", kind=POSITIVE_DURATION, group=JOIN)
    node_name: str = setting("", "Name of the node.", group=NODES, default="the name of this machine")
    node: NodeSettings = nested(NodeSettings, group=NODES)
    service_proxy: bool = setting(
        False, "Make Services reachable on this machine, as `sampan proxy` does. Needs root.", group=NODES
    )
    tunnel: bool = setting(True, TUNNEL_HELP, group=NODES, negative=True)
    probe_address: str = setting(
        "", "Address where to answer /healthz, /readyz and /metrics.", kind=HOST_AND_PORT, default="none", group=PROCESS
    )
    log: LogSettings = nested(LogSettings, prefix="log-", group=PROCESS)


@dataclass(frozen=True, slots=True)
class LeaveSettings:
    """Options of `sampan leave`."""

    root: Path = setting(Path("sampan-node"), "Directory of the node.", kind=DIRECTORY, group=NODES)
    cri: CriNodeSettings = nested(CriNodeSettings, group=CRI_NODES)
    log: LogSettings = nested(LogSettings, prefix="log-", group=PROCESS)
