"""`WebhookOptions`: how a webhook server works, and where API servers find it."""

from dataclasses import dataclass, field
from pathlib import Path
from typing import Final

from sampan.operator.webhook.certificates import CertificateTerms
from sampan.operator.webhook.targets import InjectionTarget
from sampan.resource import Object

DISABLED: Final = -1


@dataclass(frozen=True, slots=True)
class ServiceReference:
    """The Service in front of the operator's pods."""

    namespace: str
    name: str
    port: int = 443

    @property
    def hosts(self) -> tuple[str, ...]:
        """The names that it is called by; API servers use the first."""
        short = f"{self.name}.{self.namespace}"
        return f"{short}.svc", short, f"{short}.svc.cluster.local"


@dataclass(frozen=True, slots=True)
class WebhookOptions:
    """How a webhook server works.

    Source: controller-runtime pkg/webhook/server.go `Options` (0.24).
    """

    host: str = ""
    """The address to listen at; "" is all of them."""
    port: int = 9443
    """0 takes any; -1 serves nothing (for a replica that only has controllers)."""
    service: ServiceReference | None = None
    """How API servers reach it in a cluster. None: by URL."""
    url_host: str = "127.0.0.1"
    """Without a service: the host of the URL, as API servers see it. For an operator that runs outside of the
    cluster, while it is developed."""
    extra_hosts: tuple[str, ...] = ()
    """Further names and addresses for the certificate."""
    terms: CertificateTerms = field(default_factory=CertificateTerms)
    """How long certificates last that are issued."""
    inject_into: tuple[InjectionTarget, ...] = ()
    """Objects of others that the caBundle is kept in."""
    ensure_configurations: str = ""
    """The name of the configurations that the server makes of what is registered, and keeps so; "": it makes none.
    Conversions are then written into their CRDs too."""
    client_ca_file: Path | None = None
    """Serve only clients whose certificate one of these authorities has signed."""
    request_timeout_s: float = 30.0
    """For an answer, where the API server does not say less; Kubernetes allows no more."""
    connections_max: int = 1000

    @property
    def hosts(self) -> tuple[str, ...]:
        """What the certificate is for."""
        own = (self.url_host,) if self.service is None else self.service.hosts
        return tuple(dict.fromkeys((*own, *self.extra_hosts)))

    def client_config(self, path: str, port: int) -> Object:
        """How API servers are told to ask at a path, without caBundle; `port` is where the server listens."""
        if self.service is None:
            host = f"[{self.url_host}]" if ":" in self.url_host else self.url_host
            return {"url": f"https://{host}:{port}{path}"}
        service = self.service
        return {"service": {"namespace": service.namespace, "name": service.name, "port": service.port, "path": path}}
