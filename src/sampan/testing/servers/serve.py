"""`serve`: an address for a cluster in this process, so that programs in any language reach it.

    async with cluster.serve() as served:
        process = await asyncio.create_subprocess_exec("./manager", env=served.environment())

Concurrency: the server listens on the event loop of the cluster, so this loop must run: do not block it with
`subprocess.run`.
"""

import base64
import json
import tempfile
from collections.abc import AsyncIterator, Mapping
from contextlib import asynccontextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import Final

from sampan.app.listen import bind_socket
from sampan.app.program_environment import program_environment
from sampan.core.clock import utc_now
from sampan.core.event_loop.task_scope import TaskScope
from sampan.server.connections.listener import HttpServer
from sampan.server.pki.certificates import make_ca, make_serving
from sampan.server.request import Filter, UserInfo
from sampan.server.tls.serving import HTTP_1, HTTP_2, ServingTls, TlsSettings
from sampan.server.tls.sni import CertKey
from sampan.testing.servers.logical_server import LogicalServer

HOST: Final = "127.0.0.1"
DRAIN_S: Final = 0.5
"""Time in seconds that open requests have to complete when the server ends."""


@dataclass(frozen=True, slots=True)
class Served:
    """Address of a cluster, and a kubeconfig for it. The file is removed at the end."""

    url: str
    kubeconfig: Path
    token: str
    """Token of the user."""
    authority: bytes
    """Certificate of the CA, in PEM."""

    def environment(self, present: Mapping[str, str] | None = None) -> dict[str, str]:
        """Return the environment of a program that uses the cluster; see `program_environment`."""
        return program_environment(self.kubeconfig, self.url, present)


@asynccontextmanager
async def serve(server: LogicalServer, user: UserInfo, around: Filter = lambda inner: inner) -> AsyncIterator[Served]:
    """Serve on a free port of 127.0.0.1 until the end of the block. The kubeconfig has the rights of `user`.

    `around` returns the handler that receives the requests first.
    """
    with tempfile.TemporaryDirectory(prefix="sampan-test-") as name:
        directory = Path(name)
        tls, authority = _tls(directory)
        sock = bind_socket(HOST, 0)
        url = f"https://{HOST}:{sock.getsockname()[1]}"
        kubeconfig = directory / "kubeconfig"
        token = server.users.token_of(user)
        kubeconfig.write_text(_kubeconfig(url, authority, token))
        http = HttpServer(
            around(server.api.handler), handshakes=server.api.metrics.handshakes, unread=server.api.metrics.unread
        )
        try:
            async with TaskScope() as tasks:
                tasks.begin(http.run(), "listener of the cluster")
                await http.start(sock, tls.context)
                try:
                    yield Served(url, kubeconfig, token, authority)
                finally:
                    http.close_after_responses()
                    await http.stop_accepting()
                    await http.close_streams()
                    await http.drain(DRAIN_S)
        finally:
            sock.close()


def _tls(directory: Path) -> tuple[ServingTls, bytes]:
    """Return TLS with a new certificate, and the CA with which clients verify it."""
    now = utc_now()
    authority = make_ca("sampan-test", now)
    pair = make_serving(authority, (HOST, "localhost"), now)
    files = CertKey(directory / "server.crt", directory / "server.key")
    files.certificate.write_bytes(pair.certificate_pem())
    files.key.write_bytes(pair.key_pem())
    return ServingTls(TlsSettings(files, protocols=(HTTP_1, HTTP_2))), authority.certificate_pem()


def _kubeconfig(url: str, authority: bytes, token: str) -> str:
    """Return a kubeconfig in JSON, which is YAML too."""
    cluster = {"server": url, "certificate-authority-data": base64.b64encode(authority).decode()}
    return json.dumps(
        {
            "apiVersion": "v1",
            "kind": "Config",
            "current-context": "test",
            "clusters": [{"name": "test", "cluster": cluster}],
            "users": [{"name": "test", "user": {"token": token}}],
            "contexts": [{"name": "test", "context": {"cluster": "test", "user": "test"}}],
        }
    )
