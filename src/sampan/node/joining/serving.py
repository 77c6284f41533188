"""`ServingCertificate`: certificate of a joined node's server, signed by the cluster's CA.

Until it is signed, the server has a self-signed certificate, which an API server with `--kubelet-certificate-authority`
does not accept.
Concurrency: one task of the manager. It sleeps until the renewal.
Source: kubelet pkg/kubelet/certificate/kubelet.go `NewKubeletServerCertificateManager` (1.36).
"""

import asyncio
import logging
from collections.abc import Awaitable, Callable, Sequence

from cryptography import x509

from sampan.client import Client, ClientError
from sampan.core.time import Clock
from sampan.core.tls.certificates import KeyPair
from sampan.node.joining.certificate import alternative_name, request_serving_certificate
from sampan.node.joining.credentials import NodeCredentials
from sampan.node.joining.errors import JoinError
from sampan.node.joining.rotation import APPROVAL_S, RETRY_S, renewal_time, sleep_until

_log = logging.getLogger("sampan.node")


class ServingCertificate:
    """Obtains, stores and renews the certificate, and passes it to the server."""

    needs_leader_election = False

    def __init__(
        self,
        credentials: NodeCredentials,
        client: Client,
        node: str,
        hosts: Sequence[str],
        *,
        use: Callable[[KeyPair], None],
        registered: Callable[[], Awaitable[None]],
        clock: Clock,
    ) -> None:
        """`hosts`: names and addresses of the server. `registered` waits until the Node lists them."""
        self._credentials = credentials
        self._client = client
        self._node = node
        self._hosts = hosts
        self._use = use
        self._registered = registered
        self._clock = clock

    def __str__(self) -> str:
        return "certificate of the node server"

    async def run(self) -> None:
        """Keep the certificate valid until cancelled. Failures are logged and retried."""
        while True:
            try:
                await self._renew_once()
            except (ClientError, JoinError, OSError, ValueError) as error:
                _log.error(
                    "cannot get a certificate for the node server, retrying: %s", error, extra={"seconds": RETRY_S}
                )
                await asyncio.sleep(RETRY_S)

    async def _renew_once(self) -> None:
        """Use the stored certificate until it must be renewed; then get and use a new one."""
        stored = self._stored()
        if stored is not None:
            # Also right after a renewal, because the loop reads the new certificate back from the file.
            self._use(stored)
            await sleep_until(renewal_time(stored.certificate), self._clock)
        # The approver compares the request with the addresses of the Node, and would deny an earlier request.
        await self._registered()
        renewed = await request_serving_certificate(self._client, self._node, self._hosts, timeout_s=APPROVAL_S)
        self._credentials.write_serving(renewed)
        _log.info(
            "certificate of the node server signed", extra={"until": str(renewed.certificate.not_valid_after_utc)}
        )

    def _stored(self) -> KeyPair | None:
        """Return the stored certificate, if it is valid for the server's names and addresses."""
        try:
            found = self._credentials.read_serving()
        except ValueError as error:
            _log.warning("cannot use the stored certificate of the node server, requesting another: %s", error)
            return None
        if found is None or found.certificate.not_valid_after_utc <= self._clock.now():
            return None
        return found if _names(found.certificate) == {alternative_name(host) for host in self._hosts} else None


def _names(certificate: x509.Certificate) -> set[x509.GeneralName]:
    try:
        return set(certificate.extensions.get_extension_for_class(x509.SubjectAlternativeName).value)
    except x509.ExtensionNotFound:
        return set()
