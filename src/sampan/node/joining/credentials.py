"""`NodeCredentials`: kubeconfig, CA and certificates of a node, in its directory.

<directory>/kubeconfig
<directory>/pki/ca.crt
<directory>/pki/node-client.pem       certificate and key in one file, so that it is replaced in one step
<directory>/pki/node-serving.pem      the same of the node's server
"""

import os
from pathlib import Path

import yaml

from sampan.core.tls.certificates import KeyPair, read_key_pair


class NodeCredentials:
    """Files of a node's identity. Only their owner can read them."""

    def __init__(self, directory: Path) -> None:
        self._pki = directory / "pki"
        self._certificate = self._pki / "node-client.pem"
        self._serving = self._pki / "node-serving.pem"
        self.kubeconfig = directory / "kubeconfig"

    def read(self) -> KeyPair | None:
        """Return certificate and key, or None if the node has not joined.

        Raises `OSError`, and `ValueError` for malformed files.
        """
        if not (self.kubeconfig.exists() and self._certificate.exists()):
            return None
        content = self._certificate.read_bytes()
        return read_key_pair(content, content)

    def read_serving(self) -> KeyPair | None:
        """Return certificate and key of the node's server, or None if it has no certificate.

        Raises the same errors as `read`.
        """
        if not self._serving.exists():
            return None
        content = self._serving.read_bytes()
        return read_key_pair(content, content)

    def write_serving(self, certificate: KeyPair) -> None:
        """Replace certificate and key of the node's server. Raises `OSError`."""
        _replace(self._serving, certificate.certificate_pem() + certificate.key_pem())

    def server(self) -> str:
        """Return the URL of the server in the kubeconfig. Raises `OSError`, `ValueError`."""
        try:
            return str(yaml.safe_load(self.kubeconfig.read_text())["clusters"][0]["cluster"]["server"])
        except (yaml.YAMLError, TypeError, KeyError, IndexError) as error:
            raise ValueError(f"{self.kubeconfig} is no kubeconfig of a node: {error}") from error

    def write(self, server: str, ca_pem: bytes, node: str, certificate: KeyPair) -> None:
        """Write all files, the kubeconfig last. Raises `OSError`."""
        self._pki.mkdir(mode=0o700, parents=True, exist_ok=True)
        ca = self._pki / "ca.crt"
        _replace(ca, ca_pem)
        self.write_certificate(certificate)
        named = {"name": "cluster", "cluster": {"server": server, "certificate-authority": str(ca.absolute())}}
        # The node reads these files again when they change (`client/transports/credentials.py`).
        files = dict.fromkeys(("client-certificate", "client-key"), str(self._certificate.absolute()))
        content = {
            "apiVersion": "v1",
            "kind": "Config",
            "clusters": [named],
            "users": [{"name": node, "user": files}],
            "contexts": [{"name": "node", "context": {"cluster": "cluster", "user": node}}],
            "current-context": "node",
        }
        _replace(self.kubeconfig, yaml.safe_dump(content, sort_keys=False).encode())

    def write_certificate(self, certificate: KeyPair) -> None:
        """Replace certificate and key. Raises `OSError`."""
        _replace(self._certificate, certificate.certificate_pem() + certificate.key_pem())


def _replace(path: Path, content: bytes) -> None:
    """Replace a file in one step, with mode 0600."""
    draft = path.with_name(f".{path.name}.{os.getpid()}")
    try:
        with os.fdopen(os.open(draft, os.O_WRONLY | os.O_CREAT | os.O_TRUNC, 0o600), "wb") as file:
            file.write(content)
            file.flush()
            os.fsync(file.fileno())
        draft.replace(path)
    except OSError:
        draft.unlink(missing_ok=True)
        raise
