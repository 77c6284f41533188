"""`loop_context`: dependencies of a process's control loops, from its settings and files."""

from pathlib import Path

from sampan.app.controller_manager.settings import LoopSettings
from sampan.app.errors import StartError
from sampan.client import Config
from sampan.component_base.context import ControllerContext
from sampan.core.time import SystemClock
from sampan.core.tls.certificates import read_key_pair
from sampan.operator.manager import Manager


def loop_context(manager: Manager, config: Config, settings: LoopSettings) -> ControllerContext:
    """Return the context. Raises `OSError` for unreadable files, `StartError` for invalid ones."""
    key = settings.signing.service_account_private_key_file
    certificate, signing_key = _signing_authority(settings)
    return ControllerContext(
        manager,
        SystemClock(),
        root_ca=_root_ca(config),
        api_server=config.server,
        signing_certificate=certificate,
        signing_key=signing_key,
        pod_ranges=settings.node_cidrs.resolved(),
        service_account_key=key.read_text() if key else "",
        local_path_class=settings.local_path,
        load_balancer=settings.load_balancer,
        legacy_token_clean_up_period_s=settings.legacy_token_clean_up_period_s,
    )


def _root_ca(config: Config) -> str:
    """Return the CA with which Pods verify the server: the one of this process. Empty if it is the system's."""
    tls = config.tls
    if tls.ca_data or not tls.ca_file:
        return tls.ca_data.decode()
    return Path(tls.ca_file).read_text()


def _signing_authority(settings: LoopSettings) -> tuple[str, str]:
    """Return the certificate and the key of the signing CA; both empty if there is none."""
    certificate, key = settings.signing.cluster_signing_cert_file, settings.signing.cluster_signing_key_file
    if certificate is None or key is None:
        return "", ""
    read = certificate.read_text(), key.read_text()
    try:
        read_key_pair(read[0].encode(), read[1].encode())
    except ValueError as error:
        raise StartError(f"cannot sign with {certificate} and {key}: {error}") from error
    return read
