"""Contract of every place that verifies a client: any certificate of the bundle is trusted, as by Go's x509."""

import asyncio
import datetime as dt
import ssl
from collections.abc import Awaitable, Callable
from pathlib import Path

import pytest
from cryptography.hazmat.primitives.serialization import Encoding

from sampan.core.time import SystemClock
from sampan.core.tls.trust import unverified_context
from sampan.node.server.options import NodeServerOptions
from sampan.node.server.server import serving_context
from sampan.operator.webhook.certificates.source import CertificateSource, Material
from sampan.operator.webhook.serving_tls import ServingContext
from sampan.server.pki.client_verifier import ClientCertificateVerifier, read_authorities
from tests.trust.chains import HOST, REFUSED, TRUSTED, Case

Admit = Callable[[Case, Path], Awaitable[None]]
"""Shows the case's certificate to a server that trusts its bundle. Raises when the client is refused."""


async def api_server(case: Case, folder: Path) -> None:
    """--client-ca-file and --requestheader-client-ca-file, also of extension API servers."""
    verifier = ClientCertificateVerifier(read_authorities(case.bundle_pem.encode()))
    intermediates = [pair.certificate.public_bytes(Encoding.DER) for pair in case.chain]
    verifier.verify(case.shown.certificate, intermediates, dt.datetime.now(dt.UTC))


async def node(case: Case, folder: Path) -> None:
    """The client CA of a node's server."""
    await _handshake(case, folder, serving_context(NodeServerOptions(client_ca=case.bundle_pem), SystemClock()))


async def webhook_server(case: Case, folder: Path) -> None:
    """The client CA of a webhook server of the toolkit."""
    served = ServingContext(_Source(case), client_ca_file=case.bundle_file(folder))
    await _handshake(case, folder, served.context)


SETTINGS = (api_server, node, webhook_server)


@pytest.mark.parametrize("case", TRUSTED.values(), ids=TRUSTED)
@pytest.mark.parametrize("admit", SETTINGS)
async def test_any_certificate_of_the_bundle_is_trusted(admit: Admit, case: Case, tmp_path: Path) -> None:
    await admit(case, tmp_path)


@pytest.mark.parametrize("case", REFUSED.values(), ids=REFUSED)
@pytest.mark.parametrize("admit", SETTINGS)
async def test_a_client_that_the_bundle_does_not_vouch_for_is_refused(admit: Admit, case: Case, tmp_path: Path) -> None:
    with pytest.raises((ValueError, OSError, asyncio.IncompleteReadError)):
        await admit(case, tmp_path)


class _Source(CertificateSource):
    """Shows any certificate: its clients do not verify it."""

    def __init__(self, case: Case) -> None:
        super().__init__()
        shown = case.shown
        end = shown.certificate.not_valid_after_utc
        self._material = Material(shown.certificate_pem(), shown.key_pem(), b"", end)

    async def refresh(self) -> None:
        pass

    async def run(self) -> None:
        pass


async def _handshake(case: Case, folder: Path, context: ssl.SSLContext) -> None:
    """One byte after the handshake: in TLS 1.3 the client learns only then that its certificate is refused."""

    async def response(_: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        writer.write(b".")
        writer.close()

    server = await asyncio.start_server(response, HOST, 0, ssl=context)
    client = unverified_context()
    client.load_cert_chain(*case.files(folder))
    try:
        reader, writer = await asyncio.open_connection(*server.sockets[0].getsockname(), ssl=client)
        try:
            await reader.readexactly(1)
        finally:
            writer.transport.abort()
    finally:
        server.close()
