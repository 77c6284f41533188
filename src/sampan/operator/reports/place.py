"""`Place`: where the reports of an operator are read. A Lease of the operator has it as an annotation: the Lease of its
leader election, or one that it holds for this alone (`ReportLease`).

The API server's proxy drops the credentials of its user, so the operator cannot review them. It accepts a key instead,
which is in the annotation. So a reader needs two rights in the operator's namespace: to read the Lease, and to use the
proxy of the Pod. A new key is drawn at each start.
"""

import secrets
from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Final

from sampan.operator.leader_election.config import unique_identity
from sampan.wire import json

ANNOTATION: Final = "operator.sampan.dev/controllers"
"""Annotation of the Lease. A label of this name marks the Lease, so that clients need not read all Leases. Its value is
`true` for a Lease of a leader election, and `process` for one that a process holds for its reports alone.
"""
KEY_HEADER: Final = "x-sampan-controllers-key"
"""Header of a request, with the key. Names of headers are in lower case."""


@dataclass(frozen=True, slots=True)
class Place:
    """Address of a process for the API server's proxy. An empty Pod: no proxy reaches the process."""

    host: str
    """Host of the process, for messages."""
    namespace: str = ""
    pod: str = ""
    scheme: str = "https"
    key: str = field(default_factory=lambda: secrets.token_urlsafe(24))
    holder: str = field(default_factory=unique_identity)
    """Holder of a Lease that the process holds for its reports alone."""

    def accepts(self, headers: Mapping[str, str]) -> bool:
        """Return True if a request has the key."""
        return secrets.compare_digest(headers.get(KEY_HEADER, "").encode(), self.key.encode())

    def labels(self) -> dict[str, str]:
        """Return the labels of the Lease of a leader election."""
        return {ANNOTATION: "true"}

    def annotations(self, port: int) -> dict[str, str]:
        """Return the annotations of the Lease. `port` is that of the process."""
        where: dict[str, object] = {"host": self.host, "port": port, "scheme": self.scheme}
        if self.pod:
            where |= {"namespace": self.namespace, "pod": self.pod, "key": self.key}
        return {ANNOTATION: json.encode(where).decode()}


def place_of(environment: Mapping[str, str], host: str, namespace: str, *, secure: bool) -> Place:
    """Return the place of this process. `namespace` is that of its Lease.

    POD_NAME and POD_NAMESPACE name the Pod. Without them, a process in a Pod has the name of its host.
    """
    in_pod = "KUBERNETES_SERVICE_HOST" in environment and "KUBECONFIG" not in environment
    pod = environment.get("POD_NAME", "") or (environment.get("HOSTNAME", host) if in_pod else "")
    scheme = "https" if secure else "http"
    return Place(host, environment.get("POD_NAMESPACE", "") or namespace, pod, scheme)
