"""Kubeconfig for one cluster and one user."""

import base64

from sampan.server.pki.certificates import KeyPair


def kubeconfig(
    server: str, ca_pem: bytes, client: KeyPair, *, tls_server_name: str = "", name: str = "sampan", user: str = "admin"
) -> bytes:
    """Return the content of a kubeconfig. `name` (of cluster and context) and `user` must be plain YAML scalars.

    `tls_server_name` is the name in the server's certificate, if it differs from the host in `server`.
    """
    named = f'\n    tls-server-name: "{tls_server_name}"' if tls_server_name else ""
    return f"""\
apiVersion: v1
kind: Config
current-context: {name}
clusters:
- name: {name}
  cluster:
    server: {server}
    certificate-authority-data: {_encoded(ca_pem)}{named}
contexts:
- name: {name}
  context:
    cluster: {name}
    user: {user}
users:
- name: {user}
  user:
    client-certificate-data: {_encoded(client.certificate_pem())}
    client-key-data: {_encoded(client.key_pem())}
""".encode()


def _encoded(pem: bytes) -> str:
    return base64.b64encode(pem).decode()
