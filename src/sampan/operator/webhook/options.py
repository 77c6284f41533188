"""`WebhookOptions`: settings of a webhook server, and its address for API servers."""

from dataclasses import dataclass, field
from pathlib import Path
from typing import Final

from sampan.operator.service_reference import ServiceReference
from sampan.operator.webhook.certificates import CertificateTerms
from sampan.operator.webhook.targets import InjectionTarget
from sampan.resource import Object

DISABLED: Final = -1


@dataclass(frozen=True, slots=True)
class WebhookOptions:
    """Settings of a webhook server.

    Source: controller-runtime pkg/webhook/server.go `Options` (0.24).
    """

    host: str = ""
    """Listening address; "" for all."""
    port: int = 9443
    """Port; 0 for any free port, -1 to serve nothing (for a replica that only runs controllers)."""
    service: ServiceReference | None = None
    """Service through which API servers in a cluster reach the webhooks. None: that of the manager's options, which the
    flag `--webhook-service` sets; without it, API servers use the URL.
    """
    url_host: str = "127.0.0.1"
    """Host of the URL, as API servers see it, if there is no Service.

    Use it for an operator that runs outside the cluster during development.
    """
    extra_hosts: tuple[str, ...] = ()
    """More names and addresses for the certificate."""
    terms: CertificateTerms = field(default_factory=CertificateTerms)
    """Lifetimes of issued certificates."""
    inject_into: tuple[InjectionTarget, ...] = ()
    """More objects whose caBundle is kept up to date."""
    ensure_configurations: str = ""
    """Name of the configurations that the server creates from the registered webhooks and keeps up to date; "": none.
    Conversions are then written into their CRDs too.
    """
    ensure_conversions: bool | None = None
    """Write conversions into their CRDs. None: if configurations are created."""
    client_ca_file: Path | None = None
    """File of authorities (PEM). Only clients with a certificate of one of them are served.

    None: all clients are served.
    """
    request_timeout_s: float = 30.0
    """Limit of a response time, unless the API server requests a shorter one. Kubernetes allows at most 30 s."""
    connections_max: int = 1000

    @property
    def hosts(self) -> tuple[str, ...]:
        """Names and addresses in the certificate."""
        own = (self.url_host,) if self.service is None else self.service.hosts
        return tuple(dict.fromkeys((*own, *self.extra_hosts)))

    def client_config(self, path: str, port: int) -> Object:
        """Return the client configuration for a path, without caBundle. `port` is the listening port."""
        if self.service is None:
            host = f"[{self.url_host}]" if ":" in self.url_host else self.url_host
            return {"url": f"https://{host}:{port}{path}"}
        service = self.service
        return {"service": {"namespace": service.namespace, "name": service.name, "port": service.port, "path": path}}
