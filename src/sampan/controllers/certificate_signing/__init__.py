"""CertificateSigningRequests: approved for kubelets, signed for the cluster's own signers, removed in time."""

from sampan.controllers.certificate_signing.approving import set_up as set_up_approving
from sampan.controllers.certificate_signing.cleaner import set_up as set_up_cleaner
from sampan.controllers.certificate_signing.signing import set_up as set_up_signing

__all__ = ["set_up_approving", "set_up_cleaner", "set_up_signing"]
