"""Strategies of certificates.k8s.io."""

from sampan.registry.strategies.certificates.csr import CertificateSigningRequestStrategy
from sampan.registry.strategy import Strategy

STRATEGIES: dict[tuple[str, str], Strategy] = {
    ("certificates.k8s.io", "certificatesigningrequests"): CertificateSigningRequestStrategy(),
}
