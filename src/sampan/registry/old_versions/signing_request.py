"""CertificateSigningRequests of certificates.k8s.io/v1beta1, which had defaults.

Source: pkg/apis/certificates/v1beta1/defaults.go (1.36). Kubernetes also reads the certificate request, to derive the
signer of a kubelet's request. Sampan does not: only requests stored before 1.18 have no signer, and none of them is
still pending.
"""

from sampan.core.object import Object
from sampan.registry.old_versions.parts import default, items, member


def signing_request(obj: Object) -> None:
    """Set the signer, the usages and the status of conditions, which were optional."""
    default(
        obj.setdefault("spec", {}),
        signerName="kubernetes.io/legacy-unknown",
        usages=["digital signature", "key encipherment"],
    )
    for condition in items(member(obj, "status"), "conditions"):
        default(condition, status="True")
