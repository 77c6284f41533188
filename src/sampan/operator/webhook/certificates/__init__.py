"""Certificates of a webhook server: issued and rotated by the server, or read from files."""

from sampan.operator.webhook.certificates.directory_store import DirectoryStore
from sampan.operator.webhook.certificates.files import CertificateFiles
from sampan.operator.webhook.certificates.issued import IssuedCertificates
from sampan.operator.webhook.certificates.rotation import CertificateTerms
from sampan.operator.webhook.certificates.secret_store import SecretStore
from sampan.operator.webhook.certificates.source import CertificateSource, Material
from sampan.operator.webhook.certificates.store import CertificateStore, Stored

__all__ = [
    "CertificateFiles",
    "CertificateSource",
    "CertificateStore",
    "CertificateTerms",
    "DirectoryStore",
    "IssuedCertificates",
    "Material",
    "SecretStore",
    "Stored",
]
