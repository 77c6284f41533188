"""`ExecPlugin`: credentials that a program prints (client.authentication.k8s.io).

Concurrency: one run at a time; other requests for credentials wait for it. Cancellation ends the program.

Source: client-go plugin/pkg/client/auth/exec/exec.go, pkg/apis/clientauthentication/v1/types.go (1.36).
"""

import asyncio
import subprocess
import sys
from collections.abc import Mapping
from pathlib import Path
from typing import Any

import msgspec

from sampan.client.config.config import Config, ExecConfig
from sampan.client.errors import CredentialError
from sampan.client.transports.credentials import Credentials
from sampan.core.operating_system.child_process import capture_output
from sampan.core.time import Clock, SystemClock, parse_time
from sampan.http.client.tls import ClientCertificate
from sampan.wire.http1 import fits
from sampan.wire.json import UNREADABLE

RUN_TIMEOUT_S = 300.0
"""Maximum run time of a program. It may have to prompt a user."""
_OUTPUT_BYTES_MAX = 1 << 20
_INFO_VARIABLE = "KUBERNETES_EXEC_INFO"


class ExecPlugin:
    """`CredentialSource` that runs a program. It runs the program again when the credentials expire or are refused.

    `cluster` is the cluster information for programs that request it. The program inherits stderr.
    """

    def __init__(
        self,
        plugin: ExecConfig,
        *,
        cluster: Mapping[str, Any] | None = None,
        environ: Mapping[str, str],
        clock: Clock | None = None,
    ) -> None:
        self._plugin = plugin
        self._cluster = cluster
        self._environ = environ
        self._clock = clock or SystemClock()
        self._lock = asyncio.Lock()
        self._credentials: Credentials | None = None
        self._expires: Any = None

    async def current(self) -> Credentials:
        """Return the credentials of the last run, or run the program again if they have expired. Raises
        `CredentialError`.
        """
        async with self._lock:
            if self._credentials is None or self._expired:
                self._credentials = await self._run()
            return self._credentials

    async def renewed(self, refused: Credentials) -> Credentials:
        """Run the program again, unless another request has already done so. Raises `CredentialError`."""
        async with self._lock:
            if self._credentials is None or self._credentials is refused:
                self._credentials = await self._run()
            return self._credentials

    @property
    def _expired(self) -> bool:
        return self._expires is not None and self._clock.now() >= self._expires

    async def _run(self) -> Credentials:
        interactive = self._interactive()
        spec: dict[str, Any] = {"interactive": interactive}
        if self._plugin.provide_cluster_info and self._cluster is not None:
            spec["cluster"] = self._cluster
        info = {"apiVersion": self._plugin.api_version, "kind": "ExecCredential", "spec": spec}
        output = await self._output(msgspec.json.encode(info).decode(), interactive=interactive)
        return self._read(output)

    def _interactive(self) -> bool:
        mode = self._plugin.interactive_mode
        terminal = sys.stdin is not None and sys.stdin.isatty()
        if mode == "Always" and not terminal:
            raise self._fault("interactiveMode is Always, but standard input is not a terminal")
        return terminal and mode != "Never"

    async def _output(self, info: str, *, interactive: bool) -> bytes:
        plugin = self._plugin
        try:
            async with asyncio.timeout(RUN_TIMEOUT_S):
                code, output = await capture_output(
                    (plugin.command, *plugin.args),
                    env={**self._environ, **plugin.env, _INFO_VARIABLE: info},
                    stdin=None if interactive else subprocess.DEVNULL,
                    bytes_max=_OUTPUT_BYTES_MAX,
                )
        except TimeoutError as error:
            raise self._fault(f"timed out after {RUN_TIMEOUT_S:g} s") from error
        except FileNotFoundError as error:
            hint = f"\n{plugin.install_hint}" if plugin.install_hint else ""
            raise self._fault(f"program not found{hint}") from error
        except OSError as error:
            raise self._fault(str(error)) from error
        if len(output) == _OUTPUT_BYTES_MAX:
            raise self._fault(f"output exceeds {_OUTPUT_BYTES_MAX:,} bytes")
        if code:
            raise self._fault(f"exited with code {code}")
        return output

    def _read(self, output: bytes) -> Credentials:
        try:
            credential = msgspec.json.decode(output)
        except UNREADABLE as error:
            raise self._fault(f"output is not JSON: {error}") from error
        if not isinstance(credential, dict) or credential.get("kind") != "ExecCredential":
            raise self._fault("output is not an ExecCredential")
        if credential.get("apiVersion") != self._plugin.api_version:
            raise self._fault(
                f"output has apiVersion {credential.get('apiVersion')}, expected {self._plugin.api_version}"
            )
        status = credential.get("status")
        if not isinstance(status, dict):
            raise self._fault("output has no status")
        token, certificate, key = (
            self._text(status, name) for name in ("token", "clientCertificateData", "clientKeyData")
        )
        if not fits("authorization", token):
            raise self._fault("status.token cannot be sent in a header")
        if not (token or certificate or key):
            raise self._fault("output has neither a token nor a certificate with a key")
        if bool(certificate) != bool(key):
            raise self._fault("output has a certificate without a key, or a key without a certificate")
        self._expires = self._expiry(status)
        pair = ClientCertificate(certificate.encode(), key.encode()) if certificate else None
        return Credentials.bearer(token, pair)

    def _text(self, status: Mapping[str, Any], name: str) -> str:
        value = status.get(name) or ""
        if not isinstance(value, str):
            raise self._fault(f"status.{name} is not a string")
        return value

    def _expiry(self, status: Mapping[str, Any]) -> Any:
        text = status.get("expirationTimestamp")
        if not text:
            return None
        try:
            return parse_time(str(text))
        except ValueError as error:
            raise self._fault(f"expirationTimestamp: {error}") from error

    def _fault(self, why: str) -> CredentialError:
        return CredentialError(f"exec plugin {self._plugin.command}: {why}")


def cluster_info(config: Config) -> dict[str, Any]:
    """Return the cluster information for programs (the type `Cluster` of client.authentication.k8s.io).

    Raises `CredentialError` if the certificate authority's file cannot be read.
    """
    tls = config.tls
    try:
        authority = tls.ca_data or (Path(tls.ca_file).read_bytes() if tls.ca_file else b"")
    except OSError as error:
        raise CredentialError(f"cannot read certificate authority for exec plugin: {error}") from error
    values: dict[str, Any] = {
        "tls-server-name": tls.server_name,
        "insecure-skip-tls-verify": tls.insecure,
        "certificate-authority-data": authority,
        "proxy-url": config.proxy_url,
        "disable-compression": not config.compression,
    }
    cluster = {"server": config.server, **{name: value for name, value in values.items() if value}}
    return {**cluster, "config": config.exec_cluster_config}
