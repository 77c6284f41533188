"""CertificateSigningRequests of certificates.k8s.io/v1beta1, which had defaults.

Source: pkg/apis/certificates/v1beta1/defaults.go (1.36). There the request itself is read too, for whether it is a
kubelet's; before 1.18 nobody named a signer, and no request of that time is waiting any more.
"""

from sampan.core.object import Object
from sampan.registry.old_versions.parts import default, items, member


def signing_request(obj: Object) -> None:
    """A signer, usages and the status of a condition were not needed."""
    default(
        obj.setdefault("spec", {}),
        signerName="kubernetes.io/legacy-unknown",
        usages=["digital signature", "key encipherment"],
    )
    for condition in items(member(obj, "status"), "conditions"):
        default(condition, status="True")
