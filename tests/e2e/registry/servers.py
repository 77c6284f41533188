"""A real registry on loopback, and the server that gives tokens for it."""

import asyncio
import base64
import datetime as dt
import json
import subprocess
import threading
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path
from typing import Any, Final
from urllib.parse import parse_qs, urlsplit

from cryptography import x509
from cryptography.hazmat.primitives import hashes, serialization
from cryptography.hazmat.primitives.asymmetric import padding, rsa
from cryptography.x509.oid import NameOID

from sampan.core.clock import unix_time, utc_now
from tests.ports import free_ports

USER, PASSWORD = "captain", "secret"
_PASSWORD_HASH: Final = "$2b$05$abcdefghijklmnopqrstuuOQiyCxlgf/oeuTqixKmWdcYUh4Hjl0a"
PROGRAM: Final = "docker-registry"
_START_S: Final = 30.0


@dataclass(slots=True)
class RealRegistry:
    """A running registry."""

    host: str
    folder: Path
    process: subprocess.Popen[bytes]

    @property
    def _root(self) -> Path:
        return self.folder / "storage/docker/registry/v2"

    @property
    def blobs(self) -> list[str]:
        """Digests of all blobs."""
        return [f"sha256:{path.parent.name}" for path in self._root.glob("blobs/sha256/*/*/data")]

    def tag(self, repository: str, tag: str) -> str:
        """Return the digest of a tag."""
        return (self._root / "repositories" / repository / "_manifests/tags" / tag / "current/link").read_text()

    def layers(self, repository: str, tag: str) -> list[str]:
        """Return the digests of the layers of a tag's only image."""
        content = self._read(self.tag(repository, tag))
        if "manifests" in content:
            (only,) = content["manifests"]
            content = self._read(only["digest"])
        return [layer["digest"] for layer in content["layers"]]

    def _read(self, digest: str) -> Any:
        name = digest.removeprefix("sha256:")
        return json.loads((self._root / "blobs/sha256" / name[:2] / name / "data").read_bytes())

    def log_in(self, config: Path, user: str = USER, password: str = PASSWORD) -> None:
        """Write credentials as `docker login` does."""
        config.mkdir(exist_ok=True)
        auth = base64.b64encode(f"{user}:{password}".encode()).decode()
        (config / "config.json").write_text(json.dumps({"auths": {self.host: {"auth": auth}}}))


@contextmanager
def running_registry(folder: Path, auth: str = "none") -> Iterator[RealRegistry]:
    """Run a registry with the authentication `none`, `htpasswd` or `token`."""
    (port,) = free_ports(1)
    config: dict[str, Any] = {
        "version": "0.1",
        "log": {"level": "warn"},
        "storage": {"filesystem": {"rootdirectory": str(folder / "storage")}},
        "http": {"addr": f"127.0.0.1:{port}", "secret": "of the test"},
    }
    if auth == "htpasswd":
        (folder / "htpasswd").write_text(f"{USER}:{_PASSWORD_HASH}\n")
        config["auth"] = {"htpasswd": {"realm": "harbour", "path": str(folder / "htpasswd")}}
    with TokenServer(folder) as tokens:
        if auth == "token":
            config["auth"] = {"token": tokens.settings()}
        (folder / "config.yml").write_text(json.dumps(config))
        with (folder / "registry.log").open("wb") as log:
            process = subprocess.Popen([PROGRAM, "serve", str(folder / "config.yml")], stdout=log, stderr=log)
        try:
            asyncio.run(_reachable(port, process))
            yield RealRegistry(f"127.0.0.1:{port}", folder, process)
        finally:
            process.kill()
            process.wait()


async def _reachable(port: int, process: "subprocess.Popen[bytes]") -> None:
    async with asyncio.timeout(_START_S):
        while True:
            assert process.poll() is None, "the registry has ended: see registry.log"
            try:
                _, writer = await asyncio.open_connection("127.0.0.1", port)
            except OSError:
                await asyncio.sleep(0.05)
                continue
            writer.close()
            return


class TokenServer(ThreadingHTTPServer):
    """Gives tokens to the user with the password. Source: distribution docs/spec/auth/token.md, auth/jwt.md."""

    def __init__(self, folder: Path) -> None:
        super().__init__(("127.0.0.1", 0), _TokenHandler)
        self._key = rsa.generate_private_key(65537, 2048)
        name = x509.Name([x509.NameAttribute(NameOID.COMMON_NAME, "tokens")])
        now = utc_now()
        self._certificate = (
            x509.CertificateBuilder(name, name, self._key.public_key(), 1, now, now + dt.timedelta(days=1))
            .add_extension(x509.BasicConstraints(True, None), critical=True)
            .sign(self._key, hashes.SHA256())
        )
        self._bundle = folder / "tokens.pem"
        self._bundle.write_bytes(self._certificate.public_bytes(serialization.Encoding.PEM))
        self._thread = threading.Thread(target=self.serve_forever, kwargs={"poll_interval": 0.05})

    def __enter__(self) -> "TokenServer":
        self._thread.start()
        return self

    def __exit__(self, *_: object) -> None:
        self.shutdown()
        self._thread.join()
        self.server_close()

    def settings(self) -> dict[str, str]:
        """Return the settings of a registry that accepts these tokens."""
        realm = f"http://127.0.0.1:{self.server_address[1]}/token"
        return {"realm": realm, "service": "registry", "issuer": "tokens", "rootcertbundle": str(self._bundle)}

    def token(self, scopes: list[str]) -> str:
        """Return a token for scopes such as `repository:team/boats:pull,push`."""
        access = []
        for scope in scopes:
            kind, name, actions = scope.split(":", 2)
            access.append({"type": kind, "name": name, "actions": actions.split(",")})
        now = int(unix_time())
        claims = {
            "iss": "tokens", "sub": USER, "aud": "registry", "jti": "1", "access": access,
            "iat": now, "nbf": now - 10, "exp": now + 300,
        }  # fmt: skip
        der = self._certificate.public_bytes(serialization.Encoding.DER)
        header = {"typ": "JWT", "alg": "RS256", "x5c": [base64.b64encode(der).decode()]}
        text = ".".join(_part(json.dumps(each).encode()) for each in (header, claims))
        return f"{text}.{_part(self._key.sign(text.encode(), padding.PKCS1v15(), hashes.SHA256()))}"


class _TokenHandler(BaseHTTPRequestHandler):
    server: TokenServer

    def do_GET(self) -> None:
        login = "Basic " + base64.b64encode(f"{USER}:{PASSWORD}".encode()).decode()
        accepted = self.headers.get("Authorization") == login
        scopes = [scope for value in parse_qs(urlsplit(self.path).query).get("scope", []) for scope in value.split()]
        body = json.dumps({"token": self.server.token(scopes)} if accepted else {"details": "wrong password"}).encode()
        self.send_response(200 if accepted else 401)
        self.send_header("Content-Length", str(len(body)))
        self.end_headers()
        self.wfile.write(body)

    def log_message(self, format: str, *args: object) -> None:
        """Print nothing."""


def _part(content: bytes) -> str:
    return base64.urlsafe_b64encode(content).rstrip(b"=").decode()
